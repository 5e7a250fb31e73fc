"""The envelope: every limit is a rule, all attempts lie inside, and what isn't known lies outside."""

from __future__ import annotations

import json
import time
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from stages.contract.errors import InputError
from stages.contract.protocol import Envelope
from stages.contract.stamp import Stamp
from stages.contract.types import plain, validate
from stages.session import parse_stamp, parse_stamps, violations
from stages.session.dialects import read_call
from stages.session.summary import stamp_of
from tests.session.exchanges import ANSWER, NOW, exchange
from tests.support.stamps import SERVED, raw_stamp

ENVELOPE = Envelope(servers=["srv-a", "local:*"], max_queue_ms=4000, max_retries=1, quota_states=["ok", "local"])


def raw(**changes: Any) -> dict[str, Any]:
    stamp = raw_stamp(**{"server_id": "srv-a", "queue_ms": 12.5, "quota_state": "ok", **changes})
    return {k: v for k, v in stamp.items() if v != "drop"}


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
        ({"route_changed": True}, "route_change", "attempt 1: the route changed during the trial: served model: a, b"),
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
    unavailable = stamp(**{name: None})
    assert found(unavailable) == [("stamp_unavailable", f"attempt 1: {name} unavailable: no header")]
    assert isinstance(stamp(**{name: None, "why": raw()["why"]}), str), "null without a reason"
    assert isinstance(stamp(why={**raw()["why"], name: "both"}), str), "a value and a reason"


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
    twice = [("missing_stamp", "1 stamps for 2 attempts"), ("missing_stamp", "attempt 1: duplicate, it has 2 stamps")]
    assert found(two[0], two[0], attempts=2) == twice, "the same one twice"
    beyond = [("missing_stamp", "0 stamps for 1 attempts"), ("missing_stamp", "attempt 2: the trial had 1")]
    assert found(two[1], attempts=1) == beyond
    assert found(attempts=0) == [("missing_stamp", "0 stamps for 0 attempts")]
    bad = stamp(route_changed=True)
    assert found(two[1], bad, attempts=2)[0] == (
        "route_change",
        "attempt 1: the route changed during the trial: served model: a, b",
    )


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


def rules(*stamps: Stamp | str, attempts: int = 1, **limits: Any) -> list[str]:
    return [rule for rule, _ in found(*stamps, attempts=attempts, envelope=ENVELOPE.model_copy(update=limits))]


ANY = {"why": {**raw()["why"], **dict.fromkeys(("served", "requested", "timing"), "not told")}}


def models(asked: list[str] | None, answered: list[str] | None, **more: Any) -> Stamp | str:
    requested = asked and {"model": asked, "host": None, "temperature": None, "seed": None}
    return stamp(
        requested=requested, served=answered and {**dict.fromkeys(SERVED), "model": answered}, **{**ANY, **more}
    )


@pytest.mark.parametrize(
    ("changes", "limits", "rule"),
    [
        ({"queue_ms": 4000.0}, {}, None),
        ({"queue_ms": 4000.001}, {}, "queue_delay"),
        ({"queue_ms": 0.0}, {"max_queue_ms": 0}, None),
        ({"retries": 1}, {}, None),
        ({"retries": 2}, {}, "retries"),
        ({"retries": 0}, {"max_retries": 0}, None),
        ({"quota_state": "within_budget"}, {}, "quota_state"),
        ({"quota_state": "within_budget"}, {"quota_states": ["within_budget"]}, None),
        ({"conversation_empty": False}, {}, "conversation_empty"),
        ({"conversation_empty": None}, {}, None),
        ({"inconsistent": ["two bodies"]}, {}, "stamp_inconsistent"),
        ({"access_terms": None}, {}, None),
        ({"access_terms": None}, {"require_access_terms": True}, "stamp_unavailable"),
    ],
)
def test_each_rule_at_its_border(changes: dict[str, Any], limits: dict[str, Any], rule: str | None) -> None:
    assert rules(stamp(**changes), **limits) == ([rule] if rule else [])


def test_new_rules_say_what_was_found() -> None:
    assert found(stamp(inconsistent=["a", "b"])) == [("stamp_inconsistent", "attempt 1: a; b")]
    terms = ENVELOPE.model_copy(update={"require_access_terms": True})
    assert found(stamp(), envelope=terms) == [
        ("stamp_unavailable", "attempt 1: access_terms unavailable: a local program without a provider")
    ]
    held = {"text_sha256": "0" * 64, "source": "https://api.example/terms", "read_at": "2026-01-01T00:00:00Z"}
    why = {k: v for k, v in raw()["why"].items() if k != "access_terms"}
    assert found(stamp(access_terms=held, why=why), envelope=terms) == []


def test_an_envelope_may_mean_the_first_byte_and_then_it_must_be_known() -> None:
    first = {"queue_field": "first_byte", "max_queue_ms": 500}
    timing = dict.fromkeys(("headers_ms", "first_byte_ms", "first_token_ms", "total_ms", "server_claimed_ms"))
    late = stamp(queue_ms=30.0, queue_bound="headers", timing={**timing, "first_byte_ms": 500.5}, **ANY)
    assert rules(late) == []
    envelope = ENVELOPE.model_copy(update=first)
    assert found(late, envelope=envelope) == [("queue_delay", "attempt 1: timing.first_byte_ms 500.5, at most 500")]
    assert (
        rules(stamp(queue_ms=30.0, queue_bound="headers", timing={**timing, "first_byte_ms": 500.0}, **ANY), **first)
        == []
    )
    unknown = stamp(queue_ms=30.0, queue_bound="headers", timing=timing, **ANY)
    assert found(unknown, envelope=envelope) == [
        ("stamp_unavailable", "attempt 1: timing.first_byte_ms unavailable: not told")
    ]
    assert rules(stamp(queue_ms=400.0), **first) == [], "a local program has no first byte: its start is its delay"
    assert rules(stamp(queue_ms=600.0), **first) == ["queue_delay"]


