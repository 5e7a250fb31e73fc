"""The journal: every claim and every finished trial, durable before anything else happens.

A claim is written before an agent starts and one commit finishes a trial, so a finished trial is never started
again and an interrupted one is known as such. Keys begin with the plan's digest: another plan shares nothing.
"""

from __future__ import annotations

import base64
import fcntl
import json
import sqlite3
import threading
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import IO, Any

from stages.contract.errors import InputError
from stages.contract.trees import Change

_SCHEMA = """
CREATE TABLE IF NOT EXISTS campaigns (
  plan TEXT PRIMARY KEY, pack_id TEXT, pack_revision TEXT, campaign TEXT, slice TEXT, control TEXT, candidate TEXT,
  started_at TEXT, stopped TEXT, record TEXT);
CREATE TABLE IF NOT EXISTS claims (
  plan TEXT, item TEXT, arm TEXT, repeat INTEGER, number INTEGER, claimed_at TEXT,
  PRIMARY KEY (plan, item, arm, repeat, number));
CREATE TABLE IF NOT EXISTS trials (
  plan TEXT, item TEXT, arm TEXT, repeat INTEGER, row TEXT, stamps TEXT, PRIMARY KEY (plan, item, arm, repeat));
CREATE TABLE IF NOT EXISTS patches (
  plan TEXT, item TEXT, arm TEXT, repeat INTEGER, path TEXT, meta TEXT, content BLOB,
  PRIMARY KEY (plan, item, arm, repeat, path));
CREATE TABLE IF NOT EXISTS streams (
  plan TEXT, item TEXT, arm TEXT, repeat INTEGER, stream TEXT, total INTEGER, content BLOB,
  PRIMARY KEY (plan, item, arm, repeat, stream));
CREATE TABLE IF NOT EXISTS calls (
  plan TEXT, item TEXT, arm TEXT, repeat INTEGER, attempt INTEGER, number INTEGER, record TEXT,
  PRIMARY KEY (plan, item, arm, repeat, attempt, number));
CREATE TABLE IF NOT EXISTS replaced (
  plan TEXT, item TEXT, arm TEXT, repeat INTEGER, number INTEGER, rule TEXT, found TEXT, record BLOB,
  PRIMARY KEY (plan, item, arm, repeat, number));
"""
_VERSION = 2  # 1 had neither calls nor replaced trials; it is read as it is
Key = tuple[str, str, int]


@dataclass(frozen=True)
class Finished:
    """A finished trial: its row of the trial table, its stamps, its patch, what it printed.

    `calls` are those of each attempt in its order, as JSON texts.
    """

    row: dict[str, Any]
    stamps: list[str]
    changes: list[Change]
    streams: dict[str, tuple[int, bytes]]
    calls: list[list[str]] = field(default_factory=list)


@dataclass(frozen=True)
class Replaced:
    """A finished trial in whose place another ran: which one in its row, and the rule that its stamps broke."""

    number: int
    rule: str
    found: str
    done: Finished


