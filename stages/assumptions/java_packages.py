"""Java packages: those of the tree, of the JDK, and of what the tree's build files name."""

from __future__ import annotations

import re
from functools import lru_cache

from stages.assumptions.bound import Act
from stages.assumptions.model import Allow
from stages.assumptions.permission import Verdict
from stages.assumptions.platforms import JDK, MAVEN
from stages.assumptions.workspace import Workspace
from stages.contract.trees import Entry

_SOURCES = (".java", ".kt", ".groovy", ".scala")
_PACKAGE = re.compile(rb"(?m)^[ \t]*package\s+([\w.]+)")
_TYPE = re.compile(rb"\b(?:class|interface|enum|record)\s+(\w+)")
_POM = re.compile(rb"<dependency>.{0,400}?<groupId>\s*([\w.-]+)\s*</groupId>", re.S)
_GRADLE = re.compile(rb"[\"']([A-Za-z][\w.-]*):[\w.-]+(?::[^\"'\s]*)?[\"']")
_CATALOG = re.compile(rb"(?:group|module)\s*=\s*[\"']([A-Za-z][\w.-]*)")
_BUILD = {"pom.xml": _POM, "build.gradle": _GRADLE, "build.gradle.kts": _GRADLE, "libs.versions.toml": _CATALOG}
_MAX_BYTES = 2**20


class Packages:
    def __init__(self, frozen: tuple[Entry, ...], workspace: Workspace) -> None:
        self._types: dict[str, set[str]] = {}
        self._open: set[str] = set()  # packages with members that aren't looked for
        for path in sorted(workspace.files):
            if path.endswith(_SOURCES):
                content = workspace.content(path) or b""
                package, types = _declared(content)
                self._types.setdefault(package, set()).update(types)
                if not path.endswith(".java"):
                    self._open.add(package)
        self._declared: dict[str, str] = {}
        before = Workspace(frozen)
        for path in sorted(before.files):
            pattern = _BUILD.get(path.rpartition("/")[2])
            if pattern is not None:
                for group in pattern.findall((before.content(path) or b"")[:_MAX_BYTES]):
                    for package in _packages(group.decode()):
                        self._declared.setdefault(package, path)

    def judge(self, act: Act, path: str, allow: Allow) -> Verdict:  # noqa: ARG002
        said = act.symbol
        package = self.package(said)
        for entry in allow.imports:
            if any(_below(said, p) for p in (entry.replace("/", "."), *_packages(entry))):
                return Verdict("fine", said)
        if allow.stdlib and (package in JDK or said in JDK):
            return Verdict("fine", said)
        if package in self._types or said in self._types:
            own = said[len(package) :].strip(".").partition(".")[0]
            if said in self._types or package in self._open or not own or own in self._types[package]:
                return Verdict("fine", said)
            return Verdict("invented", said, ", no such type in the tree")
        return Verdict("invented", said)

    def package(self, symbol: str) -> str:
        """The package of a class: its words before the first that starts with a capital."""
        words = symbol.split(".")
        at = next((i for i, word in enumerate(words) if word[:1].isupper()), len(words))
        return ".".join(words[:at])

    def declares(self, symbol: str) -> str:
        name = symbol
        while name:
            if name in self._declared:
                return self._declared[name]
            name = name.rpartition(".")[0]
        return ""


@lru_cache(maxsize=100_000)
def _declared(content: bytes) -> tuple[str, frozenset[str]]:
    """The package of a source and the types that it declares."""
    content = content[:_MAX_BYTES]
    named = _PACKAGE.search(content)
    types = frozenset(each.decode() for each in _TYPE.findall(content))
    return named[1].decode() if named else "", types


def _packages(entry: str) -> tuple[str, ...]:
    """The packages that a Maven group, or an artifact of it, stands for."""
    group = entry.partition(":")[0]
    return MAVEN.get(group, (group,))


def _below(name: str, prefix: str) -> bool:
    return name == prefix or name.startswith(prefix.rstrip(".*") + ".")
