"""Rows of the session-stamp article give two arms, and its own gate stands beside them as the article prints it."""

from __future__ import annotations

import csv
import io
import json
import random
from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from fractions import Fraction
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from stages.contract.errors import WeighbridgeError
from stages.ingest.model import Notes, Options, Reading
from stages.ingest.session_gate import FORMAT
from stages.ingest.session_gate_rule import Row

NAMES = Row._fields
ENVELOPE = {"servers": ["srv-lab-a"], "max_queue_ms": 4000, "max_retries": 1, "quota_states": ["ok", "within_budget"]}
PROTOCOL = {"envelope": ENVELOPE, "min_detectable_effect": 0.05, "min_kept_items": 8}

# task, stratum, digest, baseline, candidate, queue, retries, quota, server, route: the article's ten rows
ARTICLE = [
    ("t1", "repair", "a1", 1, 1, 800, 0, "ok", "srv-lab-a", False),
    ("t2", "repair", "a2", 0, 1, 900, 0, "ok", "srv-lab-a", False),
    ("t3", "repair", "a3", 1, 1, 1200, 0, "ok", "srv-lab-a", False),
    ("t4", "migration", "b1", 0, 0, 1500, 1, "ok", "srv-lab-a", False),
    ("t5", "migration", "b2", 0, 1, 9000, 0, "ok", "srv-lab-a", False),
    ("t6", "migration", "b3", 1, 1, 700, 0, "exhausted", "srv-lab-a", False),
    ("t7", "explain", "c1", 1, 1, 600, 0, "ok", "srv-lab-a", False),
    ("t8", "explain", "c2", 0, 1, 650, 0, "ok", "srv-other", False),
    ("t9", "explain", "c3", 1, 0, 700, 0, "ok", "srv-lab-a", True),
    ("t10", "repair", "a4", 0, 1, 500, 0, "within_budget", "srv-lab-a", False),
]


def objects(rows: Sequence[Sequence[Any]]) -> list[dict[str, Any]]:
    return [dict(zip(NAMES, row, strict=True)) for row in rows]


def as_json(rows: Sequence[Sequence[Any]]) -> bytes:
    return json.dumps(objects(rows), indent=1).encode()


def as_lines(rows: Sequence[Sequence[Any]]) -> bytes:
    return b"".join(json.dumps(row).encode() + b"\n" for row in objects(rows))


def as_csv(rows: Sequence[Sequence[Any]]) -> bytes:
    made = io.StringIO()
    writer = csv.writer(made)
    writer.writerow(NAMES)
    writer.writerows(rows)
    return made.getvalue().encode()


def look(path: Path, data: bytes, protocol: dict[str, Any] | None = None) -> tuple[Reading, Notes]:
    path.write_bytes(data)
    notes = Notes()
    return FORMAT.read([path], Options(protocol=PROTOCOL if protocol is None else protocol), notes), notes


def legacy(path: Path, rows: Sequence[Sequence[Any]], protocol: dict[str, Any] | None = None) -> dict[str, Any]:
    made: dict[str, Any] = look(path, as_lines(rows), protocol)[0].legacy["session_gate"]
    return made


@pytest.mark.parametrize("written", [as_json, as_lines, as_csv])
def test_the_articles_fixture_is_refused_as_the_article_says(tmp_path: Path, written: Any) -> None:
    path = tmp_path / "rows"
    reading, notes = look(path, written(ARTICLE))
    assert FORMAT.sniff(path)
    assert not notes.findings
    said = reading.legacy["session_gate"]
    assert list(said) == ["slice_digest", "n_seen", "n_kept", "dropped", "stratum_deltas", "headline", "reason"]
    assert said == {
        "slice_digest": "d5a42ddb731e9e12",
        "n_seen": 10,
        "n_kept": 6,
        "dropped": ["t5", "t6", "t8", "t9"],
        "stratum_deltas": {"explain": 0.0, "migration": 0.0, "repair": 0.5},
        "headline": None,
        "reason": "too_few_clean_tasks",
    }


