"""Python files of a task as the compiler and a tree that keeps every byte both read them; whatever else is text."""

from __future__ import annotations

import ast
import io
import re
import tokenize
import warnings
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from stages.contract.trees import LINK, Entry

_DEPTH = 80
_MOST_BYTES = 1_000_000


@dataclass(frozen=True, eq=False)
class Source:
    """A Python file: its text and its syntax tree."""

    path: str
    text: str
    tree: ast.Module


def is_python(entry: Entry) -> bool:
    """Whether a file is Python by its name; a link is none."""
    return entry.mode != LINK and entry.path.endswith((".py", ".pyi"))


def parse(entry: Entry) -> Source | None:
    """A file as Python, or None where it isn't, or is nested so deep that it can't be followed."""
    import libcst  # slow to import

    if not is_python(entry) or len(entry.content) > _MOST_BYTES:
        return None
    try:
        if tokenize.detect_encoding(io.BytesIO(entry.content).readline)[0] != "utf-8":
            return None
        text = entry.content.decode("utf-8")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # an invalid escape is the author's business
            tree = ast.parse(text)
            if _deep(tree):
                return None
            compile(tree, "<pack>", "exec", dont_inherit=True)  # refuses what only looks like Python
        if libcst.parse_module(text).code != text:
            return None
    except (SyntaxError, ValueError, RecursionError, MemoryError, OverflowError, libcst.ParserSyntaxError):
        return None
    return Source(entry.path, text, tree)


def _deep(tree: ast.AST) -> bool:
    level = [tree]
    for _ in range(_DEPTH):
        level = [below for node in level for below in ast.iter_child_nodes(node)]
    return bool(level)


def own_tops(entries: Iterable[Entry]) -> frozenset[str]:
    """First parts of the module names under which a task's own files are imported: from its root, or from a folder
    at its root that is no package (`src`, `tests`)."""
    paths = [re.sub(r"\.pyi?$", "", e.path).split("/") for e in entries if e.path.endswith((".py", ".pyi"))]
    packages = {parts[0] for parts in paths if len(parts) == 2 and parts[1] == "__init__"}
    return frozenset(
        {parts[0] for parts in paths} | {parts[1] for parts in paths if len(parts) > 1 and parts[0] not in packages}
    )


def path_words(entries: Iterable[Entry]) -> set[str]:
    """Names of files and folders, with and without what follows a dot."""
    return {word for e in entries for part in e.path.split("/") for word in (part, part.partition(".")[0])}


def remarks(tree: ast.Module) -> set[int]:
    """Ids of the string nodes that are statements of their own, docstrings first of all."""
    return {
        id(node.value)
        for node in ast.walk(tree)
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)
    }


def exported(tree: ast.Module) -> list[ast.Constant]:
    """The strings of `__all__` where it is written out at the top of a module."""
    found: list[ast.Constant] = []
    for node in tree.body:
        match node:
            case (
                ast.Assign(targets=[ast.Name(id="__all__")], value=ast.List(elts=parts) | ast.Tuple(elts=parts))
                | ast.AugAssign(target=ast.Name(id="__all__"), value=ast.List(elts=parts) | ast.Tuple(elts=parts))
                | ast.AnnAssign(target=ast.Name(id="__all__"), value=ast.List(elts=parts) | ast.Tuple(elts=parts))
            ):
                found += [part for part in parts if isinstance(part, ast.Constant) and isinstance(part.value, str)]
    return found


def identifiers(tree: ast.Module) -> Iterator[str]:
    """Every identifier that stands in a file, module names by their parts."""
    for node in ast.walk(tree):
        for name, value in ast.iter_fields(node):
            if isinstance(node, ast.Constant) or name == "type_comment":
                continue
            for each in value if isinstance(value, list) else [value]:
                if isinstance(each, str):
                    yield from each.split(".")


def bound_at_top(tree: ast.Module) -> set[str]:
    """Names that a file binds at its top, from within functions too. By the tree, since the compiler's own table
    counts the variables of comprehensions among them in some versions of Python."""
    found = {name for node in ast.walk(tree) if isinstance(node, ast.Global) for name in node.names}
    left: list[ast.AST] = [*tree.body]
    while left:
        node = left.pop()
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            found.add(node.name)
        elif isinstance(node, ast.Import | ast.ImportFrom):
            found |= {alias.asname or alias.name.partition(".")[0] for alias in node.names}
        elif not isinstance(node, ast.Lambda | ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp):
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
                found.add(node.id)
            left += ast.iter_child_nodes(node)
    return found
