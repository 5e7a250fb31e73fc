"""Imports of workspace modules from memory, so that a candidate is tried without writing it to disk."""

from __future__ import annotations

import importlib.abc
import importlib.machinery
import re
import sys
import types
import warnings
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path

_WORD = re.compile(r"[A-Za-z_]\w*")
_NEVER = {"antigravity", "this", "tkinter", "turtle", "turtledemo", "idlelib", "test", "lib2to3"}


def compile_source(root: Path, path: str, data: bytes) -> types.CodeType | None:
    """Return the code of a file; None where it doesn't compile."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return compile(data, str(root / path), "exec", dont_inherit=True)
        except (SyntaxError, ValueError, RecursionError, MemoryError, OverflowError):
            return None


def module_names(paths: Iterable[str]) -> dict[str, str]:
    """Return path by dotted module name, for imports from the workspace, from its `src` and from its `tests`.

    A folder without `__init__.py` is a namespace package; its path ends with "/".
    """
    found: dict[str, str] = {}
    for path in paths:
        for root in ("", "src/", "tests/"):
            parts = path[len(root) : -len(".py")].split("/")
            if not path.startswith(root) or not all(_WORD.fullmatch(part) for part in parts):
                continue
            name = parts[:-1] if parts[-1] == "__init__" else parts
            if name:
                found[".".join(name)] = path
            for depth in range(1, len(parts)):
                found.setdefault(".".join(parts[:depth]), root + "/".join(parts[:depth]) + "/")
    return found


class MemoryFinder(importlib.abc.MetaPathFinder, importlib.abc.InspectLoader):
    """Finds and loads modules of the workspace by the map of `module_names`."""

    def __init__(
        self, root: Path, names: Mapping[str, str], codes: Mapping[str, types.CodeType | None]
    ) -> None:
        self.root, self.names, self.codes = root, names, codes

    def find_spec(
        self, fullname: str, path: Sequence[str] | None = None, target: types.ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        """Return the spec of a workspace module; None for all others."""
        del path, target
        place = self.names.get(fullname)
        if place is None:
            return None
        if place.endswith("/"):
            spec = importlib.machinery.ModuleSpec(fullname, None, is_package=True)
            spec.submodule_search_locations = [str(self.root / place)]
            return spec
        spec = importlib.machinery.ModuleSpec(fullname, self, origin=str(self.root / place))
        spec.has_location = True
        if self.is_package(fullname):
            spec.submodule_search_locations = [str((self.root / place).parent)]
        return spec

    def is_package(self, fullname: str) -> bool:
        """Return whether a module is a package."""
        return self.names[fullname].endswith("__init__.py")

    def get_code(self, fullname: str) -> types.CodeType:
        """Return the code of a module; raises ImportError where its file doesn't compile."""
        code = self.codes.get(self.names[fullname])
        if code is None:
            raise ImportError(f"{fullname} doesn't compile")
        return code

    def get_source(self, fullname: str) -> str:
        """Return the text on disk, for tracebacks."""
        return (self.root / self.names[fullname]).read_text(encoding="utf-8", errors="replace")


def preload(imported: Iterable[str], own: Iterable[str]) -> None:
    """Import the standard modules that the workspace uses, once, before any child is forked."""
    taken = {name.split(".")[0] for name in own}
    for name in sorted(set(imported)):
        top = name.split(".")[0]
        if top in sys.stdlib_module_names and top not in taken | _NEVER:
            with suppress(Exception):
                importlib.import_module(name)
