"""What a task allows and what the untouched tree already did."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from stages.assumptions.distributions import NAMESPACES, import_prefixes, normal
from stages.assumptions.model import Allow
from stages.assumptions.seen import Seen
from stages.assumptions.stdlib import STDLIB
from stages.assumptions.workspace import Workspace

_ALWAYS = frozenset(("__future__", "builtins"))


class Verdict(NamedTuple):
    """`fine` needs no finding, `already` a note, `invented` counts; `symbol` names what it is about."""

    standing: str
    symbol: str
    why: str = ""


class Habits(NamedTuple):
    """What a tree does before any patch: dotted imports, environment keys, (kind, symbol) of the rest,
    and the same per file."""

    imports: frozenset[str]
    acts: frozenset[tuple[str, str]]
    in_file: frozenset[tuple[str, str, str]]


def habits(seen: Iterable[tuple[str, Seen]], workspace: Workspace) -> Habits:
    """The habits of a tree from what each of its files was seen to do."""
    rows = list(seen)
    return Habits(
        frozenset(module_of(s, workspace) for _, s in rows if s.kind == "import"),
        frozenset((s.kind, s.symbol) for _, s in rows if s.kind != "import" and s.known),
        frozenset((path, s.kind, s.symbol) for path, s in rows),
    )


def module_of(seen: Seen, workspace: Workspace) -> str:
    """The module that an import is about: with the name it takes where the module is a shared namespace."""
    name = workspace.display(seen.symbol)
    return f"{name}.{seen.member}" if seen.member not in ("", "*") and name in NAMESPACES else name


def judge_import(seen: Seen, path: str, workspace: Workspace, allow: Allow, before: Habits) -> Verdict:
    """Whether an import is of the list, the standard library, the tree itself, or its habits."""
    module = module_of(seen, workspace)
    full = f"{module}.{seen.member}" if seen.member not in ("", "*") and module not in NAMESPACES else module
    prefixes = [prefix for entry in allow.imports for prefix in import_prefixes(entry)]
    if any(_below(module, p) or _below(full, p) for p in prefixes):
        return Verdict("fine", module)
    # where an entry lies below the module, what is taken from the module is what counts
    symbol = full if any(_below(p, module) for p in prefixes) else module
    top = module.partition(".")[0]
    why = ""
    if not seen.symbol.startswith("."):
        if top in _ALWAYS or (allow.stdlib and top in STDLIB):
            return Verdict("fine", symbol)
        if normal(top) in {normal(entry) for entry in allow.imports if "." not in entry}:
            return Verdict("fine", symbol)
    if seen.symbol.startswith(".."):
        return Verdict("invented", "." + seen.symbol.strip("."), ", out of the tree")
    if _own(seen, path, workspace):
        return Verdict("fine", symbol)
    if seen.symbol.startswith(".") or _regular(workspace, top, path):
        why = ", no such module in the tree"
    elif any(_below(module, known) or _below(known, module) for known in before.imports):
        return Verdict("already", symbol)
    return Verdict("invented", symbol, why)


def judge_act(seen: Seen, path: str, touched: bool, allow: Allow, before: Habits) -> Verdict:
    """Whether an environment key is of the list, and whether the tree already did the same."""
    if seen.kind == "environment" and seen.symbol in allow.env:
        return Verdict("fine", seen.symbol)
    if seen.known and (seen.kind, seen.symbol) in before.acts:
        return Verdict("already", seen.symbol)
    if not touched and (path, seen.kind, seen.symbol) in before.in_file:
        return Verdict("fine", seen.symbol)  # only a name's binding moved
    return Verdict("invented", seen.symbol)


def _own(seen: Seen, path: str, workspace: Workspace) -> bool:
    """Whether an import is of a module of the tree, or takes a module from one of its folders."""
    file = workspace.locate(seen.symbol, path)
    if file is None:
        return False
    if not file.endswith("/"):
        return True
    lead = seen.symbol if seen.symbol.endswith(".") else seen.symbol + "."
    return seen.member == "*" or (bool(seen.member) and workspace.locate(lead + seen.member, path) is not None)


def _regular(workspace: Workspace, top: str, path: str) -> bool:
    file = workspace.locate(top, path)
    return file is not None and not file.endswith("/")


def _below(name: str, prefix: str) -> bool:
    return name == prefix or name.startswith(prefix + ".")
