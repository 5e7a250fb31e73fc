"""What the stamps of a study with a provider come to: exclusions by rule, unlike arms, what was sent, tokens, drift."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import jsonschema
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stages.contract import tables
from stages.contract.arm import drawn_seed
from stages.contract.protocol import INSTRUMENT_RULES, LATER_RULES
from stages.contract.schemas import json_schema
from stages.gate import REASONS, RULES, decide_study
from stages.gate.evidence import counts, tidy
from stages.gate.metrics import excluded_counts
from stages.gate.sent import differences, sent_by
from stages.gate.serving import family
from stages.gate.wording import departures
from stages.render import flat_metrics, markdown
from tests.gate.builder import Study, clear_effect, make_study
from tests.session.malformed import QUOTA, USAGE
from tests.support.stamps import SERVED

ASKED = {"model": ["m-1"], "host": ["api.example"], "temperature": ["0"], "seed": ["hidden"]}


def provided(protocol: dict[str, Any] | None = None, **arm: Any) -> Study:
    """A study whose arms both asked a provider, inside its envelope."""
    envelope = {"servers": ["api.example:*"], **(protocol or {}).get("envelope", {})}

    def declare(raw: dict[str, Any]) -> None:
        for one in ("candidate", "control"):
            raw["arms"][one] |= {"model": "m-1", **arm}

    study = make_study(clear_effect(), {**(protocol or {}), "envelope": envelope}, edit=declare)
    served = {**dict.fromkeys(SERVED), "model": ["m-1"], "region": ["eu"]}
    usage = {**USAGE, "input_tokens": 100, "output_tokens": 7, "cost_usd": 0.002}
    quota = {**QUOTA, "limits": {"requests": 500}}
    study.stamp("", server_id="api.example:1", quota_state="ok", queue_bound="headers", requested=ASKED)
    study.stamp("", served=served, usage=usage, quota=quota)
    return study


def report(study: Study) -> str:
    evidence = study.evidence()
    says = {k: r.says for k, r in REASONS.items()} | {k: r.says for k, r in RULES.items()}
    changes = {k: r.change for k, r in REASONS.items()}
    exclusions = evidence.exclusions.to_dict("records")
    return markdown(decide_study(evidence), says, changes, exclusions, [], study.ledger)


def test_a_study_with_a_provider_inside_its_envelope_is_published_and_fits_the_schema() -> None:
    d = provided().decide()
    assert (d["decision"], d["counts"]["excluded"]) == ("publish", 0)
    jsonschema.Draft202012Validator(json_schema("decision")).validate(json.loads(json.dumps(d)))


BROKEN: dict[str, dict[str, Any]] = {
    "missing_stamp": {"evidence": "asserted"},
    "stamp_unavailable": {"queue_ms": None},
    "foreign_server": {"server_id": "api.elsewhere:1"},
    "queue_delay": {"queue_ms": 4001.0},
    "retries": {"retries": 2},
    "quota_state": {"quota_state": "throttled"},
    "route_change": {"route_changed": True},
    "conversation_empty": {"conversation_empty": False},
    "stamp_inconsistent": {"inconsistent": ["requested.host: a proxy"]},
}


def test_every_rule_of_a_stamp_is_here() -> None:
    assert set(BROKEN) | {"lost"} == set(INSTRUMENT_RULES)


@pytest.mark.parametrize("rule", BROKEN)
def test_each_rule_excludes_exactly_its_trial_and_its_partner(rule: str) -> None:
    study = provided()
    study.stamp("left-003", "control", 0, **BROKEN[rule])
    ev = tidy(study.evidence())
    assert excluded_counts(ev.pairs) == {
        rule: {"candidate": 0, "control": 1, "items": 1},
        "pair_partner": {"candidate": 1, "control": 0, "items": 1},
    }
    c = counts(ev)
    assert c["planned"] == c["scored"] + c["excluded"] + c["missing"]
    assert (c["excluded"], c["missing"]) == (2, 0)
    (row,) = (r for r in study.tables()[1] if r["rule"] == rule)
    assert (row["scope"], row["item_id"], row["arm"], row["repeat"]) == ("trial", "left-003", "control", 0)
    assert row["evidence"].startswith("attempt 1: ")


def test_a_rule_that_wasnt_registered_excludes_nothing() -> None:
    study = provided({"exclusion_rules": [r for r in INSTRUMENT_RULES if r != "conversation_empty"]})
    study.stamp("left-003", "control", 0, conversation_empty=False)
    assert study.decide()["exclusions"] == {}


@settings(max_examples=25, deadline=None)
@given(
    st.lists(
        st.tuples(st.sampled_from(list(BROKEN)), st.integers(0, 14), st.sampled_from(["candidate", "control"])),
        max_size=8,
    )
)
def test_planned_is_scored_and_excluded_and_missing_whatever_breaks(broken: list[tuple[str, int, str]]) -> None:
    study = provided()
    for rule, n, arm in broken:
        study.stamp(f"left-{n:03}", arm, 0, **BROKEN[rule])
    study.ledger = [r for r in study.ledger if r["item_id"] != "right-004" or r["arm"] != "control"]
    pairs, exclusions = study.tables()
    hit = {(f"left-{n:03}", arm) for _, n, arm in broken}
    named = {(r["item_id"], r["arm"]) for r in exclusions if r["rule"] != "pair_partner"}
    assert named == hit
    ruled = sum(p[f"{arm}_rule"] is not None for p in pairs for arm in ("candidate", "control"))
    missing = sum(p[f"{arm}_status"] == "missing" for p in pairs for arm in ("candidate", "control"))
    scored = sum(p["kept"] for p in pairs) * 2
    assert 2 * len(pairs) == scored + ruled + missing
    c = counts(tidy(study.evidence()))
    assert (c["planned"], c["scored"], c["excluded"], c["missing"]) == (2 * len(pairs), scored, ruled, missing)


def test_a_stamp_from_outside_of_its_trials_time_is_none() -> None:
    study = provided()
    study.stamp("left-003", "control", 0, started_at="2026-03-01T12:00:00Z")
    study.stamp("left-004", "control", 0, started_at="2026-02-01T12:00:00Z")
    rows = [r for r in study.tables()[1] if r["rule"] == "missing_stamp"]
    assert [("after the trial" in r["evidence"], "before the trial" in r["evidence"]) for r in rows] == [
        (False, True),
        (True, False),
    ]


@pytest.mark.parametrize(
    ("model", "same"),
    [
        ("m-2026-01-31", "m"),
        ("m-20260131", "m"),
        ("m@20260131", "m"),
        ("m-2026-13-31", None),
        ("m-20261331", None),
        ("m-0131", None),
        ("m-2601", None),
        ("m-latest", None),
        ("m-preview-05-20", None),
        ("m-2026-01-31-v2", None),
        ("m-2026-01-31\n", None),
        ("m-20260131-20260131", "m-20260131"),
        ("-20260131", "-20260131"),
        ("m-19991231", None),
    ],
)
def test_a_models_family_is_its_name_without_a_date_at_its_end_and_nothing_else(model: str, same: str | None) -> None:
    assert family(model) == (same or model)


def serve(study: Study, arm: str, item: str = "", **changes: Any) -> None:
    served = {**dict.fromkeys(SERVED), "model": ["m-1"], "region": ["eu"], **changes}
    study.stamp(item, arm, served=served)


def test_arms_served_by_dated_names_of_one_family_are_equal_and_by_two_families_arent() -> None:
    study = provided({"envelope": {"same_served_model_across_arms": True, "allow_route_change": True}})
    serve(study, "control", model=["m-1-2026-01-31"])
    serve(study, "candidate", model=["m-1-2026-02-28"])
    assert study.decide()["decision"] == "publish"
    serve(study, "control", "left-001", model=["m-2-2026-01-31"])
    assert study.decide()["reason_details"] == {"arms_unequal": "candidate served by m-1, control by m-1; m-2"}


def test_what_an_exclusion_took_out_isnt_compared() -> None:
    study = provided({"envelope": {"same_served_model_across_arms": True}})
    serve(study, "control", "left-001", model=["m-2"])
    d = study.decide()
    assert (d["decision"], d["exclusions"]["route_change"]["control"]) == ("publish", 1)


def test_regions_are_compared_where_the_protocol_asks() -> None:
    study = provided({"envelope": {"same_region_across_arms": True}})
    assert study.decide()["decision"] == "publish"
    serve(study, "control", region=["us"])
    assert study.decide()["reason_details"] == {"arms_unequal": "region: candidate eu, control us"}
    serve(study, "control", region=None)
    serve(study, "candidate", region=None)
    assert study.decide()["reason_details"] == {"arms_unequal": "region: candidate unknown, control unknown"}
    other = provided()
    serve(other, "control", region=["us"])
    assert other.decide()["decision"] == "publish"


def test_quota_limits_are_compared_where_the_protocol_asks() -> None:
    study = provided({"envelope": {"same_quota_limits_across_arms": True}})
    assert study.decide()["decision"] == "publish"
    study.stamp("", "control", quota={**QUOTA, "limits": {"tokens": 10_000, "requests": 60}})
    assert study.decide()["reason_details"] == {
        "arms_unequal": "quota limits: candidate requests 500, control requests 60, tokens 10000"
    }


def test_what_was_sent_stands_beside_what_was_declared() -> None:
    arm = provided().decide()["arms"]["candidate"]
    assert (arm["model_sent"], arm["temperature_sent"], arm["seed_sent"]) == (["m-1"], ["0"], ["hidden"])
    assert (arm["temperature"], arm["sent_differs"]) == (["0"], [])


@pytest.mark.parametrize(
    ("declared", "sent", "words"),
    [
        ({}, {"temperature": ["0.0"]}, []),
        ({}, {"temperature": ["0.7"]}, ["temperature 0.7 sent, 0 declared (30 trials)"]),
        ({}, {"temperature": ["hidden"]}, ["temperature hidden sent, 0 declared (30 trials)"]),
        ({}, {"temperature": ["0", "1"]}, ["temperature 1 sent, 0 declared (30 trials)"]),
        ({}, {"temperature": ["1e999999999"]}, ["temperature 1e999999999 sent, 0 declared (30 trials)"]),
        ({"temperature": "hidden"}, {"temperature": ["hidden"]}, []),
        ({"temperature": "hidden"}, {"temperature": ["1"]}, ["temperature 1 sent, hidden declared (30 trials)"]),
        ({"temperature": None}, {"temperature": ["1"]}, []),
        ({"model": "openai/m-1"}, {}, []),
        ({"model": "openai/m-1"}, {"model": ["1"]}, ["model 1 sent, openai/m-1 declared (30 trials)"]),
        ({"model": None}, {"model": ["x"]}, []),
        ({"seed": 11}, {}, ["seed hidden sent, the trial's, drawn from 11, declared (30 trials)"]),
        ({"seed": 11}, {"seed": ["11"]}, ["seed another sent, the trial's, drawn from 11, declared (30 trials)"]),
    ],
)
def test_a_request_that_differs_from_what_is_declared_is_found(
    declared: dict[str, Any], sent: dict[str, Any], words: list[str]
) -> None:
    study = provided(**declared)
    study.stamp("", "candidate", requested={**ASKED, **sent})
    assert differences(study.plan.arms.candidate, sent_by(study.evidence(), "candidate")) == words


def test_a_difference_is_printed_and_withholds_only_where_the_protocol_asks() -> None:
    study = provided()
    study.stamp("", "candidate", requested={**ASKED, "temperature": ["0.7"]})
    d = study.decide()
    assert d["decision"] == "publish"
    assert d["arms"]["candidate"]["sent_differs"] == ["temperature 0.7 sent, 0 declared (30 trials)"]
    assert "- **candidate differs from what it declares**: temperature 0.7 sent, 0 declared (30 trials).\n" in report(
        study
    )
    assert flat_metrics(d)["published"]["candidate"]["sent_differs"] == 1
    asks = provided({"envelope": {"require_sent_as_declared": True}})
    assert asks.decide()["decision"] == "publish"
    asks.stamp("left-001", "candidate", requested={**ASKED, "temperature": ["0.7"]})
    assert asks.decide()["reason_details"] == {"arms_unequal": "candidate: temperature 0.7 sent, 0 declared (1 trials)"}


def test_each_trials_own_seed_is_what_an_arm_with_a_seed_sends() -> None:
    study = provided(seed=11)
    for row in study.rows("", "candidate"):
        seed = str(drawn_seed(11, row["item_id"], row["repeat"]))
        study.stamp(row["item_id"], "candidate", row["repeat"], requested={**ASKED, "seed": [seed]})
    arm = study.decide()["arms"]["candidate"]
    assert arm["sent_differs"] == []
    assert (len(arm["seed_sent"]), arm["seed_sent"][-1]) == (21, "and 10 more")


def test_tokens_and_cost_are_sums_and_means_over_all_trials_of_an_arm() -> None:
    study = provided()
    study.stamp("left-003", "control", 0, conversation_empty=False)
    d = study.decide()
    for arm in d["arms"].values():
        assert arm["tokens"] == {"input": 3200, "output": 224, "per_trial": {"input": 100.0, "output": 7.0}}
        assert (arm["cost"], arm["cost_per_trial"]) == (0.064, 0.002), "what was excluded, and placebos, were paid for"
    flat = flat_metrics(d)["published"]["candidate"]
    assert (flat["tokens_input"], flat["cost"], flat["model_sent"], flat["sent_differs"]) == (3200, 0.064, "m-1", 0)


def test_a_part_is_no_total() -> None:
    study = provided()
    study.stamp("left-003", "control", 0, usage={**USAGE, "input_tokens": 100})
    arm = study.decide()["arms"]["control"]
    assert (arm["tokens"], arm["cost"]) == (None, None)
    assert arm["tokens_why"] == "1 of 32 attempts don't say; the others sum to 3100 of input and 217 of output"
    assert arm["cost_why"] == "1 of 32 attempts don't say; the others sum to 0.062 USD"
    assert "cost_per_trial" not in arm
    row = study.rows("left-004", "control")[0]
    row["stamps"] = "[]"
    assert study.decide()["arms"]["control"]["cost_why"].startswith("2 of 32 attempts"), "a missing stamp doesn't say"


def replaced(study: Study, **changes: Any) -> None:
    """Another trial of left-003 ran in the place of one whose stamp has these changes."""
    row = study.rows("left-003", "control")[0]
    kept = row["stamps"]
    study.stamp("left-003", "control", 0, **changes)
    ran = {"number": 1, "ended": "completed", "rule": "quota_state", "found": "attempt 1: throttled"}
    study.replaced.append({**{k: row[k] for k in tables.REPLACED.names if k in row}, **ran})
    row["stamps"] = kept


def test_what_was_replaced_was_paid_for_and_is_seen_over_time() -> None:
    study = provided({"replace_excluded": 1})
    replaced(study, quota_state="throttled", usage={**USAGE, "input_tokens": 5, "output_tokens": 1, "cost_usd": 0.5})
    d = study.decide()
    assert (d["decision"], d["counts"]["replaced"], d["counts"]["excluded"]) == ("publish", 1, 0)
    arm = d["arms"]["control"]
    assert (arm["tokens"]["input"], arm["cost"]) == (3205, 0.564)
    assert arm["tokens"]["per_trial"]["input"] == pytest.approx(3205 / 33, rel=1e-5)
    assert d["arms"]["candidate"]["cost"] == 0.064
    parts = d["session"]["parts"]
    assert [part["control"]["excluded"] for part in parts if part["control"]["excluded"]] == [{"quota_state": 1}]
    assert sum(part["control"]["trials"] for part in parts) == 31
    assert sum(part["control"]["scored"] for part in parts) == 30


def test_an_agent_that_breaks_a_limit_where_it_loses_does_not_win_by_its_second_try() -> None:
    study = provided({"replace_excluded": 1})
    wins = [row for row in study.rows("", "candidate") if row["passed"] and not row["placebo"]]
    lost = {row["item_id"] for row in study.rows("", "control") if not row["passed"]}
    for row in wins:
        if row["item_id"] in lost:
            kept = row["stamps"]
            study.stamp(row["item_id"], "candidate", row["repeat"], retries=9)
            ran = {"number": 1, "ended": "completed", "rule": "retries", "found": "attempt 1: retries 9, at most 2"}
            study.replaced.append({**{k: row[k] for k in tables.REPLACED.names if k in row}, **ran})
            row["stamps"] = kept
    d = study.decide()
    assert d["counts"]["replaced"] == len(study.replaced) > 8
    assert d["sensitivity"]["excluded_fail"]["decision"] == "withhold"
    assert {"excluded_as_fail_disagrees", "exclusion_asymmetry"} <= set(d["reasons"])
    assert (d["asymmetry"]["candidate"], d["asymmetry"]["control"]) == (len(study.replaced), 0)


def test_an_attempt_that_died_with_the_harness_leaves_no_total() -> None:
    ev = replace(provided().evidence(), interrupted={"control": 2})
    arms = decide_study(ev)["arms"]
    assert arms["control"]["cost_why"] == "2 of 34 attempts don't say; the others sum to 0.064 USD"
    assert arms["candidate"]["cost"] == 0.064


def test_drift_is_shown_in_thirds_of_the_campaign_and_over_time() -> None:
    study = provided()
    for n, row in enumerate(sorted(study.ledger, key=lambda r: (r["item_id"], r["arm"]))):
        at = f"2026-03-01T{10 + n // 60:02}:{n % 60:02}:00.000000Z"
        row["started_at"] = at
        study.stamp(row["item_id"], row["arm"], row["repeat"], started_at=at, queue_ms=float(10 * n))
    study.stamp("right-014", "control", 0, quota_state="exhausted")
    session = study.decide()["session"]
    assert [part["started_first"][11:16] for part in session["parts"]] == ["10:00", "10:20", "10:44"]
    assert [part["control"]["queue_ms_max"] for part in session["parts"]] == [190.0, 430.0, 630.0]
    assert [part["control"]["scored"] for part in session["parts"]] == [10, 10, 9]
    passed = {r["item_id"]: r["passed"] for r in study.rows("", "control") if not r["placebo"]}
    assert [part["control"]["passes"] for part in session["parts"]] == [
        sum(passed[i] for i in sorted(passed)[a:b] if i != "right-014") for a, b in ((0, 10), (10, 20), (20, 30))
    ]
    assert session["parts"][2]["control"]["excluded"] == {"quota_state": 1}
    points = session["over_time"]
    assert sum(p["trials"] for p in points) == 60
    assert len(points) <= 48
    assert sum(p["excluded"] for p in points) == 1
    assert points[0]["from_s"] == 0.0
    text = report(study)
    assert "| 2026-03-01T10:44:00.000000Z to 2026-03-01T11:03:00.000000Z |" in text
    assert "`quota_state` 1" in text


def test_a_study_that_is_no_benchmark_shows_no_passes() -> None:
    study = make_study(clear_effect(), {"envelope": {"servers": ["*"]}}, mode="exploratory")
    study.stamp("", served={**dict.fromkeys(SERVED), "model": ["m"]})
    assert [part["control"]["passes"] for part in study.decide()["session"]["parts"]] == [None] * 3
    assert "| of 10 |" in report(study)


def test_a_local_study_has_no_session_and_its_decision_keeps_its_keys() -> None:
    older = [r for r in make_study(clear_effect()).manifest.protocol.exclusion_rules if r not in LATER_RULES]
    study = make_study(clear_effect(), {"exclusion_rules": older})
    d = study.decide()
    assert "session" not in d
    assert d["departures"] == ["trial_budget 1"], "no stamp of a local program can break the rules that came later"
    lacking = departures(study.manifest.protocol)[0]
    assert lacking.startswith("exclusion_rules "), "where an arm has a provider their lack is a departure"
    arm = d["arms"]["candidate"]
    assert (arm["tokens"], arm["cost"], arm["temperature_sent"]) == (None, None, None)
    assert not [key for key in arm if key.startswith(("model_sent", "seed_sent", "sent_"))]
    assert "Every attempt was a local program without a provider" in report(study)


def test_hostile_names_of_models_stay_text_in_the_report() -> None:
    study = provided()
    study.stamp("", "candidate", requested={**ASKED, "model": ["<script>|[x](y)\n"]})
    text = report(study)
    assert "<script>" not in text
    assert "[x](y)" not in text
