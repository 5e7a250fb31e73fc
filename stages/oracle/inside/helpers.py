"""Whether an oracle's own modules are what its tests import, and not others that the tree put under their names."""

from __future__ import annotations

import ast
import os
import sys
from collections.abc import Callable
from importlib.util import resolve_name
from pathlib import Path
from types import ModuleType


def _imported(source: bytes, package: str) -> tuple[set[str], set[str]]:
    """Full names of the modules that a file imports while it is loaded, and those that its functions import."""
    at_once: set[str] = set()
    later: set[str] = set()

    def visit(node: ast.AST, names: set[str]) -> None:
        if isinstance(node, ast.Import):
            names.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            asked = "." * node.level + (node.module or "")
            base = resolve_name(asked, package) if node.level else asked
            names.update({base, *(f"{base}.{alias.name}" for alias in node.names)} - {""})
        inner = later if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda) else names
        for child in ast.iter_child_nodes(node):
            visit(child, inner)

    visit(ast.parse(source), at_once)
    return at_once, later


def _names(path: Path) -> set[str]:
    """What a file of the oracle can be imported as: its path, from any of the folders above it."""
    parts = path.parts[:-1] if path.name == "__init__.py" else (*path.parts[:-1], path.stem)
    return {".".join(parts[start:]) for start in range(len(parts))}


# What pytest looks for in `sys.modules` by itself, and then believes on what is an array (`pytest.approx`).
ASKED_FOR = frozenset({"numpy"})


def own(oracle: str) -> set[str]:
    """What the oracle's files can be imported as, without a dot in it."""
    files = [path.relative_to(oracle) for path in Path(oracle).rglob("*.py")]
    return {name for path in files for name in _names(path) if "." not in name}


def watch(
    oracle: str, loaded: dict[str, tuple[ModuleType, str]], libraries: dict[str, ModuleType]
) -> Callable[[bool], list[str]]:
    """A function that names modules of the oracle's that its files import and in whose place others are.

    `loaded` holds what was loaded from the oracle's files: name, the object that belongs into `sys.modules`, the
    file; `libraries` what of ASKED_FOR was loaded from where libraries lie. With True (everything is collected)
    whatever those files import at once must have been loaded by then.
    """
    files = [path.relative_to(oracle) for path in Path(oracle).rglob("*.py")]
    texts = {os.path.join(oracle, path): Path(oracle, path).read_bytes() for path in files}
    own = set().union(*map(_names, files)) - sys.stdlib_module_names
    expected: set[str] = set()

    def check(collected: bool) -> list[str]:
        needed: set[str] = set()
        for module, path in list(loaded.values()) if collected else ():
            try:
                at_once, later = _imported(texts[path], str(module.__package__))
            except (KeyError, SyntaxError, ValueError, ImportError, RecursionError):
                continue
            needed |= at_once & own
            expected.update((at_once | later) & own)
        there = sys.modules
        wrong = {name for name in expected if name in there and there[name] is not loaded.get(name, (None,))[0]}
        wrong |= {name for name in ASKED_FOR if name in there and there[name] is not libraries.get(name)}
        return sorted(wrong | needed - loaded.keys())

    return check
