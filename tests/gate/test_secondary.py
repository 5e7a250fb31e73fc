"""Secondary measures, densities, pass@k, guards, rehearsals: worked out by hand, none of them can crown."""

from __future__ import annotations

import math
from typing import Any

import jsonschema
import pytest

from stages.contract.errors import InputError
from stages.contract.protocol import Protocol
from stages.contract.rehearsals import AaRecord, Harness, PerArm, PilotRecord, RehearsedItem, Runner
from stages.contract.schemas import json_schema
from stages.contract.types import validate
from stages.gate import cross_check, decide_study
from stages.gate import evidence as evidence_module
from stages.stats import sig6
from tests.gate.builder import Item, Study, clear_effect, make_study, outcomes, placebos


def six(value: float) -> float:
    return sig6(value)


def test_the_measure_of_oracle_passes_is_the_summary_itself() -> None:
    study = make_study([*outcomes("left", 12, 3, 25, 3), *outcomes("right", 9, 2, 9, 3), *placebos(2, 3)])
    d = study.decide()
    measure, s = d["secondary"]["oracle_pass"], d["summary"]
    assert [measure[k] for k in ("delta", "lo", "hi", "kind")] == [s[k] for k in ("delta", "lo", "hi", "kind")]
    for label, row in d["strata"].items():
        mine = measure["strata"][label]
        assert [mine[k] for k in ("delta", "lo", "hi", "items")] == [row[k] for k in ("delta", "lo", "hi", "items")]
    passes = {arm: d["arms"][arm]["passes"] for arm in ("candidate", "control")}
    assert {arm: measure[arm]["count"] for arm in passes} == passes
    jsonschema.validate(d, json_schema("decision"))


def test_a_measure_is_a_mean_over_items_of_what_the_arms_differ_by() -> None:
    """Timeouts: 10 items of 1 and 10 of 3 in the control's 3 repeats, none in 20 others: Δ = −(10/3 + 10) / 40."""
    items = [Item(f"a{n}", "left", "PFP", "TFP") for n in range(10)]
    items += [Item(f"b{n}", "left", "FFF", "TTL") for n in range(10)]
    items += [Item(f"c{n:02}", "left", "PFF", "PPF") for n in range(20)]
    d = make_study([*items, *placebos(2, 3)]).decide()
    measure = d["secondary"]["timeout"]
    assert (measure["candidate"]["count"], measure["control"]["count"]) == (0, 40)
    assert measure["control"] == {"count": 40, "of": 120, "rate": six(1 / 3)}
    assert measure["delta"] == six(-(10 / 3 + 10) / 40)
    assert measure["lo"] < measure["delta"] < measure["hi"] < 0
    assert d["secondary"]["flip"]["candidate"] == {"count": 30, "of": 40, "rate": 0.75}
    assert d["secondary"]["flip"]["control"] == {"count": 30, "of": 40, "rate": 0.75}
    assert d["secondary"]["abort"]["delta"] == 0
    assert d["secondary"]["abort"]["lo"] is None, "no spread, no interval"
    assert "interval_why" in d["secondary"]["abort"]


def test_counts_of_assumptions_are_paired_too_and_have_their_strata() -> None:
    study = make_study([*outcomes("left", 10, 5, 10), *outcomes("right", 10, 5, 10), *placebos()])
    for n in range(4):
        study.rows(f"left-{n:03}", "candidate")[0].update(violations=5, invented_imports=3, unauthorised_files=2)
    study.rows("right-000", "control")[0].update(violations=1, invented_env=1)
    d = study.decide()
    measure = d["secondary"]["violations"]
    assert (measure["candidate"]["count"], measure["control"]["count"]) == (20, 1)
    assert measure["delta"] == six((20 / 25 - 1 / 25) / 2)
    assert measure["strata"]["left"]["delta"] == 0.8
    assert measure["strata"]["right"]["delta"] == -0.04
    dense = d["densities"]["left"]["candidate"]
    assert [dense[k] for k in ("invented_imports", "invented_env", "unauthorised_files")] == [12, 0, 8]
    assert (dense["violations"], dense["generated_lines"], dense["assumption_per_kloc"]) == (20, 250, None)
    assert d["arms"]["candidate"]["assumption_per_kloc"] == six(1000 * 20 / 500), "50 items are enough, 25 aren't"


