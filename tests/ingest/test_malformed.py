"""Logs that can't be read: one line that says which file and row, exit code 2, and nothing written."""

from __future__ import annotations

import json
import os
import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from stages.contract.errors import InputError
from stages.ingest.sources import format_of
from tests.cli.refusals import Ended, call, snapshot

GOOD = '{"item_id": "a", "arm": "candidate", "passed": true}\n{"item_id": "a", "arm": "control", "passed": false}\n'
COMMAND = "judge log.jsonl --out out"


@dataclass(frozen=True)
class Bad:
    """A log as bytes (or made by a function), the command, and words that the line must hold."""

    name: str
    log: bytes | str | Callable[[Path], object]
    words: tuple[str, ...]
    command: str = COMMAND


def line(text: str) -> str:
    """A good log with one more line, which isn't the last."""
    return GOOD + text + "\n" + GOOD.replace('"a"', '"b"')


def cell(name: str, value: str) -> str:
    return line(f'{{"item_id": "x", "arm": "candidate", "passed": true, "{name}": {value}}}')


def passed(value: str) -> str:
    return line(f'{{"item_id": "x", "arm": "candidate", "passed": {value}}}')


def csv(text: str) -> Callable[[Path], object]:
    return lambda root: (root / "log.csv").write_bytes(text.encode())


def parquet(**columns: list[object]) -> Callable[[Path], object]:
    return lambda root: pq.write_table(pa.table(columns), root / "log.parquet")


def zipped(members: dict[str, bytes], name: str = "log.eval") -> Callable[[Path], object]:
    def make(root: Path) -> None:
        with zipfile.ZipFile(root / name, "w", zipfile.ZIP_DEFLATED) as archive:
            for member, data in members.items():
                archive.writestr(member, data)

    return make


def cut(make: Callable[[Path], object], name: str, keep: int) -> Callable[[Path], object]:
    def damage(root: Path) -> None:
        make(root)
        (root / name).write_bytes((root / name).read_bytes()[:keep])

    return damage


def folder(root: Path) -> None:
    (root / "log.jsonl").mkdir()


def fifo(root: Path) -> None:
    os.mkfifo(root / "log.jsonl")


def large_parquet_type(root: Path) -> None:
    made = pa.table({"item_id": ["a"], "arm": ["candidate"], "passed": [[1]]})
    pq.write_table(made, root / "log.parquet")


CSV, PARQUET, EVAL = (f"judge log.{kind} --out out" for kind in ("csv", "parquet", "eval --format inspect"))
EVAL = "judge --candidate log.eval --control log.eval --format inspect --out out"
HEAD = "item_id,arm,passed\n"
HEADER = json.dumps({"version": 2, "status": "success", "eval": {}}).encode()

