"""A log of stamps by any logger: each malformed line is refused by name, here and by the gate, and nothing else is."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from random import Random
from typing import Any

import jsonschema
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from stages.contract import layout
from stages.contract.digest import canonical
from stages.contract.errors import InputError, MissingInput
from stages.contract.protocol import Envelope
from stages.contract.schemas import json_schema
from stages.contract.stamp import Call, Stamp
from stages.contract.stampwords import EXAMPLE, WORDS
from stages.contract.types import plain, validate
from stages.gate.stamped import own_stamps
from stages.session import check, violations
from stages.session.check import check_log, read_envelope, read_trials_of
from stages.session.checked import MOST, Checked, check_lines
from stages.session.dialects import read_call
from stages.session.summary import stamp_of
from tests.session.exchanges import exchange
from tests.session.malformed import MALFORMED, TIMING, USAGE, good
from tests.support.mini import REPO

NOW = datetime(2026, 3, 2, tzinfo=UTC)
RAN = (datetime(2026, 3, 1, 10, tzinfo=UTC), datetime(2026, 3, 1, 10, 0, 9, tzinfo=UTC))
PLANNED = ({"a"}, 3, 2)


def write(path: Path, lines: Iterable[str | bytes]) -> Path:
    path.write_bytes(
        b"".join((x if isinstance(x, bytes) else x.encode("utf-8", "surrogatepass")) + b"\n" for x in lines)
    )
    return path


def checked(tmp_path: Path, *lines: str | bytes, envelope: Envelope | None = None, planned: Any = PLANNED) -> Checked:
    return check_log(write(tmp_path / "stamps.jsonl", lines), envelope or Envelope(), planned, NOW)


def test_there_are_at_least_forty_of_them() -> None:
    assert len(MALFORMED) >= 40


@pytest.mark.parametrize("name", MALFORMED)
def test_the_gate_excludes_the_trial_of_each_malformed_stamp_by_name(name: str) -> None:
    bad = MALFORMED[name]
    texts = [line.decode("utf-8", "replace") if isinstance(line, bytes) else line for line in bad.lines]
    if name == "not UTF-8":
        pytest.skip("a table's text is UTF-8 already")
    column = canonical([text.encode("utf-8", "replace").decode() for text in texts]).decode()
    stamps = own_stamps(("a", "candidate", 0), column)
    attempts = 2 if name in ("out of order", "a gap", "unknown attempt") else 1
    found = list(violations(stamps, attempts, Envelope(), RAN))
    assert found[0][0] == "missing_stamp"
    assert any(rule == "missing_stamp" and bad.says in what for rule, what in found), found
    assert all(what.isprintable() for _, what in found)


@pytest.mark.parametrize("name", MALFORMED)
def test_each_malformed_line_of_a_log_is_named_with_its_number(name: str, tmp_path: Path) -> None:
    bad = MALFORMED[name]
    before = json.dumps(good(arm="control"))
    found = checked(tmp_path, before, *bad.lines)
    if not bad.log:
        assert found.exit_code == 0, "only the trial's own time can tell"
        return
    assert found.exit_code == (1 if bad.reads else 2)
    assert (found.unreadable, found.invalid) == (
        (len(bad.lines), 0) if bad.rule == "unreadable" else (0, 0 if bad.reads else 1)
    )
    named = [p for p in found.problems if bad.log in p.found]
    assert [p.rule for p in named] == [bad.rule]
    assert named[0].line in (0, 1 + len(bad.lines))
    assert len(found.problems) == 1, found.problems
    assert found.summary()["arms"]["control"] == {"stamps": 1, "trials": 1, "inside": 1, "rules": {}}
    assert found.summary()["arms"]["candidate"]["inside"] == 0
    assert all(line.isprintable() and len(line) < 1000 for line in check_lines(found))


@pytest.mark.parametrize("name", MALFORMED)
def test_the_schema_refuses_what_a_schema_can(name: str) -> None:
    bad = MALFORMED[name]
    if bad.rule == "unreadable":
        return
    validator = jsonschema.Draft202012Validator(json_schema("stamp"))
    assert validator.is_valid(json.loads(bad.lines[-1])) is not bad.schema


def test_the_schemas_take_examples_and_real_records_and_say_what_every_field_is() -> None:
    stamp, call = (jsonschema.Draft202012Validator(json_schema(name)) for name in ("stamp", "call"))
    assert stamp.schema["examples"] == [EXAMPLE]
    for one in (EXAMPLE, good()):
        stamp.validate(one)
        validate(Stamp, one, "here")
    made = plain(read_call(exchange(), 1))
    call.validate(made)
    validate(Call, made, "here")
    for schema in (stamp.schema, call.schema):
        parts = {schema["title"]: schema, **schema["$defs"]}
        for title, part in parts.items():
            assert set(part["properties"]) == set(WORDS[title]), title
            assert all(said["description"].endswith(".") for said in part["properties"].values())
    for name in made:
        if name not in ("why", "failure", "error_code") and made[name] is None:
            assert not call.is_valid({**made, "why": {}}), name


@pytest.mark.parametrize("example", [EXAMPLE, good()])
def test_schema_and_model_agree_on_every_null(example: dict[str, Any]) -> None:
    validator = jsonschema.Draft202012Validator(json_schema("stamp"))

    def takes(value: dict[str, Any]) -> bool:
        try:
            validate(Stamp, value, "here")
        except InputError:
            return False
        return True

    for name, value in example.items():
        inner = [f"{name}.{k}" for k in value] if isinstance(value, dict) and name != "why" else []
        for field in [name, *inner]:
            group, _, part = field.partition(".")
            null = {**example, group: {**example[group], part: None} if part else None}
            told = {**null, "why": {**example["why"], field: "not told"}}
            assert validator.is_valid(null) >= takes(null), field
            assert validator.is_valid(told) >= takes(told), field
            if takes(told) and not takes(null):
                assert not validator.is_valid(null), field


def test_a_log_inside_is_inside_whatever_the_logger_did_with_white_space(tmp_path: Path) -> None:
    lines = [json.dumps(good(arm=arm, repeat=r), indent=None) for arm in ("candidate", "control") for r in range(3)]
    found = checked(tmp_path, *(f" {line} \r" for line in lines), "", "  ")
    assert found.exit_code == 0
    assert found.summary()["arms"]["candidate"] == {"stamps": 3, "trials": 3, "inside": 3, "rules": {}}
    assert list(check_lines(found)) == [
        "6 lines: 6 stamps, 0 unreadable, 0 against the schema",
        "candidate: 3 stamps, 3 of 3 trials inside",
        "control: 3 stamps, 3 of 3 trials inside",
    ]


def test_a_trial_is_inside_only_if_all_of_its_attempts_are(tmp_path: Path) -> None:
    found = checked(
        tmp_path,
        json.dumps(good(queue_ms=9000.0, conversation_empty=False)),
        json.dumps(good(attempt=2, retries=1)),
        json.dumps(good(repeat=1)),
        json.dumps(good(arm="control", server_id=None, retries=None)),
    )
    arms = found.summary()["arms"]
    assert found.exit_code == 1
    assert arms["candidate"] == {
        "stamps": 3,
        "trials": 2,
        "inside": 1,
        "rules": {"conversation_empty": 1, "queue_delay": 1},
    }
    assert arms["control"]["rules"] == {"stamp_unavailable": 1}, (
        "a trial counts once, though two fields are unavailable"
    )
    assert [(p.line, p.rule) for p in found.problems][:2] == [(1, "queue_delay"), (1, "conversation_empty")]


def test_trials_of_the_plan_without_a_stamp_are_counted(tmp_path: Path) -> None:
    for lines, absent in (([], 6), ([json.dumps(good())], 5), ([json.dumps(good(item_id="x"))], 6)):
        found = check_log(write(tmp_path / "log", lines), None, PLANNED, NOW)
        assert (found.absent, found.shown()["absent"]) == (absent, absent)
        assert f"{absent} trials of the plan have no stamp here" in list(check_lines(found))
    assert check_log(tmp_path / "log", None, None, NOW).absent is None


def test_without_an_envelope_no_limit_is_applied_and_without_a_plan_no_trial_is_unknown(tmp_path: Path) -> None:
    log = write(tmp_path / "log", [json.dumps(good(item_id="x", queue_ms=1e9, server_id="elsewhere", repeat=99))])
    assert check_log(log, None, None, NOW).exit_code == 0
    assert check_log(log, Envelope(), PLANNED, NOW).summary()["arms"]["candidate"]["rules"] == {
        "foreign_server": 1,
        "missing_stamp": 1,
        "queue_delay": 1,
    }


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        (
            {"timing": {**TIMING, "headers_ms": 183.0, "total_ms": 0.9}},
            "headers_ms 183 is more than timing.total_ms 0.9",
        ),
        (
            {"timing": {**TIMING, "total_ms": 5.2}, "usage": {**USAGE, "output_tokens": 800}},
            "800 tokens of output within",
        ),
    ],
)
def test_what_looks_like_seconds_is_a_note_and_no_violation(
    changes: dict[str, Any], words: str, tmp_path: Path
) -> None:
    status = {"calls": 1, "failed": 0, "last": 200, "last_failure": "none"}
    found = checked(tmp_path, json.dumps(good(status=status, why=good()["why"] | {"status": "x"}, **changes)))
    assert found.problems[0].rule == "missing_stamp", "why.status names a field that isn't null"
    why = {k: v for k, v in good()["why"].items() if k != "status"}
    found = checked(tmp_path, json.dumps(good(status=status, why=why, **changes)))
    assert [(p.rule, words in p.found) for p in found.problems] == [("note", True)]
    assert found.exit_code == 0
    many = {**status, "calls": 2}
    if "usage" not in changes:
        assert not checked(tmp_path, json.dumps(good(status=many, why=why, **changes))).problems, (
            "sums of several calls"
        )


def test_a_start_just_ahead_is_the_other_clock(tmp_path: Path) -> None:
    ahead = [(NOW + timedelta(seconds=s)).isoformat() for s in (60, 61)]
    assert checked(tmp_path, json.dumps(good(started_at=ahead[0]))).exit_code == 0
    assert checked(tmp_path, json.dumps(good(started_at=ahead[1]))).exit_code == 1
    terms = {"text_sha256": "0" * 64, "source": "https://api.example/terms", "read_at": "2031-01-01T00:00:00Z"}
    why = {k: v for k, v in good()["why"].items() if k != "access_terms"}
    found = checked(tmp_path, json.dumps(good(access_terms=terms, why=why)))
    assert [p.found for p in found.problems] == ["future time: access_terms.read_at 2031-01-01T00:00:00+00:00"]


def test_a_line_or_a_file_that_is_too_long_is_named_and_not_held(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(check, "MAX_LINE_BYTES", 2000)
    long = json.dumps(good(item_id="x" * 50_000))
    found = checked(tmp_path, json.dumps(good()), long, json.dumps(good(arm="control")))
    assert [(p.line, p.rule, p.found) for p in found.problems] == [(2, "unreadable", "a line of more than 2,000 bytes")]
    assert (found.lines, found.stamps) == (3, 2)
    exact = json.dumps(good())
    exact += " " * (2000 - len(exact))
    assert checked(tmp_path, exact).exit_code == 0
    monkeypatch.setattr(check, "MAX_FILE_BYTES", 10)
    with pytest.raises(InputError, match="is larger than 10 bytes"):
        checked(tmp_path, exact)


def test_what_is_no_log_is_said_in_a_line(tmp_path: Path) -> None:
    with pytest.raises(MissingInput):
        check_log(tmp_path / "none", None, None, NOW)
    with pytest.raises(InputError, match="no regular file"):
        check_log(tmp_path, None, None, NOW)
    assert checked(tmp_path).exit_code == 0


def test_only_so_many_problems_are_listed_and_all_are_counted(tmp_path: Path) -> None:
    found = checked(tmp_path, *["{}"] * (MOST + 5))
    assert (len(found.problems), found.total) == (MOST, MOST + 5)
    assert "and 5 more" in list(check_lines(found))
    assert found.summary()["no_trial"] == {"missing_stamp": MOST + 5}


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(st.text(max_size=8) | st.sampled_from(list(good())), inner, max_size=6)
    ),
    max_leaves=20,
)
changed = st.dictionaries(st.sampled_from([*good(), "extra"]), json_values | st.just("drop"), max_size=4)


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.lists(json_values | changed.map(lambda c: {k: v for k, v in {**good(), **c}.items() if v != "drop"}), max_size=3)
)
def test_any_json_value_as_a_line_ends_in_a_summary(tmp_path: Path, values: list[Any]) -> None:
    lines = [json.dumps(value, ensure_ascii=True) for value in values]
    found = checked(tmp_path, *lines)
    assert found.lines == len(lines)
    assert all(line.isprintable() for line in check_lines(found))
    json.dumps(found.shown(), allow_nan=False).encode()


@settings(max_examples=50, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.binary(max_size=60))
def test_any_bytes_are_lines(tmp_path: Path, data: bytes) -> None:
    assert checked(tmp_path, data).exit_code in (0, 1, 2)


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.sampled_from(list(MALFORMED)), max_size=12), st.integers())
def test_the_order_of_lines_changes_no_summary(tmp_path: Path, names: list[str], seed: int) -> None:
    lines = [json.dumps(good(arm="control")), *(line for name in names for line in MALFORMED[name].lines)]
    mixed = Random(seed).sample(lines, len(lines))
    one, two = checked(tmp_path, *lines), checked(tmp_path, *mixed)
    assert (one.summary(), one.exit_code) == (two.summary(), two.exit_code)


def test_the_envelope_is_read_from_parameters_a_protocol_or_alone(tmp_path: Path) -> None:
    assert read_envelope(REPO / layout.PARAMS) == Envelope()
    limits = {"servers": ["api.example:*"], "aliases": {"m": "m-2026-01-31"}}
    for name, value in (
        ("a.json", {"envelope": limits}),
        ("b.json", limits),
        ("c.json", {"protocol": {"envelope": limits}}),
    ):
        (tmp_path / name).write_text(json.dumps(value))
        assert read_envelope(tmp_path / name).aliases == {"m": "m-2026-01-31"}
    (tmp_path / "d.yaml").write_text("max_queue: 3\n")
    with pytest.raises(InputError, match="did you mean 'max_queue_ms'"):
        read_envelope(tmp_path / "d.yaml")
    items, repeats, attempts = read_trials_of(REPO / layout.PLAN)
    assert (len(items), repeats, attempts) == (45, 3, 2)


def run(*words: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "stages", "stamps", "check", *words]
    return subprocess.run(command, capture_output=True, text=True, cwd=REPO, timeout=60, check=False)


def test_the_command_ends_with_0_inside_1_outside_and_2_where_a_line_is_no_stamp(tmp_path: Path) -> None:
    inside = write(tmp_path / "inside", [json.dumps(good())])
    ended = run(str(inside), "--envelope", "params.yaml", "--json")
    assert (ended.returncode, ended.stderr) == (0, "")
    assert json.loads(ended.stdout)["arms"]["candidate"]["inside"] == 1
    outside = run(str(write(tmp_path / "outside", [json.dumps(good(queue_ms=5000.0))])), "--envelope", "params.yaml")
    assert (outside.returncode, outside.stderr) == (1, "")
    assert outside.stdout.startswith("line 1: queue_delay: queue_ms 5000, at most 4000\n")
    ended = run(str(write(tmp_path / "cut", [json.dumps(good()), "{"])))
    assert ended.returncode == 2
    assert ended.stdout.startswith("line 2: unreadable: can't be read as JSON")
    ended = run(str(write(tmp_path / "typed", [json.dumps(good()), json.dumps(good(queue_ms="5 ms", arm="control"))])))
    assert ended.returncode == 2
    assert ended.stdout.startswith("line 2: missing_stamp: stamp: queue_ms: found '5 ms'")
    ended = run(str(tmp_path / "none"))
    assert (ended.returncode, ended.stdout, ended.stderr.count("\n")) == (2, "", 1)


def log_of(count: int, path: Path) -> Path:
    arms = ("candidate", "control")
    return write(
        path, (json.dumps(good(item_id=f"i-{n // 6}", arm=arms[n % 2], repeat=n // 2 % 3)) for n in range(count))
    )


def test_a_line_takes_a_fraction_of_a_millisecond(tmp_path: Path) -> None:
    log = log_of(2000, tmp_path / "log")
    started = time.process_time()
    assert check_log(log, Envelope(), None, NOW).exit_code == 0
    assert time.process_time() - started < 2


@pytest.mark.heavy
def test_a_hundred_thousand_lines_take_seconds(tmp_path: Path) -> None:
    log = log_of(100_000, tmp_path / "log")
    started = time.process_time()
    assert check_log(log, Envelope(), None, NOW).summary()["arms"]["control"]["inside"] == 50_000
    assert time.process_time() - started < 20


def test_a_stamp_that_our_own_dialects_made_passes_the_check(tmp_path: Path) -> None:
    calls = [read_call(exchange(headers={"openai-processing-ms": "12"}), n) for n in (1, 2)]
    made = plain(stamp_of("a", "control", 0, 1, calls, started_at=RAN[0], evidence="recorded"))
    jsonschema.Draft202012Validator(json_schema("stamp")).validate(made)
    assert check_log(write(tmp_path / "log", [json.dumps(made)]), None, PLANNED, NOW).problems == []
    bypassed = plain(stamp_of("a", "control", 0, 1, [], started_at=RAN[0], evidence="recorded"))
    found = checked(tmp_path, json.dumps(bypassed))
    assert found.summary()["arms"]["control"]["rules"] == {"stamp_unavailable": 1}
    assert "bypass" in found.problems[0].found
