"""Rust crates: those of the tree, by its Cargo.toml files, and what these depend on."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from functools import lru_cache
from typing import Any

from stages.assumptions.bound import Act
from stages.assumptions.model import Allow
from stages.assumptions.permission import Verdict
from stages.assumptions.places import joined
from stages.assumptions.platforms import RUST
from stages.assumptions.workspace import Workspace
from stages.contract.trees import Entry

_MODULE = re.compile(rb"(?m)^[ \t]*(?:pub(?:\([^)\n]*\))?[ \t]+)?mod[ \t]+(?:r#)?(\w+)")
_DEPENDENCIES = ("dependencies", "dev-dependencies", "build-dependencies", "dev_dependencies", "build_dependencies")


class Crates:
    def __init__(self, frozen: tuple[Entry, ...], workspace: Workspace) -> None:
        self._own: set[str] = set()
        self._old_paths = False  # an edition whose paths start at the crate's root
        self._declared: dict[str, str] = {}
        before = Workspace(frozen)
        for path, data in _manifests(before):
            self._old_paths |= _edition(data) == "2015" and isinstance(data.get("package"), dict)
            for name, spec in _dependencies(data):
                local = isinstance(spec, dict) and isinstance(spec.get("path"), str)
                if not local:
                    self._declared.setdefault(_crate(name), path)
            self._own |= _names(data)
        after = dict(_manifests(workspace))
        for path, data in after.items():
            folder = path.rpartition("/")[0]
            for name, spec in _dependencies(data):  # a new crate counts once one of the tree depends on its folder
                target = spec.get("path") if isinstance(spec, dict) else None
                place = joined(folder, target) if isinstance(target, str) else None
                if place is not None and f"{place}/Cargo.toml".lstrip("/") in after:
                    self._own.add(_crate(name))
        sources = [path for path in workspace.files if path.endswith(".rs")]
        self._modules = {name.decode() for path in sources for name in _mods(workspace.content(path) or b"")}

    def judge(self, act: Act, path: str, allow: Allow) -> Verdict:  # noqa: ARG002
        crate = self.package(act.symbol)
        said = act.symbol.replace("-", "_")
        below = False
        for entry in allow.imports:
            wanted = re.sub(r"::|[./]", "::", entry.strip("/.:")).replace("-", "_")
            if said == wanted or said.startswith(wanted + "::"):
                return Verdict("fine", said)
            below |= wanted.startswith(crate + "::")
        symbol = act.symbol if below else act.symbol.partition("::")[0]
        if (allow.stdlib and crate in RUST) or crate in self._own:
            return Verdict("fine", symbol)
        if (act.member or self._old_paths) and crate in self._modules and crate not in self._declared:
            return Verdict("fine", symbol)
        return Verdict("invented", symbol)

    def package(self, symbol: str) -> str:
        return _crate(symbol.partition("::")[0])

    def declares(self, symbol: str) -> str:
        return self._declared.get(self.package(symbol), "")


@lru_cache(maxsize=100_000)
def _mods(content: bytes) -> tuple[bytes, ...]:
    return tuple(_MODULE.findall(content[: 2**20]))


def _manifests(workspace: Workspace) -> Iterator[tuple[str, dict[str, Any]]]:
    for path in sorted(workspace.files):
        if path.rpartition("/")[2] == "Cargo.toml":
            content = (workspace.content(path) or b"")[: 2**18]
            try:
                yield path, tomllib.loads(content.decode("utf-8", "replace"))
            except (ValueError, RecursionError):
                continue


def _names(data: dict[str, Any]) -> set[str]:
    """The names that a manifest's own crates are used by."""
    tables = [data.get("package"), data.get("lib")]
    return {_crate(t["name"]) for t in tables if isinstance(t, dict) and isinstance(t.get("name"), str)}


def _edition(data: dict[str, Any]) -> str:
    package = data.get("package")
    edition = package.get("edition", "2015") if isinstance(package, dict) else ""
    return edition if isinstance(edition, str) else ""


def _dependencies(data: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    targets = data.get("target")
    workspace = data.get("workspace")
    tables = [data, workspace, *(targets.values() if isinstance(targets, dict) else ())]
    for table in tables:
        for kind in _DEPENDENCIES if isinstance(table, dict) else ():
            listed = table.get(kind)
            yield from listed.items() if isinstance(listed, dict) else ()


def _crate(name: str) -> str:
    return name.replace("-", "_")
