"""The envelope: every limit is a rule, all attempts lie inside, and what isn't known lies outside."""

from __future__ import annotations

import json
import time
from typing import Any

import pytest

from stages.contract.errors import InputError
from stages.contract.protocol import Envelope
from stages.contract.stamp import Stamp
from stages.contract.types import validate
from stages.session import parse_stamp, parse_stamps, violations

ENVELOPE = Envelope(servers=["srv-a", "local:*"], max_queue_ms=4000, max_retries=1, quota_states=["ok", "local"])


def raw(**changes: Any) -> dict[str, Any]:
    stamp = {
        "item_id": "a",
        "arm": "candidate",
        "repeat": 0,
        "attempt": 1,
        "evidence": "recorded",
        "started_at": "2026-03-01T10:00:00Z",
        "server_id": "srv-a",
        "queue_ms": 12.5,
        "retries": 0,
        "quota_state": "ok",
        "route_changed": False,
    }
    return {k: v for k, v in {**stamp, **changes}.items() if v != "drop"}


def stamp(**changes: Any) -> Stamp | str:
    return parse_stamp(json.dumps(raw(**changes)), "here")


def found(*stamps: Stamp | str, attempts: int = 1, envelope: Envelope = ENVELOPE) -> list[tuple[str, str]]:
    return list(violations(stamps, attempts, envelope))


def test_a_stamp_inside_breaks_nothing_and_limits_themselves_are_inside() -> None:
    assert found(stamp()) == []
    assert found(stamp(queue_ms=4000, retries=1, quota_state="local", server_id="local:")) == []


@pytest.mark.parametrize(
    ("changes", "rule", "words"),
    [
        ({"server_id": "srv-b"}, "foreign_server", "attempt 1: server_id srv-b, allowed srv-a, local:*"),
        ({"queue_ms": 4000.1}, "queue_delay", "attempt 1: queue_ms 4000.1, at most 4000"),
        ({"retries": 2}, "retries", "attempt 1: retries 2, at most 1"),
        ({"quota_state": "exhausted"}, "quota_state", "attempt 1: quota_state exhausted, allowed ok, local"),
        ({"route_changed": True}, "route_change", "attempt 1: the route changed during the trial"),
        ({"evidence": "asserted"}, "missing_stamp", "attempt 1: asserted by a person"),
    ],
)
def test_each_limit_is_a_rule_that_names_what_was_found(changes: dict[str, Any], rule: str, words: str) -> None:
    assert found(stamp(**changes))[0] == (rule, words)


@pytest.mark.parametrize("name", ["server_id", "queue_ms", "retries", "quota_state", "route_changed"])
def test_a_missing_key_is_a_missing_stamp_and_null_with_a_reason_is_unavailable(name: str) -> None:
    missing = stamp(**{name: "drop"})
    assert isinstance(missing, str)
    assert found(missing)[0] == ("missing_stamp", missing)
    assert name in missing
    unavailable = stamp(**{name: None, f"{name}_why": "no header"})
    assert found(unavailable) == [("stamp_unavailable", f"attempt 1: {name} unavailable: no header")]
    assert isinstance(stamp(**{name: None}), str), "null without a reason"
    assert isinstance(stamp(**{f"{name}_why": "both"}), str), "a value and a reason"


@pytest.mark.parametrize("name", ["item_id", "arm", "repeat", "attempt", "evidence", "started_at"])
def test_every_other_required_key_is_required_too(name: str) -> None:
    assert isinstance(stamp(**{name: "drop"}), str)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "null",
        "[]",
        "{",
        '{"a": 1}',
        "NaN",
        '{"item_id": "a", "item_id": "b"}',
        "\ud800",
        json.dumps(raw(queue_ms=-1)),
    ]
    + [json.dumps(raw(**{k: v})) for k, v in [("retries", True), ("retries", "0"), ("queue_ms", "5"), ("attempt", 0)]]
    + [json.dumps(raw(**{k: v})) for k, v in [("started_at", "10:00"), ("quota_state", "fine"), ("extra", 1)]]
    + [json.dumps(raw()).replace("12.5", "1e999")],
)
def test_what_is_no_stamp_is_one_line_of_why(text: str) -> None:
    why = parse_stamp(text, "stamp of a")
    assert isinstance(why, str)
    assert why.startswith("stamp of a")
    assert why.isprintable()


