"""JavaScript modules: what a specifier leads to, by the tree's package.json and tsconfig.json files.

A module counts as the tree's own only where a file of the produced tree stands behind it, so that neither a
renamed package nor an added alias makes a stranger one of the family. `node_modules` is never the tree's own.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from fnmatch import fnmatchcase
from typing import Any

from stages.assumptions.bound import Act
from stages.assumptions.model import Allow
from stages.assumptions.permission import Verdict
from stages.assumptions.places import above, joined
from stages.assumptions.platforms import NODE, NODE_ONLY
from stages.assumptions.workspace import Workspace
from stages.contract.trees import Entry

_TYPED, _PLAIN = (".ts", ".tsx", ".d.ts", ".mts", ".cts"), (".js", ".jsx", ".mjs", ".cjs")
_ENDINGS = ("", *_TYPED, *_PLAIN, ".json", ".node", ".vue", ".svelte")
_COMPILED = {".js": (".ts", ".tsx", ".d.ts", ".jsx"), ".jsx": (".tsx",), ".mjs": (".mts",), ".cjs": (".cts",)}
_DEPENDENCIES = ("dependencies", "devDependencies", "peerDependencies", "optionalDependencies")
_NOT_JSON = re.compile(r'("(?:[^"\\]|\\.)*")|//[^\n]*|/\*.*?\*/|,(?=\s*[}\]])', re.S)
_MAX_JSON = 2**20


class Modules:
    """The modules around the files of one produced tree."""

    def __init__(self, frozen: tuple[Entry, ...], workspace: Workspace) -> None:
        self._workspace = workspace
        before = Workspace(frozen)
        self._packages: set[str] = set()
        self._declared: dict[str, str] = {}
        patterns: list[str] = []
        for path, data in _manifests(before, "package.json"):
            folder = path.rpartition("/")[0]
            if "node_modules" in path.split("/"):
                self._declared.setdefault(folder.rpartition("node_modules/")[2], path)
                continue
            if isinstance(data.get("name"), str):
                self._packages.add(data["name"])
            for kind in _DEPENDENCIES:
                listed = data.get(kind)
                for name in listed if isinstance(listed, dict) else ():
                    self._declared.setdefault(name, path)
            patterns += [f"{folder}/{pattern}".strip("/") for pattern in _workspaces(data)]
        patterns += _pnpm(before)
        for path, data in _manifests(workspace, "package.json"):
            folder = path.rpartition("/")[0]
            if isinstance(data.get("name"), str) and any(fnmatchcase(folder, p) for p in patterns):
                self._packages.add(data["name"])
        self._inner = {
            path.rpartition("/")[0]: data["imports"]
            for path, data in _manifests(workspace, "package.json")
            if isinstance(data.get("imports"), dict)
        }
        self._configs = list(_configs(workspace))

    def judge(self, act: Act, path: str, allow: Allow) -> Verdict:
        said = act.symbol
        bare = said.removeprefix("npm:").removeprefix("jsr:")
        if bare != said:
            bare = bare.strip("/")
        prefixed = bare.startswith("node:")
        name = bare.removeprefix("node:")
        for entry in allow.imports:
            wanted = entry.removeprefix("node:").removeprefix("npm:")
            if _below(name, wanted) or (bare != said and self.package(said) == wanted):
                return Verdict("fine", said)
        platform = name in NODE or (prefixed and name in NODE_ONLY) or said.partition(":")[0] == "bun"
        if allow.stdlib and platform:
            return Verdict("fine", said)
        if said.startswith((".", "/")):
            place = joined("" if said[0] == "/" else path.rpartition("/")[0], said)
            if place is None:
                return Verdict("invented", said, ", out of the tree")
            return self._there(place) or Verdict("invented", place or said, ", no such module in the tree")
        if said.startswith("#"):
            return self._internal(said, path) or Verdict("invented", said, ", no such module in the tree")
        for place in self._aliased(bare, path):
            found = self._there(place)
            if found is not None:
                return found
        return Verdict("fine" if self.package(said) in self._packages else "invented", said)

    def package(self, symbol: str) -> str:
        bare = symbol.removeprefix("npm:").removeprefix("jsr:").removeprefix("node:").lstrip("/")
        if symbol.startswith((".", "/", "#")):
            return ""
        if "://" in symbol:
            return symbol
        parts = bare.split("/")
        name = "/".join(parts[:2]) if bare.startswith("@") else parts[0]
        return name[0] + name[1:].partition("@")[0] if name else ""

    def declares(self, symbol: str) -> str:
        package = self.package(symbol)
        if symbol.startswith("node:") or not package:
            return ""
        types = "@types/" + package.removeprefix("@").replace("/", "__")
        return self._declared.get(package) or ("" if package in NODE else self._declared.get(types, ""))

    def _there(self, place: str) -> Verdict | None:
        """Fine where the tree has a file, or a folder with an index or a manifest, at the place."""
        if "node_modules" in place.split("/"):
            return None
        plain = re.split(r"[?#]", place)[0]
        stem, dot, ending = plain.rpartition(".")
        tries = [plain + end for end in _ENDINGS] + [stem + end for end in _COMPILED.get(dot + ending, ())]
        tries += [f"{plain}/index{end}".lstrip("/") for end in _ENDINGS[1:]] + [f"{plain}/package.json".lstrip("/")]
        return Verdict("fine", place) if any(each in self._workspace.files for each in tries) else None

    def _internal(self, said: str, path: str) -> Verdict | None:
        for folder in sorted(self._inner, key=len, reverse=True):
            if folder and not path.startswith(folder + "/"):
                continue
            for pattern, target in self._inner[folder].items():
                star = _matched(pattern, said)
                targets = [text.replace("*", star) for text in _texts(target)] if star is not None else []
                places = [joined(folder, text) for text in targets if text.startswith("./")]
                if places and len(places) == len(targets) and all(p is not None and self._there(p) for p in places):
                    return Verdict("fine", said)
        return None

    def _aliased(self, said: str, path: str) -> Iterator[str]:
        """Places that the tree's configurations, or the habit of `@/` and `~/`, give a specifier."""
        for folder, base, bare, paths in self._configs:
            if folder and not path.startswith(folder + "/"):
                continue
            for pattern, targets in paths.items():
                star = _matched(pattern, said)
                for target in targets if star is not None and isinstance(targets, list) else ():
                    if isinstance(target, str) and (place := joined(base, target.replace("*", star or ""))):
                        yield place
            if bare and (place := joined(base, said)):
                yield place
        if said.startswith(("@/", "~/")):
            here = path.rpartition("/")[0]
            for root in dict.fromkeys((*above(path), here, "")):
                yield f"{root}/src/{said[2:]}".lstrip("/")
                yield f"{root}/{said[2:]}".lstrip("/")


