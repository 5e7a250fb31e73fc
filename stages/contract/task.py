"""What an author writes: a pack and its tasks."""

from __future__ import annotations

import ast
import re
import warnings
from typing import Annotated, Any, Literal

from pydantic import (
    AfterValidator,
    Field,
    SerializerFunctionWrapHandler,
    WithJsonSchema,
    field_validator,
    model_serializer,
    model_validator,
)

from stages.contract import limits
from stages.contract.types import Glob, Id, Name, RelPath, Strict, Whole, without_none


def _hex(length: int, name: str) -> AfterValidator:
    def check(value: str) -> str:
        if len(value) != length or any(c not in "0123456789abcdef" for c in value):
            raise ValueError(f"{name} of {length} lowercase hex digits")
        return value

    return AfterValidator(check)


def _form(pattern: str, words: str, longest: int = limits.MAX_PATH_CHARS) -> tuple[AfterValidator, WithJsonSchema]:
    """A text of a form: refused in words, and its pattern in the JSON Schema."""

    def check(value: str) -> str:
        if len(value) > longest or not re.fullmatch(pattern, value):
            raise ValueError(words)
        return value

    return AfterValidator(check), WithJsonSchema({"type": "string", "pattern": f"^{pattern}$", "maxLength": longest})


Sha256 = Annotated[str, _hex(64, "a sha256")]
GitId = Annotated[str, _hex(40, "a git object id")]
Word = Annotated[str, Field(min_length=1, max_length=4000)]
Seed = Annotated[Whole, Field(ge=0, lt=2**53)]
_SIGNATURE_DEPTH = 50
_SIGNATURE = "a signature such as (a: int, b: str = '') -> bool, perhaps after `async `"


def check_signature(value: str) -> str:
    """A Python signature as it stands between a function's name and its colon, perhaps after `async `."""
    words = value.removeprefix("async ")
    head = "def f" if words == value else "async def f"
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # an invalid escape in a default is the author's business
            tree = ast.parse(f"{head}{words}: ...\n")
    except (SyntaxError, ValueError, RecursionError, MemoryError, OverflowError):
        raise ValueError(_SIGNATURE) from None
    level: list[ast.AST] = [tree]
    for _ in range(_SIGNATURE_DEPTH):
        level = [below for node in level for below in ast.iter_child_nodes(node)]
    match tree.body:
        case [
            ast.FunctionDef(args=args, body=[ast.Expr(value=ast.Constant(value=body))])
            | ast.AsyncFunctionDef(args=args, body=[ast.Expr(value=ast.Constant(value=body))])
        ] if body is ... and words.startswith("(") and not level:
            every = [*args.posonlyargs, *args.args, args.vararg, *args.kwonlyargs, args.kwarg]
            names = [arg.arg for arg in every if arg is not None]
            if len(set(names)) == len(names):
                return value
    raise ValueError(_SIGNATURE)


class Interface(Strict):
    """The one callable that callers of the task rely on; told to the agent, compared after the run."""

    module: Name
    function: Name
    signature: Annotated[str, *_form(r"(async )?\(.*\)( -> .+)?", _SIGNATURE, 2000), AfterValidator(check_signature)]


class Allow(Strict):
    """What a solution may import, read from the environment, and write."""

    imports: list[Name] = []
    env: list[Name] = []
    files_write: Annotated[list[Glob], Field(min_length=1)]
    stdlib: bool = False


class Oracle(Strict):
    """The hidden judge. `pytest`: files below `path`. `command`: exit 0 pass, 1 fail, anything else broken."""

    kind: Literal["pytest", "command"] = "pytest"
    path: RelPath = "oracle"
    command: Annotated[list[Word], Field(min_length=1)] | None = None
    boundary: Literal["auto", "inprocess", "process"] | None = None
    timeout_s: Annotated[Whole, Field(ge=1, le=limits.MAX_ORACLE_TIMEOUT_S)] = 60
    hidden: bool = True
    disputed: Annotated[str, Field(max_length=2000)] | None = None

    @model_validator(mode="after")
    def _command_fits_kind(self) -> Oracle:
        if (self.kind == "command") != (self.command is not None):
            raise ValueError("kind 'command' has a command, kind 'pytest' has none")
        if self.kind == "command" and self.boundary == "process":
            raise ValueError("no boundary 'process' for kind 'command', whose program decides itself where code runs")
        return self


class MutationBudget(Strict):
    """What may be rewritten in a task so that a published prompt can't be memorised.

    `rename_identifiers`: at most so many identifiers; true is every one that can be followed, false is none.
    """

    rename_identifiers: bool | Annotated[Whole, Field(ge=0, le=limits.MAX_RENAMED)] = False
    reword_prompt: bool = False

    @field_validator("reword_prompt")
    @classmethod
    def _not_yet(cls, value: bool) -> bool:
        if value:
            raise ValueError("false: rewording of prompts is not built")
        return value


class Mutated(Strict):
    """What a task or pack was made from by `weighbridge mutate`: the seed, and the ancestor's own revision."""

    seed: Seed
    rev: Annotated[Id, Field(max_length=40)]


class Source(Strict):
    """Where the workspace comes from: a folder of the task, or a git tag pinned to a commit and a tree."""

    path: RelPath | None = None
    git: Name | None = None
    tag: Name | None = None
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
            raise ValueError("a git source with tag, commit and tree (a branch or HEAD is a floating source)")
        return self


class Environment(Strict):
    """Interpreter and frozen wheels that agent and oracle get. Wheels are files of the pack, as `wheels/NAME.whl`."""

    python: Annotated[str, *_form(r"3\.[0-9]{1,2}", "a version such as '3.11'", 4)]
    wheels: Annotated[
        list[Annotated[RelPath, *_form(r"wheels/[^/]+\.whl", "a wheel of the pack, as 'wheels/NAME.whl'")]],
        Field(max_length=500),
    ] = []

    @field_validator("wheels")
    @classmethod
    def _once(cls, value: list[str]) -> list[str]:
        if len(set(value)) != len(value):
            raise ValueError("each wheel once")
        return value


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
    mutated: Mutated | None = None

    @model_serializer(mode="wrap")
    def _as_ever(self, handler: SerializerFunctionWrapHandler) -> dict[str, Any]:
        return without_none(handler(self), "mutated")

    @model_validator(mode="after")
    def _hidden_stays_hidden(self) -> Task:
        hidden = {"oracle.path": self.oracle.path, "the solution": "solution", "the wrong solutions": "wrong"}
        shown = {"statement": self.statement, "this file": "task.yaml"}
        if self.source.git is None:
            shown["source.path"] = self.source.path or "workspace"
        for name, path in hidden.items():
            for beside, other in {**shown, **{n: p for n, p in hidden.items() if n != name}}.items():
                if f"{other}/".startswith(f"{path}/") or f"{path}/".startswith(f"{other}/"):
                    raise ValueError(f"{name} ({path}) and {beside} ({other}) in places of their own")
        return self


class Pack(Strict):
    """`pack.yaml`: the name and revision under which the tasks are frozen."""

    id: Id
    revision: Annotated[Id, Field(max_length=40)]
    title: Annotated[str, Field(max_length=200)] | None = None
    license: Annotated[str, Field(max_length=100)] | None = None
    mutated: Mutated | None = None

    @model_serializer(mode="wrap")
    def _as_ever(self, handler: SerializerFunctionWrapHandler) -> dict[str, Any]:
        return without_none(handler(self), "mutated")
