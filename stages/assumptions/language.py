"""What a language family has to offer the ledger: which files are its own, and what they are seen to do."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple, Protocol

from stages.assumptions.model import Allow, Finding
from stages.contract.lines import Touched
from stages.contract.trees import Change, Entry


class Changed(NamedTuple):
    """A file that the patch added or modified, its produced bytes, and the lines that are new in it."""

    path: str
    content: bytes
    touched: Touched


class Language(Protocol):
    """One family, one file. `findings` returns those of the changed files that are its own, in any order."""

    name: str

    def owns(self, path: str, content: bytes) -> bool: ...

    def findings(
        self, frozen: tuple[Entry, ...], changes: tuple[Change, ...], changed: Iterable[Changed], allow: Allow
    ) -> list[Finding]: ...


class Unexamined:
    """A family whose sources are named in the ledger and not read, and why."""

    def __init__(self, name: str, suffixes: tuple[str, ...], why: str = "a language that isn't read") -> None:
        self.name, self._suffixes, self._why = name, suffixes, why

    def owns(self, path: str, content: bytes) -> bool:  # noqa: ARG002
        return path.endswith(self._suffixes)

    def findings(
        self,
        frozen: tuple[Entry, ...],  # noqa: ARG002
        changes: tuple[Change, ...],  # noqa: ARG002
        changed: Iterable[Changed],
        allow: Allow,  # noqa: ARG002
    ) -> list[Finding]:
        return [Finding("unexamined", file.path, 0, self.name, self._why, "note") for file in changed]
