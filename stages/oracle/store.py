"""Verdicts by content: the same tree under the same oracle is observed once, and what was seen is kept."""

from __future__ import annotations

import json
import sqlite3
import threading
from dataclasses import asdict
from pathlib import Path

from stages.contract.errors import InputError, one_line
from stages.contract.ran import Ran
from stages.oracle.verdict import ORACLE_VERSION, Observation

_SCHEMA = """
CREATE TABLE IF NOT EXISTS verdicts (
  tree_sha256 TEXT NOT NULL, oracle_sha256 TEXT NOT NULL, settings_sha256 TEXT NOT NULL,
  oracle_version INTEGER NOT NULL, attempt INTEGER NOT NULL, observation TEXT NOT NULL,
  PRIMARY KEY (tree_sha256, oracle_sha256, settings_sha256, oracle_version, attempt)
) WITHOUT ROWID
"""
_WHERE = "tree_sha256 = ? AND oracle_sha256 = ? AND settings_sha256 = ? AND oracle_version = ? AND attempt = ?"


class VerdictStore:
    """A SQLite file, safe for threads and processes. The first observation of a key stays."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._local = threading.local()
        path.parent.mkdir(parents=True, exist_ok=True)
        self._connection()

    def get(self, tree: str, oracle: str, settings: str, attempt: int = 0) -> Observation | None:
        """What was observed for these digests under ORACLE_VERSION, or None. `attempt` 1 is a recheck."""
        key = (tree, oracle, settings, ORACLE_VERSION, attempt)
        row = self._connection().execute(f"SELECT observation FROM verdicts WHERE {_WHERE}", key).fetchone()
        if row is None:
            return None
        try:
            fields = json.loads(row[0])
            ran = tuple(Ran(*words) for words in fields["ran"])
            return Observation(**(fields | {"events": tuple(fields["events"]), "ran": ran}))
        except (ValueError, TypeError, KeyError) as error:
            raise InputError(self.path, f"a verdict can't be read: {one_line(error)}", todo="delete the file") from None

    def put(self, tree: str, oracle: str, settings: str, seen: Observation, attempt: int = 0) -> Observation:
        """Keep an observation, and return the one that is kept: another process may have been first.

        A harness fault says nothing about the tree and isn't kept.
        """
        if seen.harness_fault:
            return seen
        text = json.dumps(asdict(seen), sort_keys=True)
        connection = self._connection()
        with connection:
            connection.execute(
                "INSERT OR IGNORE INTO verdicts VALUES (?, ?, ?, ?, ?, ?)",
                (tree, oracle, settings, ORACLE_VERSION, attempt, text),
            )
        return self.get(tree, oracle, settings, attempt) or seen

    def _connection(self) -> sqlite3.Connection:
        """One connection for each thread."""
        connection: sqlite3.Connection | None = getattr(self._local, "connection", None)
        if connection is None:
            try:
                connection = sqlite3.connect(self.path, timeout=60)
                connection.execute("PRAGMA journal_mode=WAL")
                connection.execute(_SCHEMA)
            except sqlite3.DatabaseError as error:
                raise InputError(self.path, one_line(error), "a verdict store", "delete the file") from None
            self._local.connection = connection
        return connection