def _configs(workspace: Workspace) -> Iterator[tuple[str, str, bool, dict[str, Any]]]:
    """Of each tsconfig or jsconfig: its folder, base folder, whether bare names are looked up there, path patterns."""
    for path in sorted(workspace.files):
        folder, _, name = path.rpartition("/")
        if re.fullmatch(r"[tj]sconfig(\.[\w.-]+)?\.json", name) and "node_modules" not in folder.split("/"):
            options = _json(workspace.content(path), lenient=True).get("compilerOptions")
            if isinstance(options, dict):
                paths = options.get("paths")
                base = options.get("baseUrl")
                place = joined(folder, base if isinstance(base, str) else ".")
                if place is not None:
                    yield folder, place, isinstance(base, str), paths if isinstance(paths, dict) else {}


def _manifests(workspace: Workspace, name: str) -> Iterator[tuple[str, dict[str, Any]]]:
    for path in sorted(workspace.files):
        if path == name or path.endswith("/" + name):
            yield path, _json(workspace.content(path))


def _json(content: bytes | None, lenient: bool = False) -> dict[str, Any]:
    """The object in a JSON file, empty where there is none; `lenient` for comments and commas too many."""
    if content is None or len(content) > _MAX_JSON:
        return {}
    text = content.decode("utf-8-sig", "replace")
    try:
        data = json.loads(_NOT_JSON.sub(lambda match: match[1] or "", text) if lenient else text)
    except (ValueError, RecursionError):
        return {}
    return data if isinstance(data, dict) else {}


def _workspaces(data: dict[str, Any]) -> list[str]:
    listed = data.get("workspaces")
    listed = listed.get("packages") if isinstance(listed, dict) else listed
    return [each.strip("./") for each in listed if isinstance(each, str)] if isinstance(listed, list) else []


def _pnpm(workspace: Workspace) -> list[str]:
    content = workspace.content("pnpm-workspace.yaml") or b""
    return [m.decode("utf-8", "replace").strip("./") for m in re.findall(rb"(?m)^\s*-\s*[\"']?([^\"'#\s]+)", content)]


def _texts(target: Any) -> list[str]:
    """All the targets of an entry of `imports`, whatever their conditions."""
    found: list[str] = []
    stack = [target]
    while stack and len(found) < 100:
        each = stack.pop()
        if isinstance(each, str):
            found.append(each)
        elif isinstance(each, dict):
            stack += each.values()
        elif isinstance(each, list):
            stack += each
    return found


def _matched(pattern: str, said: str) -> str | None:
    """What a pattern's star stands for, empty where it has none; None where it doesn't match."""
    head, star, tail = pattern.partition("*")
    if not star:
        return "" if pattern == said and pattern else None
    fits = said.startswith(head) and said.endswith(tail) and len(said) >= len(head) + len(tail)
    return said[len(head) : len(said) - len(tail)] if fits else None


def _below(name: str, prefix: str) -> bool:
    return name == prefix or name.startswith(prefix.rstrip("/") + "/")