def test_drift_is_a_case_series_below_36_items_and_counts_only_where_an_interface_is_pinned() -> None:
    study = make_study([*outcomes("left", 10, 5, 20), *placebos()])
    for row in study.rows():
        row["interface_drift"] = None if row["item_id"] == "left-000" else int(row["item_id"] == "left-001")
    few = study.decide()["secondary"]["interface_drift"]
    assert (few["candidate"], few["delta"], few["items"]) == ({"count": 1, "of": 34, "rate": None}, None, 34)
    more = make_study([*outcomes("left", 10, 5, 30), *placebos()])
    for row in more.rows():
        row["interface_drift"] = int(row["arm"] == "control" and row["item_id"] < "left-009")
    measure = more.decide()["secondary"]["interface_drift"]
    assert (measure["control"]["rate"], measure["delta"]) == (0.2, -0.2)
    assert measure["strata"]["left"]["case_series"] is False


def test_trials_outside_the_envelope_are_counted_over_all_that_ran() -> None:
    study = make_study([*outcomes("left", 20, 2, 78), *placebos()])
    for n in range(3):
        study.stamp(f"left-{n:03}", "control", queue_ms=9000.0)
    measure = study.decide()["secondary"]["outside_envelope"]
    assert (measure["control"], measure["candidate"]["count"]) == ({"count": 3, "of": 100, "rate": 0.03}, 0)
    assert measure["delta"] == -0.03


def test_a_stratum_below_the_floor_has_counts_without_rates() -> None:
    items = [*outcomes("left", 20, 2, 20), *outcomes("odd", 1, 1, 1), *placebos()]
    d = make_study(items, {"case_series": ["odd"]}).decide()
    row = d["secondary"]["oracle_pass"]["strata"]["odd"]
    assert row["case_series"]
    assert (row["candidate"]["rate"], row["delta"], row["lo"]) == (None, None, None)
    assert d["secondary"]["oracle_pass"]["candidate"]["of"] == 42, "a case series stays out of the summary"


def test_no_measure_can_crown_and_each_carries_why_it_has_no_limits() -> None:
    d = make_study([*outcomes("left", 10, 10, 20), *placebos()]).decide()
    assert d["decision"] == "withhold"
    for measure in d["secondary"].values():
        assert not {"decision", "reason"} & set(measure)
        assert (measure["lo"] is None) == ("interval_why" in measure)


def test_pass_at_k_is_shown_only_where_k_and_the_sample_rule_are_declared() -> None:
    items = [Item("a", "left", "PPFF", "FFFF"), Item("b", "left", "FPFF", "PFFF"), *placebos(1, 4)]
    plain = make_study(items).decide()["arms"]["candidate"]
    assert plain["pass_at_k"] is None
    assert "declares no k" in plain["pass_at_k_why"]
    every = make_study(items, {"pass_at_k": {"k": 2, "sample": "all"}}).decide()["arms"]
    # 4 trials, 2 pass: 1 − C(2,2)/C(4,2) = 5/6; 1 passes: 1 − C(3,2)/C(4,2) = 1/2.
    assert every["candidate"]["pass_at_k"] == {"k": 2, "sample": "all", "items": 2, "rate": six((5 / 6 + 1 / 2) / 2)}
    assert 1 - math.comb(3, 2) / math.comb(4, 2) == 0.5
    first = make_study(items, {"pass_at_k": {"k": 1, "sample": "first"}}).decide()["arms"]
    assert (first["candidate"]["pass_at_k"]["rate"], first["control"]["pass_at_k"]["rate"]) == (0.5, 0.5)


def test_pass_at_k_needs_k_trials_of_every_item() -> None:
    study = make_study([*outcomes("left", 10, 5, 20, 3), *placebos(2, 3)], {"pass_at_k": {"k": 3, "sample": "all"}})
    study.stamp("left-003", "candidate", 1, queue_ms=9000.0)
    arm = study.decide()["arms"]["control"]
    assert (arm["pass_at_k"], arm["pass_at_k_why"]) == (None, "an item has fewer than 3 kept trials")


@pytest.mark.parametrize("value", [{"k": 4, "sample": "all"}, {"k": 0, "sample": "all"}, {"k": 2, "sample": "best"}, 2])
def test_a_k_that_cant_be_is_refused(value: Any) -> None:
    with pytest.raises(InputError, match="pass_at_k"):
        validate(Protocol, {"trial_budget": 3, "pass_at_k": value}, "p")


def test_guards_say_what_they_cost() -> None:
    """17 : 6 of 100 has p .035 and an interval that just crosses at the spent .04; 10 : 0 and 8 : 30 disagree."""
    held = make_study(clear_effect()).decide()["sensitivity"]["guards"]
    assert set(held.values()) == {"holds"}
    split = [*outcomes("left", 80, 0, 20), *outcomes("right", 0, 8, 12), *placebos()]
    alone = make_study(split, {"strata_weights": "proportional"}).decide()
    assert alone["reasons"] == ["strata_disagree"]
    assert alone["sensitivity"]["guards"]["strata_disagree"] == "alone"
    both = make_study([*outcomes("left", 18, 10, 72), *placebos()]).decide()
    assert both["sensitivity"]["guards"]["sign_flip_not_significant"] == "fails"


