"""What an author writes: a pack and its tasks."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import AfterValidator, Field, field_validator, model_validator

from stages.contract import limits
from stages.contract.types import Id, RelPath, Strict, Whole


def _hex(length: int, name: str) -> AfterValidator:
    def check(value: str) -> str:
        if len(value) != length or any(c not in "0123456789abcdef" for c in value):
            raise ValueError(f"{name} of {length} lowercase hex digits")
        return value

    return AfterValidator(check)


Sha256 = Annotated[str, _hex(64, "a sha256")]
GitId = Annotated[str, _hex(40, "a git object id")]
Line = Annotated[str, Field(min_length=1, max_length=1000)]


class Interface(Strict):
    """The one callable that callers of the task rely on; told to the agent, compared after the run."""

    module: Line
    function: Line
    signature: Annotated[str, Field(pattern=r"^\(.*\)( -> .+)?$", max_length=2000)]


class Allow(Strict):
    """What a solution may import, read from the environment, and write."""

    imports: list[Line] = []
    env: list[Line] = []
    files_write: Annotated[list[RelPath], Field(min_length=1)]
    stdlib: bool = False


class Oracle(Strict):
    """The hidden judge. `pytest`: files below `path`. `command`: exit 0 pass, 1 fail, anything else broken."""

    kind: Literal["pytest", "command"] = "pytest"
    path: RelPath = "oracle"
    command: list[Line] | None = None
    boundary: Literal["auto", "inprocess", "process"] | None = None
    timeout_s: Annotated[Whole, Field(ge=1, le=limits.MAX_ORACLE_TIMEOUT_S)] = 60
    hidden: bool = True
    disputed: Annotated[str, Field(max_length=2000)] | None = None

    @model_validator(mode="after")
    def _command_fits_kind(self) -> Oracle:
        if (self.kind == "command") != (self.command is not None):
            raise ValueError("kind 'command' has a command, kind 'pytest' has none")
        return self


class MutationBudget(Strict):
    """What may be rewritten in a task so that a published prompt can't be memorised."""

    rename_identifiers: bool = False
    reword_prompt: bool = False

    @field_validator("reword_prompt")
    @classmethod
    def _not_yet(cls, value: bool) -> bool:
        if value:
            raise ValueError("false: rewording of prompts is not built")
        return value


class Source(Strict):
    """Where the workspace comes from: a folder of the task, or a git tag pinned to a commit and a tree."""

    path: RelPath | None = None
    git: Line | None = None
    tag: Line | None = None
    commit: GitId | None = None
    tree: GitId | None = None

    @model_validator(mode="after")
    def _one_of_both(self) -> Source:
        if self.git is None:
            if self.tag or self.commit or self.tree:
                raise ValueError("tag, commit and tree belong to a git source")
        elif self.path is not None:
            raise ValueError("a path or a git source, not both")
        elif not (self.tag and self.commit and self.tree):
            raise ValueError("a git source pins tag, commit and tree (a branch or HEAD is a floating source)")
        return self


class Environment(Strict):
    """Interpreter and frozen wheels that agent and oracle get."""

    python: Line
    wheels: list[RelPath] = []


class Task(Strict):
    """`task.yaml`: one unit of the pack."""

    id: Id
    rev: Annotated[Id, Field(max_length=40)]
    stratum: Id
    cluster: Id | None = None
    statement: RelPath = "statement.md"
    prompt_sha256: Sha256 | None = None
    interface: Interface | None = None
    allow: Allow
    oracle: Oracle = Oracle()
    mutation_budget: MutationBudget = MutationBudget()
    placebo: bool = False
    time_budget_s: Annotated[Whole, Field(ge=1, le=limits.MAX_TIME_BUDGET_S)] | None = None
    canaries: list[Annotated[str, Field(min_length=8, max_length=200)]] = []
    environment: Environment | None = None
    source: Source = Source(path="workspace")


class Pack(Strict):
    """`pack.yaml`: the name and revision under which the tasks are frozen."""

    id: Id
    revision: Annotated[Id, Field(max_length=40)]
    title: Annotated[str, Field(max_length=200)] | None = None
    license: Annotated[str, Field(max_length=100)] | None = None
