"""What an arm's requests said and cost, beside what the arm declares. Nothing that is unknown is a number.

What was said: over all trials of real items, excluded ones too. Tokens and cost: over whatever ran, trials of placebos
and replaced trials too, since what was asked for was paid for.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from stages.contract.arm import Arm, drawn_seed
from stages.contract.digest import rational_text
from stages.contract.stamp import Stamp
from stages.gate.evidence import Evidence
from stages.gate.stamped import Stamps, evidence_of, is_local, own_stamps
from stages.stats import sig6

MOST = 20
_NUMBER = re.compile(r"[-+]?\d{1,30}(?:\.\d{1,30})?(?:[eE][-+]?\d{1,2})?", re.ASCII)
HIDDEN = "hidden"
_LOCAL: dict[str, Any] = {
    "temperature_sent": None,
    "temperature_sent_why": "a local program sends no request",
    "tokens": None,
    "tokens_why": "a local program has no provider",
    "cost": None,
    "cost_why": "a local program has no price",
}


_NOT_SEEN = dict.fromkeys(("temperature_sent_why", "tokens_why", "cost_why"), "replayed from patches: nobody saw it")


def sent_by(ev: Evidence, arm: str) -> Stamps:
    """The stamps of an arm's trials of real items."""
    real = {item.item_id for item in ev.plan.items if not item.placebo}
    return {key: stamps for key, stamps in ev.stamps.items() if key[1] == arm and key[0] in real}


def sent_metrics(ev: Evidence, name: str, arm: Arm) -> dict[str, Any]:
    """Model, temperature and seed as sent, where they differ from what is declared, tokens and cost.

    `tokens` are sums and means per trial that ran, of input and output; `cost` [USD] is a sum, with `cost_per_trial`.
    """
    if arm.replayed:
        return _LOCAL | _NOT_SEEN
    trials = sent_by(ev, name)
    good = [s for stamps in trials.values() for s in evidence_of(stamps)]
    if arm.session is None and all(map(is_local, good)):
        return dict(_LOCAL)
    made: dict[str, Any] = {}
    for field in ("model", "temperature", "seed"):
        values = sorted({value for stamp in good for value in _asked(stamp, field)})
        made[f"{field}_sent"] = [*values[:MOST], *([f"and {len(values) - MOST} more"] if values[MOST:] else [])] or None
        if not values:
            made[f"{field}_sent_why"] = f"no stamp says what {field} was asked for"
    made["sent_differs"] = differences(arm, trials)
    ran = _ran(ev, name)
    return {**made, **_tokens(*ran), **_cost(*ran)}


def _ran(ev: Evidence, name: str) -> tuple[list[Stamp], int, int]:
    """(stamps, attempts, trials) of all that an arm ran. An interrupted attempt has no stamp, and may have cost."""
    rows = ev.ledger[ev.ledger["arm"] == name]
    replaced = [row for row in ev.replaced if row["arm"] == name]
    found = [stamps for key, stamps in ev.stamps.items() if key[1] == name]
    found += [own_stamps((row["item_id"], name, row["repeat"]), row["stamps"]) for row in replaced]
    attempts = int(rows["attempts"].sum()) + ev.interrupted.get(name, 0) + sum(row["attempts"] for row in replaced)
    return [stamp for stamps in found for stamp in evidence_of(stamps)], attempts, len(found)


def differences(arm: Arm, trials: Stamps) -> list[str]:
    """Requests that said otherwise than the arm declares, a phrase for each kind. What it doesn't declare can't differ.

    A provider's name before a declared model's, as `openai/`, isn't sent; each trial's seed is drawn from the arm's.
    """
    found: dict[tuple[str, str, str], int] = {}
    for (item_id, _, repeat), stamps in trials.items():
        said: set[tuple[str, str, str]] = set()
        for stamp in evidence_of(stamps):
            for value in _asked(stamp, "model"):
                if arm.model is not None and value != arm.model and not arm.model.endswith(f"/{value}"):
                    said.add(("model", value, f"{arm.model} declared"))
            for value in _asked(stamp, "temperature"):
                if arm.temperature is not None and not _same(value, arm.temperature):
                    told = HIDDEN if arm.temperature == HIDDEN else rational_text(Fraction(arm.temperature))
                    said.add(("temperature", value, f"{told} declared"))
            for value in _asked(stamp, "seed"):
                if arm.seed is not None and value != str(drawn_seed(arm.seed, item_id, repeat)):
                    other = HIDDEN if value == HIDDEN else "another"
                    said.add(("seed", other, f"the trial's, drawn from {arm.seed}, declared"))
        for one in said:
            found[one] = found.get(one, 0) + 1
    return [f"{field} {value} sent, {told} ({count} trials)" for (field, value, told), count in sorted(found.items())]


def _asked(stamp: Stamp, field: str) -> list[str]:
    return (stamp.requested and getattr(stamp.requested, field)) or []


def _same(sent: str, declared: Fraction | str) -> bool:
    if sent == HIDDEN or declared == HIDDEN:
        return sent == declared
    return _NUMBER.fullmatch(sent) is not None and Fraction(sent) == declared


def _tokens(good: list[Stamp], attempts: int, trials: int) -> dict[str, Any]:
    told = [(s.usage.input_tokens, s.usage.output_tokens) for s in good if s.usage is not None]
    known = [(i, o) for i, o in told if i is not None and o is not None]
    sums = {"input": sum(i for i, _ in known), "output": sum(o for _, o in known)}
    if len(known) < attempts or not trials:
        partly = f"; the others sum to {sums['input']} of input and {sums['output']} of output" if known else ""
        return {"tokens": None, "tokens_why": f"{attempts - len(known)} of {attempts} attempts don't say{partly}"}
    return {"tokens": {**sums, "per_trial": _per_trial(sums, trials)}}


def _per_trial(sums: Mapping[str, int], trials: int) -> dict[str, float]:
    return {kind: sig6(Fraction(total, trials)) for kind, total in sums.items()}


def _cost(good: list[Stamp], attempts: int, trials: int) -> dict[str, Any]:
    known = [s.usage.cost_usd for s in good if s.usage is not None and s.usage.cost_usd is not None]
    total = math.fsum(known)  # exact, so that no order of trials gives another sum
    if len(known) < attempts or not trials:
        partly = f"; the others sum to {sig6(total):g} USD" if known else ""
        return {"cost": None, "cost_why": f"{attempts - len(known)} of {attempts} attempts don't say{partly}"}
    return {"cost": sig6(total), "cost_per_trial": sig6(total / trials)}
