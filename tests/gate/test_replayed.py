"""Studies whose arms were replayed from patches: what withholds them, and that their numbers are still judged."""

from __future__ import annotations

from typing import Any

import pytest

from tests.gate.builder import Item, Study, clear_effect, make_study, placebos

PATCHES = {"version": "2", "kind": "patches", "patches": "predictions/p.jsonl", "patches_sha256": "a" * 64}
ALWAYS = ["no_session_evidence", "retrospective"]


def replayed(items: list[Item], arms: tuple[str, ...] = ("candidate", "control"), **protocol: Any) -> Study:
    def edit(raw: dict[str, Any]) -> None:
        for arm in arms:
            raw["arms"][arm] = {"name": raw["arms"][arm]["name"], **PATCHES}

    study = make_study(items, protocol, order="sequential" if len(arms) == 2 else "interleaved", edit=edit)
    for row in study.ledger:
        if row["arm"] in arms:
            row |= {"stamps": "[]", "temperature": "undeclared"}
    return study


def test_two_replayed_arms_are_withheld_for_that_alone_and_would_publish() -> None:
    assert make_study(clear_effect()).decide()["reasons"] == []
    d = replayed(clear_effect()).decide()
    assert d["reasons"] == ALWAYS
    assert d["would_publish"] is True
    assert d["counts"]["excluded"] == 0
    assert d["exclusions"] == {}
    assert d["arms"]["candidate"]["envelope_rate"] is None
    assert d["arms"]["candidate"]["tokens_why"] == "replayed from patches: nobody saw it"
    assert "session" not in d


@pytest.mark.parametrize("arm", ["candidate", "control"])
def test_one_replayed_arm_is_unequal_too(arm: str) -> None:
    d = replayed(clear_effect(), (arm,)).decide()
    assert d["reasons"] == ["arms_unequal", *ALWAYS]
    assert d["reason_details"]["arms_unequal"] == f"{arm} was replayed from patches, the other arm's agent ran here"
    assert d["would_publish"] is True


def test_stamps_of_the_arm_that_ran_are_still_held_against_the_envelope() -> None:
    study = replayed(clear_effect(), ("candidate",))
    study.stamp("left-003", "control", 0, retries=7)
    rules = {(r["rule"], r["arm"]) for r in study.tables()[1]}
    assert rules == {("retries", "control"), ("pair_partner", "candidate")}


def test_a_replayed_trial_that_the_harness_lost_is_excluded_as_ever() -> None:
    items = clear_effect()
    first = next(item for item in items if not item.placebo)
    items[items.index(first)] = Item(first.item_id, first.stratum, "X" * len(first.candidate), first.control)
    rules = {r["rule"] for r in replayed(items).tables()[1] if r["item_id"] == first.item_id}
    assert rules == {"lost", "pair_partner"}


def test_numbers_that_dont_hold_are_said_beside() -> None:
    items = [item for item in clear_effect() if not item.placebo][:9]
    d = replayed([*items, *placebos()]).decide()
    assert d["reasons"][:2] == ALWAYS
    assert "too_few_clean_tasks" in d["reasons"]
    assert d["would_publish"] is False
