"""The produced tree seen as Python modules: where they lie, what they are called, what is in them.

Names come in two forms. `billing.retry` is what an import statement says and is looked up under the roots;
`.src.billing.retry`, with a dot before it, is a place in the tree, as relative imports and definitions have.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from stages.assumptions.scopes import Scope
from stages.assumptions.source import Unreadable, parse
from stages.assumptions.survey import Survey, survey
from stages.contract.trees import LINK, Entry

SUFFIXES = (".py", ".pyi", ".pyw")
_COMPILED = (".so", ".pyd")
_PROJECT_FILES = frozenset(("pyproject.toml", "setup.py", "setup.cfg"))


class Source(NamedTuple):
    path: str
    survey: Survey


class Workspace:
    """Modules of one tree. Entries of links whose target is a file of the tree stand for that file."""

    def __init__(self, entries: Iterable[Entry]) -> None:
        self.files = {entry.path: entry for entry in entries}
        self._sources: dict[str, Source | Unreadable] = {}
        self._folders: set[str] = set()
        self._compiled: set[str] = set()
        projects = {""}
        for path in self.files:
            folder, _, name = path.rpartition("/")
            if name in _PROJECT_FILES:
                projects.add(folder)
            if path.endswith(_COMPILED):
                self._compiled.add(f"{folder}/{name.partition('.')[0]}".lstrip("/"))
            if path.endswith((*SUFFIXES, *_COMPILED)):
                while folder:
                    self._folders.add(folder)
                    folder = folder.rpartition("/")[0]
        self._roots = tuple(sorted({root for p in projects for root in (p, f"{p}/src".lstrip("/"))}))

    def content(self, path: str) -> bytes | None:
        """The bytes behind a path; links inside the tree are followed."""
        entry = self.files.get(path)
        for _ in range(8):
            if entry is None or entry.mode != LINK:
                break
            entry = self.files.get(_joined(entry.path, entry.content.decode("utf-8", "replace")))
        return entry.content if entry is not None and entry.mode != LINK else None

    def source(self, path: str) -> Source:
        """The surveyed file. Raises Unreadable."""
        if path not in self._sources:
            content = self.content(path)
            try:
                if content is None:
                    raise Unreadable("a link that leads to no file of the tree")
                self._sources[path] = Source(path, survey(parse(content), path))
            except Unreadable as error:
                self._sources[path] = error
        found = self._sources[path]
        if isinstance(found, Unreadable):
            raise found
        return found

    def roots(self, path: str | None = None) -> tuple[str, ...]:
        """Folders that imports start from. A script's or test's own folder is one, unless it is a package."""
        if path is None:
            return self._roots
        folder = path.rpartition("/")[0]
        package = any(f"{folder}/__init__{suffix}" in self.files for suffix in SUFFIXES)
        return self._roots if package else (folder, *self._roots)

    def locate(self, name: str, path: str | None = None) -> str | None:
        """The file of a module, `folder/` for a namespace package, None if the tree has no such module."""
        if name.startswith("."):
            return self._under("", name[1:])
        namespace = None
        for root in self.roots(path):
            found = self._under(root, name)
            if found is not None and not found.endswith("/"):
                return found
            namespace = namespace or found
        return namespace

    def _under(self, root: str, name: str) -> str | None:
        parts = name.split(".") if name else []
        if not all(part.isidentifier() for part in parts):
            return None
        place = "/".join(([root] if root else []) + parts)
        init = f"{place}/__init__" if place else "__init__"
        for candidate in (init, place):
            for suffix in SUFFIXES:
                if candidate + suffix in self.files:
                    return candidate + suffix
        if place in self._compiled:
            return place + _COMPILED[0]
        return place + "/" if place in self._folders or not place else None

    def scope(self, file: str) -> Scope | None:
        """The module scope of a file, None where it can't be read."""
        if file.endswith("/") or file.endswith(_COMPILED):
            return None
        try:
            return self.source(file).survey.top
        except Unreadable:
            return None

    def display(self, name: str) -> str:
        """A placed name as an import would say it: the longest root taken off."""
        if not name.startswith(".") or name.startswith(".."):
            return name
        bare = name[1:]
        for root in sorted(self._roots, key=len, reverse=True):
            dotted = root.replace("/", ".")
            if dotted and bare.startswith(dotted + "."):
                return bare[len(dotted) + 1 :]
        return bare


def placed(path: str) -> str:
    """The placed name of a file: `.src.billing` for src/billing.py and for src/billing/__init__.py."""
    stem = path.rpartition(".")[0]
    stem = stem.removesuffix("/__init__") if stem != "__init__" else ""
    return "." + stem.replace("/", ".")


def is_python(path: str, content: bytes) -> bool:
    """By suffix, or by a first line that calls Python."""
    if path.endswith(SUFFIXES):
        return True
    first = content[:200].split(b"\n", 1)[0]
    return "." not in path.rpartition("/")[2] and first.startswith(b"#!") and b"python" in first


def _joined(path: str, target: str) -> str:
    parts = path.split("/")[:-1]
    if target.startswith("/"):
        return ""
    for part in target.split("/"):
        if part == "..":
            if not parts:
                return ""
            parts.pop()
        elif part not in ("", "."):
            parts.append(part)
    return "/".join(parts)