class Journal:
    """One SQLite file; one connection, used by all threads of the process under a lock."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self.path = folder / "journal.sqlite"
        self._lock = threading.Lock()
        try:
            self._db = sqlite3.connect(self.path, check_same_thread=False, timeout=60, isolation_level=None)
            self._db.execute("PRAGMA journal_mode=WAL")
            self._db.execute("PRAGMA synchronous=FULL")
            version = self._db.execute("PRAGMA user_version").fetchone()[0]
            if version not in (0, 1, _VERSION):
                raise InputError(
                    self.path, f"version {version}", f"version {_VERSION}", "use the release that wrote it"
                )
            self._db.executescript(_SCHEMA)
            self._db.execute(f"PRAGMA user_version={_VERSION}")
        except sqlite3.DatabaseError as error:
            raise InputError(
                self.path, f"can't be read ({error})", "a sound journal", "restore it from a copy"
            ) from None

    def close(self) -> None:
        self._db.close()

    @contextmanager
    def _write(self) -> Iterator[sqlite3.Connection]:
        with self._lock:
            self._db.execute("BEGIN IMMEDIATE")
            try:
                yield self._db
            except BaseException:
                self._db.execute("ROLLBACK")
                raise
            self._db.execute("COMMIT")

    def _read(self, query: str, *values: object) -> list[tuple[Any, ...]]:
        with self._lock:
            return self._db.execute(query, values).fetchall()

    def claim(self, plan: str, key: Key, now: str) -> int:
        """Claim a trial that isn't finished. Returns how many claims of it came to nothing before."""
        with self._write() as db:
            if db.execute(
                "SELECT 1 FROM trials WHERE plan=? AND item=? AND arm=? AND repeat=?", (plan, *key)
            ).fetchone():
                raise AssertionError(f"trial {key} is finished and can't start again")
            before = db.execute(
                "SELECT count(*) FROM claims WHERE plan=? AND item=? AND arm=? AND repeat=?", (plan, *key)
            ).fetchone()[0]
            db.execute("INSERT INTO claims VALUES (?,?,?,?,?,?)", (plan, *key, before, now))
            return int(before)

    def finish(self, plan: str, key: Key, done: Finished) -> None:
        """Store a finished trial in one commit."""
        with self._write() as db:
            db.execute(
                "INSERT INTO trials VALUES (?,?,?,?,?,?)",
                (plan, *key, json.dumps(done.row), json.dumps(done.stamps)),
            )
            for change in done.changes:
                meta = asdict(change)
                content = meta.pop("content")
                packed = None if content is None else zlib.compress(content, 6)
                db.execute(
                    "INSERT INTO patches VALUES (?,?,?,?,?,?,?)",
                    (plan, *key, change.path, json.dumps(meta), packed),
                )
            for name, (total, content) in done.streams.items():
                db.execute(
                    "INSERT INTO streams VALUES (?,?,?,?,?,?,?)",
                    (plan, *key, name, total, zlib.compress(content, 6)),
                )
            for attempt, calls in enumerate(done.calls, start=1):
                db.executemany(
                    "INSERT INTO calls VALUES (?,?,?,?,?,?,?)",
                    [(plan, *key, attempt, number, record) for number, record in enumerate(calls, start=1)],
                )

    def replace(self, plan: str, key: Key, gone: Replaced) -> None:
        """Keep a finished trial that is run again, with the rule that its stamps broke, in one commit."""
        done = gone.done
        record = {
            "row": done.row,
            "stamps": done.stamps,
            "calls": done.calls,
            "changes": [_packed(asdict(change)) for change in done.changes],
            "streams": {name: [total, _text(content)] for name, (total, content) in done.streams.items()},
        }
        packed = zlib.compress(json.dumps(record).encode(), 6)
        with self._write() as db:
            db.execute(
                "INSERT INTO replaced VALUES (?,?,?,?,?,?,?,?)",
                (plan, *key, gone.number, gone.rule, gone.found, packed),
            )

    def replaced(self, plan: str) -> Iterator[tuple[Key, Replaced]]:
        """The plan's replaced trials in key order."""
        for item, arm, repeat, number, rule, found, packed in self._read(
            "SELECT item, arm, repeat, number, rule, found, record FROM replaced WHERE plan=? ORDER BY 1,2,3,4", plan
        ):
            record = json.loads(zlib.decompress(packed))
            changes = [
                Change(**(one | {"content": None if one["content"] is None else base64.b64decode(one["content"])}))
                for one in record["changes"]
            ]
            streams = {name: (total, base64.b64decode(text)) for name, (total, text) in record["streams"].items()}
            done = Finished(record["row"], record["stamps"], changes, streams, record["calls"])
            yield (item, arm, repeat), Replaced(number, rule, found, done)

    def finished(self, plan: str) -> set[Key]:
        """Keys of the plan's finished trials."""
        return {(i, a, r) for i, a, r in self._read("SELECT item, arm, repeat FROM trials WHERE plan=?", plan)}

    def load(self, plan: str) -> Iterator[tuple[Key, Finished]]:
        """The plan's finished trials in key order."""
        for item, arm, repeat, row, stamps in self._read(
            "SELECT item, arm, repeat, row, stamps FROM trials WHERE plan=? ORDER BY 1,2,3", plan
        ):
            key = (item, arm, repeat)
            changes = [
                Change(**json.loads(meta), content=None if packed is None else zlib.decompress(packed))
                for meta, packed in self._read(
                    "SELECT meta, content FROM patches WHERE plan=? AND item=? AND arm=? AND repeat=? ORDER BY path",
                    plan,
                    *key,
                )
            ]
            streams = {
                name: (total, zlib.decompress(content))
                for name, total, content in self._read(
                    "SELECT stream, total, content FROM streams WHERE plan=? AND item=? AND arm=? AND repeat=?",
                    plan,
                    *key,
                )
            }
            calls: list[list[str]] = [[] for _ in json.loads(stamps)]
            for attempt, record in self._read(
                "SELECT attempt, record FROM calls WHERE plan=? AND item=? AND arm=? AND repeat=? ORDER BY 1, number",
                plan,
                *key,
            ):
                calls[attempt - 1].append(record)
            yield key, Finished(json.loads(row), json.loads(stamps), changes, streams, calls)

    def campaigns(self) -> list[dict[str, Any]]:
        """All campaigns of this journal, oldest first, each with its `record`."""
        names = [
            "plan",
            "pack_id",
            "pack_revision",
            "campaign",
            "slice",
            "control",
            "candidate",
            "started_at",
            "stopped",
            "record",
        ]
        rows = self._read(f"SELECT {', '.join(names)} FROM campaigns ORDER BY started_at, plan")
        return [{**dict(zip(names, row, strict=True)), "record": json.loads(row[-1])} for row in rows]

    def open_campaign(self, row: dict[str, Any]) -> None:
        """Store a campaign before its first trial."""
        names = [
            "plan",
            "pack_id",
            "pack_revision",
            "campaign",
            "slice",
            "control",
            "candidate",
            "started_at",
        ]
        if self._read("SELECT 1 FROM claims WHERE plan=? LIMIT 1", row["plan"]):
            raise InputError(self.path, "trials of this plan without their campaign", "a journal as it was written")
        with self._write() as db:
            db.execute(
                "INSERT INTO campaigns VALUES (?,?,?,?,?,?,?,?,NULL,?)",
                (*(row[n] for n in names), json.dumps(row["record"])),
            )

    def stop(self, plan: str, why: str) -> None:
        """Mark a campaign as stopped for good."""
        with self._write() as db:
            db.execute("UPDATE campaigns SET stopped=? WHERE plan=?", (why, plan))


def _text(content: bytes) -> str:
    return base64.b64encode(content).decode()


def _packed(change: dict[str, Any]) -> dict[str, Any]:
    content = change["content"]
    return change | {"content": None if content is None else _text(content)}


@contextmanager
def plan_lock(folder: Path, plan: str, say: Any) -> Iterator[IO[str]]:
    """One process per plan at a time; a second one waits, and says so."""
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / f"{plan[:16]}.lock").open("a+", encoding="utf-8") as stream:
        try:
            fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            say(f"another process is running the trials of plan {plan[:16]}: waiting for it to end")
            fcntl.flock(stream, fcntl.LOCK_EX)
        yield stream
