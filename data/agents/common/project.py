"""The workspace in memory: its Python files, which of them are tests, and the test functions in them."""

from __future__ import annotations

import ast
import os
from dataclasses import dataclass
from pathlib import Path

from common.source import Source

MAX_FILES = 300
MAX_BYTES = 200_000
_SKIPPED = {"node_modules", "build", "dist", "venv", "site-packages"}


@dataclass(frozen=True)
class Test:
    """One visible test: a plain function, or a method of a class without fixtures (`Class.method`)."""

    path: str
    name: str
    line: int
    end_line: int


class Project:
    """Files by POSIX path below the workspace. Files that can't be parsed are left alone."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.files: dict[str, bytes] = {}
        self.names = frozenset(_walk(root))
        for path in sorted(name for name in self.names if name.endswith(".py"))[:MAX_FILES]:
            data = _read(root / path)
            if data is not None:
                self.files[path] = data
        self.sources: dict[str, Source] = {}
        self.refresh(self.files)

    def refresh(self, changed: dict[str, bytes]) -> None:
        """Take over new bytes of files and parse them again."""
        self.files = {**self.files, **changed}
        for path, data in changed.items():
            self.sources.pop(path, None)
            try:
                self.sources[path] = Source(path, data)
            except (SyntaxError, ValueError, RecursionError, MemoryError):
                continue
        self.sources = dict(sorted(self.sources.items()))

    def code(self) -> list[Source]:
        """Return the parsed files that aren't tests."""
        return [source for path, source in self.sources.items() if not is_test_path(path)]

    def tests(self) -> list[Test]:
        """Return the visible tests that need no fixtures, in order."""
        found: list[Test] = []
        for path, source in self.sources.items():
            name = path.rsplit("/", 1)[-1]
            if not (name.startswith("test_") or name.endswith("_test.py")):
                continue
            for node in source.tree.body:
                if isinstance(node, ast.ClassDef) and node.name.startswith("Test") and not node.bases:
                    found += [
                        _test(path, item, f"{node.name}.") for item in node.body if _is_test(item, ["self"])
                    ]
                elif _is_test(node, []):
                    found.append(_test(path, node, ""))
        return found


def is_test_path(path: str) -> bool:
    """Return whether a path lies in a folder of tests or is named like a test."""
    *folders, name = path.split("/")
    return bool({"tests", "test"} & set(folders)) or name.startswith("test_") or name == "conftest.py"


def _is_test(node: ast.stmt, receivers: list[str]) -> bool:
    if not isinstance(node, ast.FunctionDef) or not node.name.startswith("test"):
        return False
    return [arg.arg for arg in node.args.args] == receivers and not node.args.kwonlyargs


def _test(path: str, node: ast.stmt, prefix: str) -> Test:
    return Test(path, prefix + node.name, node.lineno, node.end_lineno)


def _walk(root: Path) -> list[str]:
    found: list[str] = []
    for folder, folders, names in os.walk(root):
        folders[:] = sorted(name for name in folders if not name.startswith(".") and name not in _SKIPPED)
        found += [Path(folder, name).relative_to(root).as_posix() for name in names]
        if len(found) > 20_000:
            break
    return found


def _read(path: Path) -> bytes | None:
    try:
        if path.is_symlink() or not path.is_file() or path.stat().st_size > MAX_BYTES:
            return None
        return path.read_bytes()
    except OSError:
        return None