def test_an_alias_lets_exactly_its_own_model_serve() -> None:
    aliases = {"aliases": {"m": "m-2026-01-31"}}
    dated = models(["m"], ["m-2026-01-31"], route_changed=True, route_what=["asked for m, served m-2026-01-31"])
    assert rules(dated) == ["route_change"]
    assert rules(dated, **aliases) == []
    for asked, answered in (
        ("m", "m-2026-02-28"),
        ("m-2026-01-31", "m"),
        ("n", "m-2026-01-31"),
        ("m", "m-2026-01-31x"),
    ):
        other = models([asked], [answered], route_changed=True, route_what=[f"asked for {asked}, served {answered}"])
        assert rules(other, **aliases) == ["route_change"], (asked, answered)
    assert rules(models(["m"], ["m"]), aliases={"m": "m-2026-01-31"}) == [], "what was asked for may serve too"


def test_another_ground_counts_beside_an_alias() -> None:
    aliases = ENVELOPE.model_copy(update={"aliases": {"m": "n"}})
    both = models(["m"], ["n", "n2"], route_changed=True, route_what=["asked for m, served n", "served model: n, n2"])
    words = "attempt 1: the route changed during the trial: served model: n, n2"
    assert found(both, envelope=aliases) == [("route_change", words)]
    region = models(["m"], ["n"], route_changed=True, route_what=["served region: eu, us", "asked for m, served n"])
    assert found(region, envelope=aliases)[0][1].endswith("served region: eu, us")


def test_a_logger_that_denies_a_route_change_is_held_to_its_own_names() -> None:
    denied = models(["m"], ["n"], route_changed=False)
    assert found(denied) == [("route_change", "attempt 1: the route changed during the trial: asked for m, served n")]
    assert rules(denied, aliases={"m": "n"}) == []
    assert rules(denied, allow_route_change=True) == []
    assert rules(models(None, ["n"])) == [], "nothing says what was asked for"


def test_a_ground_that_was_cut_is_no_alias() -> None:
    long = "x" * 495
    cut = models([long], [long[:300]], route_changed=True, route_what=[f"asked for {long}, served y"[:500]])
    assert rules(cut, aliases={long: "y" + "z" * 400})[0] == "route_change"


def test_the_recorders_own_grounds_are_what_aliases_compare() -> None:
    answer = {**ANSWER, "model": "m-1-2026-01-31"}
    made = stamp_of(
        "a", "candidate", 0, 1, [read_call(exchange(answer=answer), 1)], started_at=NOW, evidence="recorded"
    )
    assert made.route_what == ["asked for m-1, served m-1-2026-01-31"]
    loose = {"servers": ["*"], "quota_states": ["ok", "within_budget"], "max_queue_ms": 10**6}
    assert "route_change" in rules(made, **loose)
    assert "route_change" not in rules(made, aliases={"m-1": "m-1-2026-01-31"}, **loose)


STARTED = datetime(2026, 3, 1, 10, tzinfo=UTC)


@pytest.mark.parametrize(
    ("seconds", "changes", "words"),
    [
        (0, {}, None),
        (-5, {"queue_ms": 0.0}, None),
        (-5.01, {"queue_ms": 0.0}, "before the trial"),
        (-9, {"queue_ms": 4000.0}, None),
        (-9, {"queue_ms": 3990.0, "queue_bound": "headers"}, "before the trial"),
        (65, {}, None),
        (65.01, {}, "after the trial"),
    ],
)
def test_a_stamp_lies_within_its_trials_own_time(seconds: float, changes: dict[str, Any], words: str | None) -> None:
    at = (STARTED + timedelta(seconds=seconds)).isoformat()
    made = list(violations([stamp(started_at=at, **changes)], 1, ENVELOPE, (STARTED, STARTED + timedelta(seconds=60))))
    if words is None:
        assert made == []
    else:
        assert [rule for rule, _ in made] == ["missing_stamp"]
        assert f"attempt 1: started_at {at[:10]}" in made[0][1]
        assert words in made[0][1]


def test_attempts_before_the_last_may_lie_before_it_and_in_their_order() -> None:
    ran = (STARTED, STARTED + timedelta(seconds=60))
    early = stamp(started_at="2026-03-01T09:00:00Z")
    last = stamp(attempt=2, retries=1)
    assert list(violations([early, last], 2, ENVELOPE, ran)) == []
    turned = [stamp(started_at="2026-03-01T10:00:30Z"), last]
    assert list(violations(turned, 2, ENVELOPE, ran)) == [
        ("missing_stamp", "attempt 2: out of order, it started before the attempt that it follows")
    ]


def test_keys_that_came_later_leave_older_digests_alone() -> None:
    older = set(Envelope.model_fields) - {"require_sent_as_declared"}
    assert set(plain(Envelope())) == older
    later = {"queue_field": "first_byte", "require_sent_as_declared": True}
    assert set(plain(validate(Envelope, later, "here"))) == older | set(later)
    assert validate(Envelope, plain(validate(Envelope, later, "here")), "here").queue_field == "first_byte"
