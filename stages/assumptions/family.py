"""A language that is read through a grammar: what its changed files do, held against contract and frozen tree."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache
from hashlib import sha256
from typing import NamedTuple, Protocol

from stages.assumptions import syntax
from stages.assumptions.bound import Act
from stages.assumptions.language import Changed, Unexamined
from stages.assumptions.model import ARTICLE_KINDS, Allow, Counted, Finding
from stages.assumptions.permission import Verdict
from stages.assumptions.source import MAX_BYTES, Unreadable
from stages.assumptions.workspace import Workspace
from stages.contract.lines import Touched, touched
from stages.contract.trees import LINK, Change, Entry, apply

_MISSING = "ast-grep-py isn't installed (`pip install ast-grep-py`), so the file isn't read"
_MAX_READINGS = 50_000
_WORD = re.compile(rb"\w+")


class World(Protocol):
    """The modules around a file: those of the tree, of the platform, and of what the tree declares to need."""

    def judge(self, act: Act, path: str, allow: Allow) -> Verdict:
        """`fine` or `invented`, as far as the list, the platform and the tree's own modules say."""
        ...

    def package(self, symbol: str) -> str:
        """What is installed to import this symbol; empty for what can't be installed."""
        ...

    def declares(self, symbol: str) -> str:
        """The file of the frozen tree that declares what this symbol needs, empty if none does."""
        ...


class Reading(NamedTuple):
    acts: tuple[Act, ...]
    errors: tuple[tuple[int, int, str], ...]


class Before(NamedTuple):
    """The family's files of a frozen tree, and for each word those that it stands in, by number."""

    files: list[tuple[str, bytes]]
    places: dict[bytes, list[int]]


