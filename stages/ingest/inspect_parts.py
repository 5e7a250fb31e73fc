"""An Inspect log in parts: its header, and one sample after the other with the events of each.

A `.eval` file is read member by member: samples in one member each, or in chunks below a folder of their own. A run
that was killed has no `header.json`: its `_journal/start.json` is the header, and samples that stand in summaries
alone are read from there. A `.json` log has to be read whole.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from stages.contract.errors import InputError, one_line
from stages.contract.text import read_bytes
from stages.ingest.inspect_sample import key
from stages.ingest.inspect_text import listed, mapping
from stages.ingest.inspect_zip import Archive, opened
from stages.ingest.lines import check_file, parse_lenient

MAX_JSON = 128 * 1024 * 1024
_WHOLE = re.compile(r"samples/(.+)_epoch_([0-9]{1,9})\.json", re.DOTALL)
_SHELL = re.compile(r"samples/(.+)_epoch_([0-9]{1,9})/sample\.json", re.DOTALL)
_CHUNK = re.compile(r"(samples/.+_epoch_[0-9]{1,9})/.+\.json", re.DOTALL)
_EVENTS = re.compile(r"(samples/.+_epoch_[0-9]{1,9})/events/([0-9]{1,18})\.json", re.DOTALL)
_JOURNAL = re.compile(r"_journal/summaries/([0-9]{1,18})\.json")


@dataclass(frozen=True)
class Part:
    """One sample: where it stands, its object, and its events in pieces. `whole` is false of a summary."""

    where: str
    sample: Mapping[str, Any]
    events: Iterator[list[Any]]
    whole: bool = True


class Log(Protocol):
    """An open log. `retuned`: whether its limits were changed during the run. `torn`: samples of which only chunks
    were written, known once the parts were read."""

    header: Mapping[str, Any]
    retuned: bool
    torn: list[str]

    def parts(self) -> Iterator[Part]:
        """Its samples, in the log's order."""


@contextmanager
def log_of(path: Path) -> Iterator[Log]:
    """An open log. Raises InputError."""
    check_file(path, "an Inspect log")
    if path.suffix == ".json":
        yield _JsonLog(path)
    else:
        with opened(path) as archive:
            yield _EvalLog(archive)


class _JsonLog:
    def __init__(self, path: Path) -> None:
        data = read_bytes(path, MAX_JSON, "an Inspect log (write larger ones as `.eval`)")
        top = parse_lenient(path, data)
        if not isinstance(top, dict) or not isinstance(top.get("eval"), dict):
            raise InputError(path, "no `eval` at the top", "an Inspect log")
        self._path = path
        self._samples = listed(top.pop("samples", None), f"{path}: samples")
        self.header: Mapping[str, Any] = top
        self.retuned = bool(top.get("config_updates"))
        self.torn: list[str] = []

    def parts(self) -> Iterator[Part]:
        """Its samples, in the log's order."""
        for number, raw in enumerate(self._samples, 1):
            where = f"{self._path}: sample {number}"
            sample = _object(raw, where)
            yield Part(where, sample, iter([_events(sample, where)]))


class _EvalLog:
    def __init__(self, archive: Archive) -> None:
        self._archive = archive
        self.torn: list[str] = []
        start = "header.json" if "header.json" in archive else "_journal/start.json"
        if start not in archive:
            raise InputError(archive.path, "neither header.json nor _journal/start.json", "an Inspect log in a zip")
        self.header = mapping(self._json(start), f"{archive.path}: {start}")
        if not isinstance(self.header.get("eval"), dict):
            raise InputError(f"{archive.path}: {start}", "no `eval`", "an Inspect log")
        self.retuned = bool(self.header.get("config_updates")) or any(
            member.filename.startswith("_journal/config_updates/") for member in archive.members
        )

    def parts(self) -> Iterator[Part]:
        """Its samples, in the order of the zip; then those that stand in a summary alone."""
        chunks, self.torn = self._chunks()
        seen: set[tuple[str, int]] = set()
        for member in self._archive.members:
            found = _WHOLE.fullmatch(member.filename) or _SHELL.fullmatch(member.filename)
            if found is None:
                continue
            where = f"{self._archive.path}: {member.filename}"
            sample = _object(parse_lenient(where, self._archive.unpack(member)), where)
            own = key(sample, where)
            if own != (found[1], int(found[2])):
                raise InputError(where, f"holds {one_line(own[0], 60)}, epoch {own[1]}", "the sample of its name")
            seen.add(own)
            if member.filename.endswith("/sample.json"):
                prefix = member.filename.removesuffix("/sample.json")
                yield Part(where, self._with_metadata(sample, prefix), self._pieces(chunks.get(prefix, [])))
            else:
                yield Part(where, sample, iter([_events(sample, where)]))
        yield from self._summaries(seen)

    def _chunks(self) -> tuple[dict[str, list[str]], list[str]]:
        """(prefix to its members of events in order, prefixes without a sample). Raises InputError of other members."""
        chunks: dict[str, list[tuple[int, str]]] = {}
        torn: dict[str, None] = {}
        for member in self._archive.members:
            name = member.filename
            if not name.startswith("samples/") or name.endswith("/") or _WHOLE.fullmatch(name):
                continue
            found = _CHUNK.fullmatch(name)
            if found is None:
                raise InputError(f"{self._archive.path}: {name}", "no sample by its name", "samples/ID_epoch_N.json")
            if f"{found[1]}/sample.json" not in self._archive:
                torn[found[1]] = None
            events = _EVENTS.fullmatch(name)
            if events is not None:
                chunks.setdefault(events[1], []).append((int(events[2]), name))
        return {prefix: [name for _, name in sorted(found)] for prefix, found in chunks.items()}, list(torn)

    def _with_metadata(self, sample: dict[str, Any], prefix: str) -> dict[str, Any]:
        name = f"{prefix}/metadata.json"
        return {**sample, "metadata": self._json(name)} if name in self._archive else sample

    def _pieces(self, names: list[str]) -> Iterator[list[Any]]:
        for name in names:
            yield listed(self._json(name), f"{self._archive.path}: {name}")

    def _summaries(self, seen: set[tuple[str, int]]) -> Iterator[Part]:
        numbered = [(int(m[1]), m[0]) for n in self._archive.members if (m := _JOURNAL.fullmatch(n.filename))]
        journal = [name for _, name in sorted(numbered)]
        for name in ["summaries.json"] if "summaries.json" in self._archive else journal:
            place = f"{self._archive.path}: {name}"
            for number, raw in enumerate(listed(self._json(name), place), 1):
                where = f"{place}: {number}"
                sample = _object(raw, where)
                if key(sample, where) not in seen:
                    yield Part(where, sample, iter(()), whole=False)

    def _json(self, name: str) -> Any:
        return parse_lenient(f"{self._archive.path}: {name}", self._archive.read(name))


def _object(raw: Any, where: str) -> dict[str, Any]:
    if not isinstance(raw, dict):
        raise InputError(where, "no object", "a sample")
    return raw


def _events(sample: Mapping[str, Any], where: str) -> list[Any]:
    """A sample's events; logs of 2024 have them within a transcript."""
    events = sample.get("events")
    if events is None:
        events = mapping(sample.get("transcript"), f"{where}: transcript").get("events")
    return listed(events, f"{where}: events")