CASES = [
    Bad("an empty file", b"", ("log.jsonl", "empty")),
    Bad("blank lines only", b"\n\n  \n", ("log.jsonl",)),
    Bad("a folder", folder, ("log.jsonl",)),
    Bad("a pipe", fifo, ("log.jsonl",)),
    Bad("no file", lambda _: None, ("log.jsonl", "doesn't exist")),
    Bad("no JSON", line("what?"), ("line 3", "JSON")),
    Bad("a cut line within", line('{"item_id": "x", "arm"'), ("line 3", "JSON")),
    Bad("an array for an object", line("[1, 2]"), ("line 3", "object")),
    Bad("a number for an object", line("17"), ("line 3", "object")),
    Bad("a repeated key", line('{"item_id": "x", "item_id": "y", "passed": true}'), ("line 3", "twice")),
    Bad("NaN for an outcome", passed("NaN"), ("line 3", "NaN")),
    Bad("Infinity for an outcome", passed("Infinity"), ("line 3", "Infinity")),
    Bad("minus Infinity", passed("-Infinity"), ("line 3", "Infinity")),
    Bad("a huge integer", passed("1" + "0" * 400), ("line 3", "integer")),
    Bad("a huge real", passed("1e999"), ("line 3", "large")),
    Bad("a word for an outcome", passed('"perhaps"'), ("line 3", "passed", "perhaps")),
    Bad("a list for an outcome", passed("[true]"), ("line 3", "passed")),
    Bad("an object for an outcome", passed('{"a": 1}'), ("line 3", "passed")),
    Bad("a fraction without a threshold", passed("0.5"), ("line 3", "--threshold")),
    Bad("deep nesting", line('{"item_id": "x", "passed": true, "deep": ' + "[" * 2000 + "]" * 2000 + "}"), ("line 3",)),
    Bad("a byte-order mark", b"\xef\xbb\xbf" + GOOD.encode(), ("byte-order mark",)),
    Bad("UTF-16", GOOD.encode("utf-16"), ("log.jsonl",)),
    Bad("Latin-1 within UTF-8", GOOD.encode() + '{"item_id": "é", "passed": 1}\n'.encode("latin-1") + b"{}\n", ("UTF-8",)),
    Bad("a NUL", GOOD.encode() + b'{"item_id": "a\x00"}\n{}\n', ("line 3",)),
    Bad("half a surrogate pair", line('{"item_id": "\\ud800", "arm": "candidate", "passed": true}'), ("line 3",)),
    Bad("no item", line('{"arm": "candidate", "passed": true}'), ("line 3", "item_id", "no value")),
    Bad("an item of two lines", cell("stratum", '"a\\nb"'), ("line 3", "stratum")),
    Bad("a list for an item", line('{"item_id": ["x"], "arm": "candidate", "passed": true}'), ("line 3", "item_id")),
    Bad("an endless item", line('{"item_id": "' + "x" * 501 + '", "arm": "candidate", "passed": true}'), ("item_id", "500")),
    Bad("a negative time", cell("wall_s", "-1"), ("line 3", "wall_s")),
    Bad("a text for a time", cell("wall_s", '"soon"'), ("line 3", "wall_s", "soon")),
    Bad("a boolean for a time", cell("wall_s", "true"), ("line 3", "wall_s")),
    Bad("half a repeat", cell("repeat", "0.5"), ("line 3", "repeat")),
    Bad("a negative repeat", cell("repeat", "-1"), ("line 3", "repeat")),
    Bad("a text for retries", cell("retries", '"two"'), ("line 3", "retries")),
    Bad("a strange quota state", cell("quota_state", '"fine"'), ("line 3", "quota_state", "exhausted")),
    Bad("a strange evidence", cell("evidence", '"sworn"').replace('"evidence"', '"queue_ms": 1, "evidence"'), ("evidence",)),
    Bad("a time that is none", cell("started_at", '"yesterday"'), ("line 3", "started_at")),
    Bad("a time in the year 1", cell("started_at", '"0001-01-01T00:00:00Z"'), ("line 3", "started_at")),
    Bad("a number for a time of day", cell("started_at", "12"), ("line 3", "started_at")),
    Bad("a word for a flag", cell("route_changed", '"maybe"'), ("line 3", "route_changed")),
    Bad("a list for a patch", cell("patch", "[1]"), ("line 3", "patch")),
    Bad("no outcome at all", '{"item_id": "a", "arm": "candidate"}\n', ("passed or status", "--map")),
    Bad("no item at all", '{"arm": "candidate", "passed": true}\n', ("log.jsonl",)),
    Bad("one arm only", '{"item_id": "a", "arm": "candidate", "passed": true}\n', ("arm",)),
    Bad("three arms unnamed", GOOD.replace("candidate", "x").replace("control", "y"), ("x, y", "--candidate-name")),
    Bad("rows without an arm", '{"item_id": "a", "passed": true}\n', ("arm",)),
    Bad("arms that share no item", GOOD.replace('"a", "arm": "control"', '"b", "arm": "control"'), ("both arms",)),
    Bad("a strange status", line('{"item_id": "x", "arm": "candidate", "status": "odd"}').replace('"passed": true', '"status": "pass"').replace('"passed": false', '"status": "fail"'), ("status", "odd")),
    Bad("two columns that disagree", cell("status", '"failed"').replace('"passed": false}', '"passed": false, "status": "failed"}').replace('"passed": true}', '"passed": true, "status": "passed"}'), ("agree",)),
    Bad("a CSV of another width", csv(HEAD + "a,candidate,1\nb,candidate\n"), ("log.csv", "cells"), CSV),
    Bad("a CSV with a column twice", csv("item_id,arm,passed,passed\na,candidate,1,1\n"), ("log.csv", "passed"), CSV),
    Bad("a CSV without rows", csv(HEAD), ("log.csv", "no row"), CSV),
    Bad("a CSV that isn't UTF-8", lambda r: (r / "log.csv").write_bytes(HEAD.encode() + b"\xe9,candidate,1\n"), ("log.csv",), CSV),
    Bad("a CSV with a byte-order mark", csv("\ufeff" + HEAD + "a,candidate,1\n"), ("byte-order mark",), CSV),
    Bad("a CSV with an open quote", csv(HEAD + '"a,candidate,1\nb,control,1\n'), ("log.csv",), CSV),
    Bad("a CSV with a bad cell", csv(HEAD + "a,candidate,1\na,control,often\n"), ("row 3", "often"), CSV),
    Bad("no Parquet", lambda r: (r / "log.parquet").write_bytes(b"PAR1 no"), ("log.parquet",), PARQUET),
    Bad("a cut Parquet", cut(parquet(item_id=["a"], arm=["candidate"], passed=[1]), "log.parquet", 120), ("log.parquet",), PARQUET),
    Bad("a Parquet of lists", large_parquet_type, ("row 1", "passed"), PARQUET),
    Bad("a Parquet with NaN", parquet(item_id=["a", "a"], arm=["candidate", "control"], passed=[1.0, float("nan")]), ("passed",), PARQUET),
    Bad("no archive", lambda r: (r / "log.eval").write_bytes(b"PK\x03\x04 no"), ("log.eval",), EVAL),
    Bad("a cut archive", cut(zipped({"header.json": HEADER}), "log.eval", 60), ("log.eval",), EVAL),
    Bad("an archive without a log", zipped({"x.txt": b"x"}), ("log.eval",), EVAL),
    Bad("a bomb in an archive", zipped({"header.json": b"[" + b" " * (300 << 20) + b"]"}), ("log.eval",), EVAL),
    Bad("a path out of an archive", zipped({"../header.json": HEADER}), ("log.eval",), EVAL),
    Bad("an unknown format", GOOD, ("--format", "nosuch"), "judge log.jsonl --format nosuch --out out"),
    Bad("a column that isn't there", GOOD, ("no column nosuch",), "judge log.jsonl --map wall_s=nosuch --out out"),
    Bad("a mapping without a sign", GOOD, ("--map", "OURS=THEIRS"), "judge log.jsonl --map passed --out out"),
    Bad("a threshold that is none", GOOD, ("threshold",), "judge log.jsonl --threshold high --out out"),
    Bad("both kinds of logs", GOOD, ("logs of both arms",), "judge log.jsonl --candidate log.jsonl --control log.jsonl --out out"),
    Bad("no logs", GOOD, ("candidate and control",), "judge --candidate log.jsonl --out out"),
    Bad("a protocol that isn't there", GOOD, ("p.yaml",), "judge log.jsonl --protocol p.yaml --out out"),
    Bad("strata that aren't there", GOOD, ("s.csv",), "judge log.jsonl --strata s.csv --out out"),
    Bad("an allowlist that isn't there", GOOD, ("a.yaml",), "judge log.jsonl --allow a.yaml --out out"),
    Bad("a place that is taken", GOOD, ("--out", "there already"), "judge log.jsonl --out ."),
]  # fmt: skip


