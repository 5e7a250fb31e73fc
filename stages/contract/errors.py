"""The error family. Every message is one line: where, what was found, what was expected, what to do."""

from __future__ import annotations


def one_line(text: object, limit: int = 300) -> str:
    """Make hostile or long text safe to print on one line: controls escaped, length bounded."""
    raw = str(text)
    safe = "".join(c if c.isprintable() else c.encode("unicode_escape").decode("ascii") for c in raw)
    return safe if len(safe) <= limit else f"{safe[: limit - 1]}…"


class WeighbridgeError(Exception):
    """Base of all errors that a user can cause. `exit_code` is what the command ends with."""

    exit_code = 2

    def __init__(self, where: object, found: object, expected: object = "", todo: object = "") -> None:
        self.where, self.found = one_line(where), one_line(found, 600)
        self.expected, self.todo = one_line(expected, 400), one_line(todo, 400)
        text = f"{self.where}: {self.found}"
        if self.expected:
            text += f"; expected {self.expected}"
        if self.todo:
            text += f"; {self.todo}"
        super().__init__(text)


class InputError(WeighbridgeError):
    """A file, row or key that people wrote isn't what the contract says."""


class UsageError(WeighbridgeError):
    """A command was called in a way that can't be carried out."""


class MissingInput(WeighbridgeError):
    """A stage's input isn't there: not yet made, or not pulled."""


class SpendRefused(WeighbridgeError):
    """A paid arm would have run without being allowed to."""


class CheckFailed(WeighbridgeError):
    """A check was carried out and said no."""

    exit_code = 1
