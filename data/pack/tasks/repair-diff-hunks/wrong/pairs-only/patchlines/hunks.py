"""Hunks: the changed parts of a script with some lines of context."""

from dataclasses import dataclass

from patchlines.script import DROP, KEEP, PUT, Script


@dataclass(frozen=True)
class Hunk:
    """A stretch of a script. Starts count lines from 0."""

    old_start: int
    new_start: int
    lines: tuple[tuple[str, str], ...]

    @property
    def old_lines(self) -> list[str]:
        return [text for mark, text in self.lines if mark != PUT]

    @property
    def new_lines(self) -> list[str]:
        return [text for mark, text in self.lines if mark != DROP]

    @property
    def header(self) -> str:
        """Such as ``@@ -1,3 +1,4 @@``; an empty side names the line before it."""
        sides = []
        for start, lines in ((self.old_start, self.old_lines), (self.new_start, self.new_lines)):
            sides.append(f"{start + 1 if lines else start},{len(lines)}")
        return f"@@ -{sides[0]} +{sides[1]} @@"


def _cut(script: Script, first: int, last: int) -> Hunk:
    """The hunk that is made of ``script[first:last]``."""
    before = script[:first]
    old_start = sum(mark != PUT for mark, _ in before)
    new_start = sum(mark != DROP for mark, _ in before)
    return Hunk(old_start, new_start, tuple(script[first:last]))


def group_hunks(script: Script, context: int = 3) -> list[Hunk]:
    """The hunks of a script, in order."""
    if context < 0:
        raise ValueError("context is negative")
    hunks: list[Hunk] = []
    index = 0
    while index < len(script):
        if script[index][0] == KEEP:
            index += 1
            continue
        stop = index
        while stop < len(script) and script[stop][0] != KEEP:
            stop += 1
        first = max(0, index - context)
        ahead = stop
        while ahead < len(script) and script[ahead][0] == KEEP:
            ahead += 1
        if ahead < len(script) and ahead - stop <= 2 * context:
            stop = ahead
            while stop < len(script) and script[stop][0] != KEEP:
                stop += 1
        last = min(len(script), stop + context)
        hunks.append(_cut(script, first, last))
        index = stop
    return hunks