def test_a_row_is_one_trial_in_each_arm_under_one_session(tmp_path: Path) -> None:
    rows = look(tmp_path / "rows", as_lines(ARTICLE))[0].rows.to_pylist()
    assert len(rows) == 20
    # counted by hand: the baseline passed t1 t3 t6 t7 t9, the candidate all but t4 and t9
    assert Counter(r["arm"] for r in rows if r["status"] == "passed") == {"control": 5, "candidate": 8}
    assert {r["item_id"] for r in rows} == {f"t{i}" for i in range(1, 11)}
    control, candidate = rows[8:10]
    same = ("item_id", "stratum", "queue_ms", "retries", "quota_state", "server_id", "route_changed", "item_digest")
    assert [control[k] for k in same] == ["t5", "migration", 9000.0, 0, "ok", "srv-lab-a", False, "b2"]
    assert {k: candidate[k] for k in same} == {k: control[k] for k in same}
    assert (control["status"], candidate["status"]) == ("failed", "passed")
    assert (control["evidence"], control["line"], control["repeat"]) == ("exported", 5, None)


def by_hand(rows: Sequence[Sequence[Any]], protocol: dict[str, Any]) -> dict[str, Any] | None:
    """The rule once more, in exact fractions, stratum by stratum and without short cuts; None at an exact tie of
    spread and effect, where the article's floats decide by their rounding."""
    envelope = protocol["envelope"]
    kept: list[Sequence[Any]] = []
    dropped: list[Sequence[Any]] = []
    for row in rows:
        bad = [
            row[5] > envelope["max_queue_ms"],
            row[6] > envelope["max_retries"],
            row[7] not in envelope["quota_states"],
            row[8] != envelope["servers"][0],
            row[9] is True,
        ]
        (dropped if any(bad) else kept).append(row)
    deltas = {}
    for name in sorted({row[1] for row in kept}):
        mine = [row for row in kept if row[1] == name]
        wins = sum(1 for row in mine if (row[3], row[4]) == (0, 1))
        losses = sum(1 for row in mine if (row[3], row[4]) == (1, 0))
        deltas[name] = Fraction(wins - losses, len(mine))
    text = "|".join(":".join((row[0], row[2], row[1])) for row in rows)
    said: dict[str, Any] = {
        "slice_digest": sha256(text.encode()).hexdigest()[:16],
        "n_seen": len(rows),
        "n_kept": len(kept),
        "dropped": [row[0] for row in dropped],
        "stratum_deltas": {name: float(value) for name, value in deltas.items()},
        "headline": None,
        "reason": "too_few_clean_tasks",
    }
    if len(kept) < protocol["min_kept_items"]:
        return said
    passed = [sum(row[at] for row in kept) for at in (3, 4)]
    effect = Fraction(passed[1] - passed[0], len(kept))
    said["paired_delta"] = round(float(effect), 4)
    if abs(effect) < Fraction(str(protocol["min_detectable_effect"])):
        said["reason"] = "below_minimum_detectable_effect"
        return said
    ordered = sorted(deltas.values())
    width = ordered[-1] - ordered[0] if len(ordered) > 1 else Fraction(1)
    if width == abs(effect):
        return None
    if width > abs(effect):
        said["reason"] = "stratum_spread_crosses_zero"
        return said
    return {**said, "headline": said["paired_delta"], "reason": "publish_blocked_delta_only"}


