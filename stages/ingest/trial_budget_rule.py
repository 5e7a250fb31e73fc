"""The trial-budget article's own accounting, computed anew: wins, losses and ties of each item, or a refusal.

It stands beside our decision and never makes it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

RULES = ("missing_fixture", "leaked_solution", "oracle_broken")
"""All rules that the article's harness knows; a pack registers some of them."""

Outcomes = Mapping[str, Mapping[str, Sequence[bool | None]]]


def object_of(pack: Mapping[str, Any], digest: str, outcomes: Outcomes, excluded: Sequence[str]) -> dict[str, Any]:
    """The article's object, items within strata in the pack's order; else `{"refused": the first thing it refuses}`.

    A placebo that the control passed is refused as well, and a trial without an outcome: these two are ours.
    """
    refused = refusal(pack, outcomes, excluded)
    if refused is not None:
        return {"refused": refused}
    strata: dict[str, list[dict[str, int]]] = {}
    for item in pack["items"]:
        arms = outcomes[item["id"]]
        strata.setdefault(item["stratum"], []).append(tally(arms["candidate"], arms["control"]))
    return {"manifest_sha256": digest, "pack_id": pack["pack_id"], "strata": strata}


def refusal(pack: Mapping[str, Any], outcomes: Outcomes, excluded: Sequence[str]) -> str | None:
    """The first thing that the article's harness refuses, in its order."""
    for rule in excluded:
        if rule not in RULES or rule not in pack["exclusion_rules"]:
            return f"an exclusion after the fact: {rule} is no registered rule"
    budget = pack["trial_budget"]
    for item in pack["items"]:
        name = item["id"]
        if name not in outcomes:
            return f"{name} has no outcomes"
        for arm in ("candidate", "control"):
            got = len(outcomes[name][arm])
            if got != budget:
                return f"{name} has {got} trials in the {arm} arm, and the budget is {budget}"
        for arm in ("candidate", "control"):
            if item["placebo"] and any(outcomes[name][arm]):
                return f"the placebo {name} passed in the {arm} arm"
        if any(one is None for arm in ("candidate", "control") for one in outcomes[name][arm]):
            return f"{name} has a trial without an outcome"
    return None


def tally(candidate: Sequence[bool | None], control: Sequence[bool | None]) -> dict[str, int]:
    """Repeats of one item held against each other in their order: a win is the candidate's alone."""
    pairs = list(zip(candidate, control, strict=True))
    wins = sum(bool(ours and not theirs) for ours, theirs in pairs)
    losses = sum(bool(theirs and not ours) for ours, theirs in pairs)
    return {"wins": wins, "losses": losses, "ties": len(pairs) - wins - losses, "n": len(pairs)}