class Family:
    """One language family. `grammar` names the grammar of a path, `read` says what a tree is seen to do."""

    def __init__(
        self,
        name: str,
        suffixes: tuple[str, ...],
        grammar: Callable[[str], str],
        decode: Callable[[bytes, str], syntax.Text],
        read: Callable[[syntax.Tree], list[Act]],
        world: Callable[[tuple[Entry, ...], Workspace], World],
        interpreters: tuple[bytes, ...] = (),
    ) -> None:
        self.name, self._suffixes, self._interpreters = name, suffixes, interpreters
        self._grammar, self._decode, self._read, self._world = grammar, decode, read, world
        self._readings: dict[tuple[str, bytes], Reading | Unreadable] = {}
        self._unread = Unexamined(name, suffixes, _MISSING)
        self._before = lru_cache(maxsize=16)(self._files)

    def owns(self, path: str, content: bytes) -> bool:
        """By suffix, or by a first line that calls an interpreter."""
        if path.endswith(self._suffixes):
            return True
        first = content[:200].split(b"\n", 1)[0]
        if "." in path.rpartition("/")[2] or not first.startswith(b"#!"):
            return False
        return any(re.search(rb"[/ ]" + name + rb"\b", first) for name in self._interpreters)

    def findings(
        self, frozen: tuple[Entry, ...], changes: tuple[Change, ...], changed: Iterable[Changed], allow: Allow
    ) -> list[Finding]:
        files = {file.path: (file.content, file.touched) for file in changed}
        linked = [c for c in changes if c.mode_after == LINK and c.content is not None and self.owns(c.path, b"")]
        if not files and not linked:
            return []
        if not syntax.available():
            return self._unread.findings(frozen, changes, changed, allow)
        workspace = Workspace(apply(frozen, changes))
        found = []
        for change in linked:  # all of what a link leads to is new under its name
            content = workspace.content(change.path)
            if content is None:
                how = "a link that leads to no file of the tree"
                found.append(Finding("parse_error", change.path, 0, change.path, how, "extended"))
            else:
                files[change.path] = (content, touched(None, content))
        world, before = self._world(frozen, workspace), self._before(frozen)
        ordered = sorted(files)
        readings = self._all([(path, files[path][0]) for path in ordered])
        for path, reading in zip(ordered, readings, strict=True):
            found += self._file(path, reading, files[path][1], before, world, allow)
        return found

    def _file(
        self,
        path: str,
        reading: Reading | Unreadable,
        new: Touched,
        before: Before,
        world: World,
        allow: Allow,
    ) -> list[Finding]:
        if isinstance(reading, Unreadable):
            return [Finding("parse_error", path, reading.line, path, str(reading), "extended")]
        found: dict[tuple[str, ...], Finding] = {}
        judged: dict[tuple[str, str, str, bool], tuple[Verdict, str]] = {}
        for first, last, reason in reading.errors:
            if new.any(first, last) or not self._broken(path, before):
                found["error",] = Finding("parse_error", path, first, path, f"{reason}; the rest is read", "extended")
                break
        for act in reading.acts:
            here = new.any(*act.lines)
            if not here and not (act.kind != "import" and any(new.any(*lines) for lines in act.via)):
                continue
            key = (act.kind, act.symbol, act.member, here)
            if key not in judged:
                judged[key] = self._judged(act, path, here, before, world, allow)
            verdict, already = judged[key]
            if verdict.standing == "fine":
                continue
            counted: Counted = "article" if act.kind in ARTICLE_KINDS else "extended"
            how = already or act.how + verdict.why
            finding = Finding(act.kind, path, act.lines[0], verdict.symbol, how, "note" if already else counted)
            told = "" if act.kind == "import" else how  # one import, whatever names it takes
            found.setdefault((act.kind, str(act.lines[0]), verdict.symbol, told), finding)
        return list(found.values())

    def _judged(
        self, act: Act, path: str, here: bool, before: Before, world: World, allow: Allow
    ) -> tuple[Verdict, str]:
        """The verdict on an act, and where the frozen tree already did it or declared it."""
        if act.kind == "import":
            verdict = world.judge(act, path, allow)
            if verdict.standing == "fine" or verdict.why:
                return verdict, ""
            declared = world.declares(act.symbol)
            if declared:
                return verdict, f"declared in {declared}"
            package = world.package(act.symbol)
            seen = bool(package) and any(
                other.kind == "import" and world.package(other.symbol) == package
                for _, other in self._habits(before, package)
            )
            return verdict, "already in the tree" if seen else ""
        if act.kind == "environment" and act.symbol in allow.env:
            return Verdict("fine", act.symbol), ""
        invented = Verdict("invented", act.symbol)
        for where, other in self._habits(before, act.symbol):
            if (other.kind, other.symbol) == (act.kind, act.symbol):
                if act.known and other.known:
                    return invented, "already in the tree"
                if where == path and not here:
                    return Verdict("fine", act.symbol), ""  # only a name's binding moved
        return invented, ""

    def _habits(self, before: Before, symbol: str) -> Iterator[tuple[str, Act]]:
        """What those frozen files do that the symbol's last word stands in; what can't be read allows nothing."""
        words = _WORD.findall(symbol.encode("utf-8", "surrogatepass"))
        files = [before.files[i] for i in before.places.get(words[-1], ())] if words else []
        for (path, _), reading in zip(files, self._all(files), strict=True):
            if isinstance(reading, Reading):
                yield from ((path, act) for act in reading.acts)

    def _files(self, frozen: tuple[Entry, ...]) -> Before:
        tree = Workspace(frozen)
        rows = [(path, tree.content(path)) for path in sorted(tree.files)]
        files = [(path, data) for path, data in rows if data is not None and self.owns(path, data)]
        found: dict[bytes, list[int]] = {}
        for i, (_, data) in enumerate(files):
            for word in set(_WORD.findall(data[:MAX_BYTES])):
                found.setdefault(word, []).append(i)
        return Before(files, found)

    def _broken(self, path: str, before: Before) -> bool:
        """Whether the frozen file already had what the grammar doesn't know."""
        old = [(name, content) for name, content in before.files if name == path]
        return any(isinstance(reading, Unreadable) or bool(reading.errors) for reading in self._all(old))

    def _all(self, files: list[tuple[str, bytes]]) -> list[Reading | Unreadable]:
        """The readings of sources; those of a text that was read before are remembered."""
        keys = [(self._grammar(path), sha256(content).digest()) for path, content in files]
        fresh = []
        for key, content in {key: content for key, (_, content) in zip(keys, files, strict=True)}.items():
            if key not in self._readings:
                try:
                    fresh.append((key, self._decode(content, key[0])))
                except Unreadable as error:
                    self._readings[key] = error
        for (key, _), tree in zip(fresh, syntax.parse([text for _, text in fresh]), strict=True):
            if isinstance(tree, Unreadable):
                self._readings[key] = tree
            else:
                self._readings[key] = Reading(tuple(self._read(tree)), tuple(tree.errors))
        found = [self._readings[key] for key in keys]
        while len(self._readings) > _MAX_READINGS:
            del self._readings[next(iter(self._readings))]
        return found
