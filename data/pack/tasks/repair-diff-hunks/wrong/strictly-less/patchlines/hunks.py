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
    changes = [index for index, (mark, _) in enumerate(script) if mark != KEEP]
    runs: list[list[int]] = []
    for index in changes:
        if runs and index - runs[-1][1] <= 2 * context:
            runs[-1][1] = index
        else:
            runs.append([index, index])
    return [
        _cut(script, max(0, first - context), min(len(script), last + 1 + context))
        for first, last in runs
    ]