def test_there_are_as_many_cases_as_promised() -> None:
    assert len({case.name for case in CASES}) == len(CASES) >= 60


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name.replace(" ", "-"))
def test_a_log_that_can_not_be_read_is_refused_in_one_line(
    case: Bad, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    if callable(case.log):
        case.log(tmp_path)
    else:
        (tmp_path / "log.jsonl").write_bytes(case.log.encode() if isinstance(case.log, str) else case.log)
    before = None if case.log is fifo else snapshot(tmp_path)
    ended: Ended = call(monkeypatch, capfd, tmp_path, case.command)
    assert ended.code == 2, ended.err
    assert ended.err.startswith("weighbridge: "), ended.err
    assert ended.err.count("\n") == 1, ended.err
    assert len(ended.err) < 1600
    for word in case.words:
        assert word in ended.err, f"{word!r} isn't in {ended.err}"
    assert ended.out == ""
    assert before is None or snapshot(tmp_path) == before


def test_line_ends_and_a_missing_last_one_change_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    rows = "".join(GOOD.replace('"a"', f'"a{i}"') for i in range(20))
    said = []
    for text in (rows, rows.replace("\n", "\r\n"), rows.rstrip("\n")):
        (tmp_path / "log.jsonl").write_bytes(text.encode())
        ended = call(monkeypatch, capfd, tmp_path, "judge log.jsonl --json")
        assert ended.code == 0, ended.err
        decision = json.loads(ended.out)
        decision["imported"].pop("sources")
        decision.pop("manifest_sha256")
        said.append(decision)
    assert said[0] == said[1] == said[2]


def test_a_torn_last_line_loses_one_row_and_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    rows = "".join(GOOD.replace('"a"', f'"a{i}"') for i in range(20))
    (tmp_path / "log.jsonl").write_bytes(rows.encode() + b'{"item_id": "a20", "ar')
    ended = call(monkeypatch, capfd, tmp_path, "judge log.jsonl --json")
    decision = json.loads(ended.out)
    kinds = {f["kind"]: f["found"] for f in decision["findings_of_read"]}
    assert "line 41 is cut off" in kinds["torn_line"]
    assert "log_unsound" in decision["reasons"]
    assert decision["counts"]["planned"] == 40


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes here")
def test_a_pipe_or_a_device_in_the_place_of_a_log_is_refused_unread(tmp_path: Path) -> None:
    pipe = tmp_path / "rows.jsonl"
    os.mkfifo(pipe)
    for path in (pipe, Path(os.devnull)):
        with pytest.raises(InputError, match="is no regular file"):
            format_of([path], "table")