def drawn(random_: random.Random) -> tuple[list[tuple[Any, ...]], dict[str, Any]]:
    lean = random_.choice([0.0, 0.1, 0.5, 0.9])
    rows = []
    for number in range(random_.randint(1, 60)):
        base = random_.random() < 0.4
        candidate = base if random_.random() > lean else random_.random() < random_.choice([0.2, 0.95])
        session = (
            random_.choice([10, 3999, 4000, 4001]) if random_.random() < 0.2 else 100.5,
            random_.choice([0, 0, 0, 1, 2]),
            random_.choice(["ok", "within_budget", "ok", "ok", "odd"]),
            random_.choice(["srv-lab-a"] * 9 + ["srv-b"]),
            random_.random() < 0.05,
        )
        stratum = random_.choice(["repair", "migration", "explain"][: random_.randint(1, 3)])
        rows.append((f"t{number}", stratum, f"d{number}", int(base), int(candidate), *session))
    effect = random_.choice([0.01, 0.05, 0.3])
    return rows, {**PROTOCOL, "min_detectable_effect": effect, "min_kept_items": random_.choice([1, 4, 8])}


def test_every_branch_agrees_with_a_recomputation_in_fractions(tmp_path: Path) -> None:
    random_, reasons, ties = random.Random(6), Counter[str](), 0
    for _ in range(300):
        rows, protocol = drawn(random_)
        expected = by_hand(rows, protocol)
        if expected is None:
            ties += 1
            continue
        said = legacy(tmp_path / "rows.jsonl", rows, protocol)
        assert said == expected
        assert list(said) == list(expected)
        reasons[said["reason"]] += 1
    assert set(reasons) == {
        "too_few_clean_tasks",
        "below_minimum_detectable_effect",
        "stratum_spread_crosses_zero",
        "publish_blocked_delta_only",
    }
    assert min(reasons.values()) >= 5, reasons
    assert ties < 60


def test_one_stratum_alone_crosses_zero_unless_every_task_is_won(tmp_path: Path) -> None:
    rows = [(f"t{i}", "repair", "d", 0, int(i < 9), 1, 0, "ok", "srv-lab-a", False) for i in range(10)]
    assert legacy(tmp_path / "a", rows)["reason"] == "stratum_spread_crosses_zero"
    won = [(*row[:4], 1, *row[5:]) for row in rows]
    assert legacy(tmp_path / "a", won)["reason"] == "stratum_spread_crosses_zero"  # effect 1, width 1: zero is met
    two = [*won, *[(*row[:1], "explain", *row[2:]) for row in won]]
    assert legacy(tmp_path / "a", two)["headline"] == 1.0


@pytest.mark.parametrize(
    ("servers", "names"), [(["local:*"], "no names"), (["a", "b"], "2 names"), (None, "no names"), (["*", "x*"], "no")]
)
def test_without_one_exact_server_only_the_articles_gate_is_refused(tmp_path: Path, servers: Any, names: str) -> None:
    protocol = {} if servers is None else {"envelope": {"servers": servers}}
    reading, _ = look(tmp_path / "rows", as_lines(ARTICLE), protocol)
    assert names in reading.legacy["session_gate"]["refused"]
    assert reading.rows.num_rows == 20


def test_patterns_beside_the_one_server_are_no_second_server(tmp_path: Path) -> None:
    protocol = {**PROTOCOL, "envelope": {**ENVELOPE, "servers": ["local:*", "srv-lab-a"]}}
    assert legacy(tmp_path / "rows", ARTICLE, protocol)["n_kept"] == 6


def test_rows_that_say_they_are_synthetic_stay_so(tmp_path: Path) -> None:
    marked = [{**row, "synthetic": True, "api_key": "sk-very-secret"} for row in objects(ARTICLE)]
    reading, notes = look(tmp_path / "rows", json.dumps(marked).encode())
    assert [(f.kind, f.count) for f in notes.findings] == [("synthetic", 10)]
    assert "sk-very-secret" not in json.dumps(reading.rows.to_pylist())


@pytest.mark.parametrize("written", [as_lines, as_csv])
def test_a_torn_last_line_is_noted_and_the_rest_is_read(tmp_path: Path, written: Any) -> None:
    reading, notes = look(tmp_path / "rows", written(ARTICLE)[:-30])
    assert [f.kind for f in notes.findings] == ["torn_line"]
    assert reading.rows.num_rows == 18
    assert reading.legacy["session_gate"]["n_seen"] == 9


