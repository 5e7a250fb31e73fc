"""What a unified diff is made of: files, hunks, lines. Lines are bytes without their LF; a CR stays."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Literal

Op = Literal["add", "delete", "modify", "rename", "copy", "mode"]


@dataclass
class Hunk:
    """A run of lines: (sign, line) with signs ` `, `+`, `-`. `ends_bare`: the signs of lines that end without LF.

    `short`: its header promises more lines than there are.
    """

    old_start: int
    new_start: int
    lines: list[tuple[str, bytes]] = field(default_factory=list)
    ends_bare: str = ""
    short: bool = False

    @property
    def added(self) -> list[tuple[int, bytes]]:
        """(line number in the file after, line) of what was added."""
        return [(number, line) for sign, number, line in self.numbered("+") if sign == "+"]

    @property
    def removed(self) -> list[tuple[int, bytes]]:
        """(line number in the file before, line) of what was removed."""
        return [(number, line) for sign, number, line in self.numbered("-") if sign == "-"]

    def numbered(self, side: str) -> Iterator[tuple[str, int, bytes]]:
        """(sign, number, line) of one side: `+` is the file after, `-` the one before."""
        number = self.new_start if side == "+" else self.old_start
        for sign, line in self.lines:
            if sign in (" ", side):
                yield sign, number, line
                number += 1


@dataclass
class FileDiff:
    """What a diff does to one file. Paths are of the tree; None before a new file, None after a deleted one."""

    before: str | None
    after: str | None
    op: Op = "modify"
    mode_before: str | None = None
    mode_after: str | None = None
    binary: bool = False
    hunks: list[Hunk] = field(default_factory=list)

    @property
    def path(self) -> str:
        return self.after or self.before or ""

    @property
    def added(self) -> list[tuple[int, bytes]]:
        """(line number after, line) of all that was added."""
        return [row for hunk in self.hunks for row in hunk.added]

    @property
    def removed(self) -> list[tuple[int, bytes]]:
        return [row for hunk in self.hunks for row in hunk.removed]