def test_all_attempts_must_be_inside_and_none_may_be_missing() -> None:
    two = [stamp(), stamp(attempt=2, retries=1)]
    assert found(*two, attempts=2) == []
    assert found(two[0], attempts=2) == [("missing_stamp", "1 stamps for 2 attempts")]
    assert found(two[0], two[0], attempts=2) == [("missing_stamp", "1 stamps for 2 attempts")], "the same one twice"
    assert found(two[1], attempts=1) == [("missing_stamp", "0 stamps for 1 attempts")]
    assert found(attempts=0) == [("missing_stamp", "0 stamps for 0 attempts")]
    bad = stamp(route_changed=True)
    assert found(two[1], bad, attempts=2)[0] == ("route_change", "attempt 1: the route changed during the trial")


def test_every_limit_that_is_broken_is_given_so_that_the_registered_ones_can_be_picked() -> None:
    rules = [
        rule
        for rule, _ in found(stamp(server_id="x", queue_ms=1e6, retries=9, quota_state="throttled", route_changed=True))
    ]
    assert rules == ["foreign_server", "queue_delay", "retries", "quota_state", "route_change"]


def test_a_route_change_may_be_allowed() -> None:
    assert found(stamp(route_changed=True), envelope=ENVELOPE.model_copy(update={"allow_route_change": True})) == []


@pytest.mark.parametrize(
    ("pattern", "server", "fits"),
    [
        ("srv-a", "srv-a", True),
        ("srv-a", "srv-ab", False),
        ("srv-a", "SRV-A", False),
        ("srv-a", "srv-a\n", False),
        ("*", "anything\nat all", True),
        ("local:*", "local:", True),
        ("local:*", "xlocal:1", False),
        ("*.example", "a.example", True),
        ("*.example", "a.example.evil", False),
        ("a*b*c", "a--b--c", True),
        ("a*b*c", "ac", False),
        ("a*a", "a", False),
        ("a*a", "aa", True),
        ("ab*ba", "aba", False),
        ("*a*", "bab", True),
        ("**", "", True),
        ("srv.a", "srv-a", False),
        ("srv-[ab]", "srv-a", False),
        ("srv-[ab]", "srv-[ab]", True),
        ("srv-?", "srv-a", False),
        ("srv-(a|b)", "srv-a", False),
        ("srv-a|.*", "other", False),
        ("srv-.+", "srv-1", False),
        ("\\*", "\\x", True),
        ("{a,b}", "a", False),
    ],
)
def test_only_a_star_is_special_in_a_pattern(pattern: str, server: str, fits: bool) -> None:
    envelope = Envelope(servers=[pattern])
    one = validate(Stamp, raw(server_id=server or "x"), "here").model_copy(update={"server_id": server})
    assert (found(one, envelope=envelope) == []) is fits


def test_a_pattern_of_many_stars_takes_no_time() -> None:
    envelope = Envelope(servers=["*".join("a" * 100) + "b"])
    started = time.perf_counter()
    assert found(stamp(server_id="a" * 500), envelope=envelope)[0][0] == "foreign_server"
    assert time.perf_counter() - started < 1


def test_the_ledgers_stamps_are_a_list_of_texts_or_the_ledger_is_refused() -> None:
    one = json.dumps(raw())
    assert parse_stamps(json.dumps([one, "{"]), "here")[0] == stamp()
    assert isinstance(parse_stamps(json.dumps([one, "{"]), "here")[1], str)
    assert parse_stamps("[]", "here") == []
    for bad in ("", "{}", "[1]", one, '["a"', "\ud800"):
        with pytest.raises(InputError, match="here"):
            parse_stamps(bad, "here")