def rehearsed(study: Study, at: str, **changes: Any) -> AaRecord:
    control = study.plan.arms.control
    values: dict[str, Any] = {
        "id": "0" * 16,
        "kind": "aa",
        "at": at,
        "pack_id": "pack",
        "pack_revision": "7",
        "pack_sha256": study.plan.pack_sha256,
        "slice_id": study.manifest.slice_id,
        "control": Runner(name=control.name, version=control.version),
        "items": [RehearsedItem(item_id="left-000", item_sha256="0" * 64)],
        "decision": "withhold",
        "reason": "interval_crosses_zero",
        "reasons": ["interval_crosses_zero"],
        "would_publish": False,
        "delta": 0.01,
        "lo": -0.05,
        "hi": 0.07,
        "alpha_spent": 0.04,
        "items_kept": 1,
        "isolation": ["namespaces"],
        "harness": Harness(version="0.1.0", python="3.11", system="Linux"),
    }
    return AaRecord(**{**values, **changes})


def test_the_last_a_a_of_this_control_on_this_slice_stands_in_the_decision() -> None:
    study = make_study(clear_effect())
    never = study.decide()["rehearsals"]
    assert (never["aa"], never["aa_why"], never["piloted"]) == (None, "never run on this slice with this control", [])
    ev = study.evidence()
    pilot = PilotRecord(
        **rehearsed(study, "2026-02-01T00:00:00Z").model_dump(
            include={"id", "at", "pack_id", "pack_revision", "pack_sha256", "slice_id", "control"}
        ),
        kind="pilot",
        items=[RehearsedItem(item_id=i, item_sha256="1" * 64) for i in ("gone-000", "left-003")],
        candidate=Runner(name="new", version="2.0"),
        trials=PerArm(candidate=2, control=2),
        passes=PerArm(candidate=1, control=0),
    )
    records = [
        rehearsed(study, "2099-02-02T00:00:00Z", delta=0.06, would_publish=True),
        rehearsed(study, "2026-02-03T00:00:00Z"),
        rehearsed(study, "2026-02-04T00:00:00Z", slice_id="f" * 64),
        rehearsed(study, "2026-02-05T00:00:00Z", control=Runner(name="other", version="1")),
        pilot,
    ]
    d = decide_study(evidence_module.replace(ev, rehearsals=records))
    assert d["rehearsals"]["aa"]["at"] == "2026-02-03T00:00:00Z"
    assert d["rehearsals"]["aa"]["delta"] == 0.01
    assert (d["rehearsals"]["aa"]["runs"], d["rehearsals"]["aa"]["crowned"]) == (2, 1), "an earlier one isn't forgotten"
    assert d["rehearsals"]["piloted"] == ["left-003"]
    assert d["decision"] == "publish", "a rehearsal never decides"
    jsonschema.validate(d, json_schema("decision"))


def test_the_cross_check_resamples_the_decisions_own_interval() -> None:
    study = make_study([*outcomes("left", 14, 3, 33, 3), *outcomes("right", 9, 4, 37, 3), *placebos(2, 3)])
    s, again = study.decide()["summary"], cross_check(study.evidence())
    assert again is not None
    assert (again["lo"], again["hi"]) == (pytest.approx(s["lo"], abs=0.02), pytest.approx(s["hi"], abs=0.02))
    assert cross_check(make_study([*outcomes("left", 0, 0, 30), *placebos()]).evidence()) is None
    assert cross_check(make_study(clear_effect(), mode="tutorial").evidence()) is None


def test_brackets_are_carried_into_every_row() -> None:
    """Strata of 123, 127 and 131 items under equal weights share no lattice that is small; each alone is exact."""
    sizes = {"left": (30, 20, 73), "mid": (30, 20, 77), "right": (40, 20, 71)}
    d = make_study([*(i for name, n in sizes.items() for i in outcomes(name, *n, 3)), *placebos(2, 3)]).decide()
    assert d["summary"]["kind"] == d["secondary"]["oracle_pass"]["kind"] == "bracket"
    assert 0 < d["summary"]["bracket_width"] < 1e-4
    assert {row["kind"] for row in d["strata"].values()} == {"exact"}
    for row in (d["summary"], *d["strata"].values(), *d["secondary"].values()):
        assert bool(row["bracket_width"]) == (row["kind"] == "bracket")
