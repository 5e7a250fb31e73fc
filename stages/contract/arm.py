"""The two arms: named, version-pinned runners, and how their trials are ordered."""

from __future__ import annotations

import difflib
import re
from fractions import Fraction
from typing import Annotated, Literal

from pydantic import Field, field_validator, model_validator

from stages.contract.types import Id, Rational, RelPath, Strict, Whole

Word = Annotated[str, Field(min_length=1, max_length=500)]


class Session(Strict):
    """How an arm's provider is reached and recorded. None means a local program without a provider."""

    provider: Word
    upstream: Word | None = None
    key_env: Word | None = None


# `${name}` is a shell's.
_PLACEHOLDER = re.compile(r"(?<!\$)\{([a-z_]+)\}")


class Arm(Strict):
    """A named, version-pinned runner."""

    name: Id
    version: Word
    kind: Literal["command"] = "command"
    command: Annotated[list[Word], Field(min_length=1)]
    version_command: list[Word] | None = None
    install_paths: list[RelPath] = []
    env: list[Annotated[str, Field(pattern=r"^[A-Za-z_][A-Za-z0-9_]*$", max_length=200)]] = []
    model: Word | None = None
    temperature: Rational | Literal["hidden"] | None = None
    seed: Annotated[Whole, Field(ge=0, lt=2**53)] | None = None
    session: Session | None = None
    paid: bool = False

    @field_validator("install_paths")
    @classmethod
    def _names_apart(cls, value: list[str]) -> list[str]:
        # The agent sees each below one folder, by its last part.
        if len({path.rsplit("/", 1)[-1] for path in value}) != len(value):
            raise ValueError("paths that end in different names")
        return value

    @model_validator(mode="after")
    def _placeholders(self) -> Arm:
        filled = {
            "statement": True,
            "statement_file": True,
            "interface_file": True,
            "workspace": True,
            "seed": self.seed is not None,
            "temperature": isinstance(self.temperature, Fraction),
            "model": self.model is not None,
            "install": bool(self.install_paths),
        }
        for key, words, known in (
            ("command", self.command[1:], list(filled)),
            ("version_command", self.version_command or [], ["install"]),
            ("command's program", self.command[:1], ["install"]),
        ):
            for name in (name for word in words for name in _PLACEHOLDER.findall(word)):
                if name not in known:
                    near = difflib.get_close_matches(name, known, n=1)
                    hint = f"; did you mean {{{near[0]}}}?" if near else ""
                    raise ValueError(f"{key}: {', '.join(known)} as placeholders, not {{{name}}}{hint}")
                if not filled[name]:
                    source = "install_paths" if name == "install" else name
                    raise ValueError(f"{key}: no {{{name}}}, since the arm declares no {source}")
        return self

    @field_validator("session")
    @classmethod
    def _not_yet(cls, value: Session | None) -> Session | None:
        if value is not None:
            raise ValueError("null: the session recorder is not built yet, so only local programs can be stamped")
        return value


class Arms(Strict):
    """The two arms, and how their trials are ordered."""

    order: Literal["interleaved", "sequential"] = "interleaved"
    candidate: Arm
    control: Arm