def test_a_task_that_stands_twice_comes_out_twice(tmp_path: Path) -> None:
    assert look(tmp_path / "rows", as_lines([*ARTICLE, ARTICLE[0]]))[0].rows.num_rows == 22


def changed(**values: Any) -> bytes:
    return json.dumps([{**objects(ARTICLE)[0], **values}]).encode()


def without(name: str) -> bytes:
    return json.dumps([{k: v for k, v in objects(ARTICLE)[0].items() if k != name}]).encode()


MALFORMED = {
    "empty": b"",
    "no rows": b"[]",
    "header only": as_csv([]),
    "torn array": as_json(ARTICLE)[:-9],
    "a number in the array": b"[1]",
    "pass as text": changed(baseline_pass="1"),
    "pass of 2": changed(candidate_pass=2),
    "pass of null": changed(candidate_pass=None),
    "negative queue": changed(queue_ms=-1),
    "queue of true": changed(queue_ms=True),
    "queue of NaN": as_json(ARTICLE).replace(b"800", b"NaN"),
    "queue of 400 digits": as_json(ARTICLE).replace(b"800", b"8" * 400),
    "retries of 0.5": changed(retries=0.5),
    "route of 0": changed(route_changed=0),
    "server of null": changed(server_id=None),
    "empty task": changed(task_id=""),
    "control character": changed(task_id="t\u0007"),
    "half a surrogate": as_json(ARTICLE).replace(b'"t1"', b'"\\ud800"'),
    "synthetic as text": changed(synthetic="yes"),
    "key twice": as_json(ARTICLE).replace(b'"digest"', b'"task_id"', 1),
    "latin-1": as_json(ARTICLE).replace(b"repair", b"r\xe9pair"),
    "byte-order mark": b"\xef\xbb\xbf" + as_csv(ARTICLE),
    "deep": b"[" * 5000 + b"]" * 5000,
    "bad line in the middle": as_lines(ARTICLE).replace(b'{"task_id": "t3"', b'{"task_id" "t3"'),
    "csv without a column": as_csv(ARTICLE).replace(b"quota_state", b"quota"),
    "csv with a column twice": as_csv(ARTICLE).replace(b"quota_state", b"digest"),
    "csv with a short row": as_csv(ARTICLE).replace(b"t3,repair,", b"t3,"),
    "csv with an open quote": as_csv(ARTICLE).replace(b"t3,", b'"t3,'),
    "csv route of 1": as_csv(ARTICLE).replace(b"False", b"1", 1),
    **{f"no {name}": without(name) for name in NAMES},
}


@pytest.mark.parametrize("data", MALFORMED.values(), ids=MALFORMED)
def test_what_is_no_session_row_is_refused_in_one_line(tmp_path: Path, data: bytes) -> None:
    with pytest.raises(WeighbridgeError) as caught:
        look(tmp_path / "rows", data)
    assert caught.value.exit_code == 2
    assert "\n" not in str(caught.value)


def test_folders_absent_files_and_several_files_are_refused(tmp_path: Path) -> None:
    for paths in ([tmp_path], [tmp_path / "none"], [], [tmp_path, tmp_path]):
        with pytest.raises(WeighbridgeError):
            FORMAT.read(paths, Options(protocol=PROTOCOL), Notes())
    assert not FORMAT.sniff(tmp_path)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.sampled_from([as_json, as_lines, as_csv]), st.integers(0, 3000), st.integers(0, 255), st.booleans())
def test_cut_or_changed_bytes_give_an_error_or_a_reading(
    tmp_path: Path, written: Any, at: int, byte: int, cut: bool
) -> None:
    data = written(ARTICLE)
    at %= len(data)
    with suppress(WeighbridgeError):
        look(tmp_path / "rows", data[:at] if cut else data[:at] + bytes([byte]) + data[at + 1 :])
