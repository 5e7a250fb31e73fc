"""Go packages: those of the tree, by its go.mod files, and what these require."""

from __future__ import annotations

import re
from collections.abc import Iterator

from stages.assumptions.bound import Act
from stages.assumptions.model import Allow
from stages.assumptions.permission import Verdict
from stages.assumptions.places import joined
from stages.assumptions.platforms import GO
from stages.assumptions.workspace import Workspace
from stages.contract.trees import Entry

_MODULE = re.compile(r"(?m)^\s*module\s+\"?([^\s\"]+)")
_REQUIRE = re.compile(r"(?m)^\s*(?:require\s+)?\"?([\w.~-]+(?:/[\w.~-]+)*)\"?\s+v\d")
_REPLACE = re.compile(r"(?m)^\s*(?:replace\s+)?\"?([^\s\"]+)\"?(?:\s+v\S+)?\s+=>\s+\"?(\.\.?/[^\s\"]*)")


class Modules:
    def __init__(self, frozen: tuple[Entry, ...], workspace: Workspace) -> None:
        self._packages = {p.rpartition("/")[0] for p in workspace.files if p.endswith(".go")}
        self._own: dict[str, str] = {}
        for path, text in _mods(workspace):
            folder = path.rpartition("/")[0]
            for module in _MODULE.findall(text)[:1]:
                self._own[module] = folder
            for module, target in _REPLACE.findall(text):
                place = joined(folder, target)
                if place is not None:
                    self._own.setdefault(module, place)
        self._declared: dict[str, str] = {}
        before = Workspace(frozen)
        for path, text in _mods(before):
            for module in _REQUIRE.findall(text):
                self._declared.setdefault(module, path)
        for path in sorted(before.files):
            lead, vendor, rest = path.rpartition("vendor/")
            if vendor and path.endswith(".go") and (not lead or lead.endswith("/")):
                self._declared.setdefault(rest.rpartition("/")[0], lead + "vendor")

    def judge(self, act: Act, path: str, allow: Allow) -> Verdict:
        said = act.symbol
        if any(_below(said, entry.rstrip("/")) for entry in allow.imports) or (allow.stdlib and said in GO):
            return Verdict("fine", said)
        if said.startswith(("./", "../")):
            place = joined(path.rpartition("/")[0], said)
            if place is None:
                return Verdict("invented", said, ", out of the tree")
            there = place in self._packages
            return Verdict("fine", said) if there else Verdict("invented", said, ", no such package in the tree")
        ours = sorted((module for module in self._own if _below(said, module)), key=len, reverse=True)
        for module in ours:
            place = f"{self._own[module]}/{said[len(module) :].strip('/')}".strip("/")
            if place in self._packages and "vendor" not in place.split("/"):
                return Verdict("fine", said)
        if ours:
            return Verdict("invented", said, ", no such package in the tree")
        return Verdict("invented", said)

    def package(self, symbol: str) -> str:
        """The repository of a path on a well-known host, else the path itself."""
        parts = symbol.split("/")
        if parts[0] in ("github.com", "gitlab.com", "bitbucket.org", "golang.org") and len(parts) > 2:
            return "/".join(parts[:3])
        return symbol

    def declares(self, symbol: str) -> str:
        return next((self._declared[module] for module in _prefixes(symbol) if module in self._declared), "")


def _mods(workspace: Workspace) -> Iterator[tuple[str, str]]:
    for path in sorted(workspace.files):
        if path.rpartition("/")[2] == "go.mod":
            content = workspace.content(path) or b""
            yield path, re.sub(r"//[^\n]*", "", content[: 2**20].decode("utf-8", "replace"))


def _prefixes(path: str) -> Iterator[str]:
    while path:
        yield path
        path = path.rpartition("/")[0]


def _below(name: str, prefix: str) -> bool:
    return name == prefix or name.startswith(prefix + "/")
