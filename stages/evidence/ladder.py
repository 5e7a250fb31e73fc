"""A leaderboard taken pair by pair: which neighbouring ranks separate on the items that both have. No crown."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import combinations, pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from stages.contract.errors import InputError, UsageError
from stages.contract.importing import ImportParams
from stages.contract.protocol import Study
from stages.contract.types import validate
from stages.gate import decide_imported, imported_evidence
from stages.ingest.build import Log, join, options_of, read_log
from stages.ingest.model import ROWS, Notes
from stages.ingest.settle import code, drop_cached, drop_copies, drop_same_trial
from stages.ingest.strata import read_strata
from stages.stats import show_p

MOST_ARMS = 1000
MOST_UNION = 3


def climb(
    arms: Mapping[str, Sequence[Path]], given: Mapping[str, Any], protocol: Mapping[str, Any], where: object
) -> dict[str, Any]:
    """Arms by pass rate, and every neighbouring pair judged on its common items.

    `given` are the keys of an import block but for its paths. Returns `arms` (name, passed, items, missing, rate, by
    rank),
    `pairs` (upper, lower, common, only_upper, only_lower, delta, lo, hi, p_sign_flip, separable, separable_in_family,
    reasons) and `unions` (an arm that passes just what others together pass). In a family of m
    pairs each is judged once more at 1/m of the alpha. Raises UsageError or InputError.
    """
    if not 2 <= len(arms) <= MOST_ARMS:
        raise UsageError("--arm", f"{len(arms)} arms", f"2 to {MOST_ARMS} of NAME=PATH")
    paths = next(iter(arms.values()))
    shape = {"candidate": [str(p) for p in paths], "control": [str(p) for p in paths], **given}
    params = validate(ImportParams, shape, "weighbridge ladder")
    field, strata = read_strata(Path(), params.strata)
    options = options_of(params, protocol, field)
    logs = {name: read_log("candidate", own, params, options) for name, own in arms.items()}
    counted = {name: _passes(name, log) for name, log in logs.items()}
    passes = {name: shares for name, (shares, _) in counted.items()}
    ranked = sorted(passes, key=lambda name: (-_rate(passes[name]), name))
    pairs = []
    for upper, lower in pairwise(ranked):
        sides = [replace(logs[upper], arm="candidate"), replace(logs[lower], arm="control")]
        names = {"candidate": upper, "control": lower}
        try:
            built = join(sides, names, strata, Study(), protocol, where)
        except InputError as error:
            raise InputError(f"{upper} and {lower}", str(error)) from None
        evidence = imported_evidence(built.manifest, built.items, built.trials, built.ledger, built.read)
        found = decide_imported(evidence)
        spent = Fraction(str(found["summary"]["alpha_spent"]))
        strict = decide_imported(evidence, spent / (len(ranked) - 1))
        pairs.append(_pair(upper, lower, passes, found, strict))
    return {
        "schema": "weighbridge.ladder/1",
        "arms": [
            {
                "rank": rank,
                "name": name,
                "passed": round(float(sum(passes[name].values())), 6),
                "items": len(passes[name]),
                "missing": counted[name][1],
                "rate": round(float(_rate(passes[name])), 6),
            }
            for rank, name in enumerate(ranked, start=1)
        ],
        "pairs": pairs,
        "unions": _unions(passes),
    }


def _passes(name: str, log: Log) -> tuple[dict[str, Fraction], int]:
    """(item to the share of its trials that passed, trials without an outcome); placebos and copies don't count.

    A trial without an outcome passes nothing here: an arm can't rise by leaving out what it would have failed.
    """
    table = pa.concat_tables([reading.rows for reading in log.readings])
    table = table.filter(pc.invert(table["placebo"]))
    arm = pa.repeat(pa.scalar("candidate"), table.num_rows)
    rows = code(table.set_column(ROWS.get_field_index("arm"), ROWS.field("arm"), arm))
    alive, notes = np.ones(table.num_rows, dtype=bool), Notes()
    drop_cached(rows, alive, notes)
    spoilt = drop_same_trial(rows, alive, notes)
    spoilt |= drop_copies(rows, alive, notes)
    known = pc.is_valid(table["status"]).to_numpy() & ~spoilt
    passed = pc.fill_null(pc.equal(table["status"], "passed"), False).to_numpy() & ~spoilt
    if not (alive & known).any():
        raise InputError(name, "no trial with an outcome", "at least one")
    size = len(rows.items)
    won, of = np.bincount(rows.item[alive & passed], minlength=size), np.bincount(rows.item[alive], minlength=size)
    shares = {item: Fraction(int(w), int(n)) for item, w, n in zip(rows.items, won, of, strict=True)}
    return shares, int((alive & ~known).sum())


def _rate(passes: Mapping[str, Fraction]) -> Fraction:
    return sum(passes.values(), Fraction(0)) / len(passes)


def _pair(
    upper: str,
    lower: str,
    passes: Mapping[str, Mapping[str, Fraction]],
    found: Mapping[str, Any],
    strict: Mapping[str, Any],
) -> dict[str, Any]:
    one, two = set(passes[upper]), set(passes[lower])
    s = found["summary"]
    return {
        "upper": upper,
        "lower": lower,
        "common": len(one & two),
        "only_upper": len(one - two),
        "only_lower": len(two - one),
        "missing": found["counts"]["missing"],
        "delta": s["delta"],
        "lo": s["lo"],
        "hi": s["hi"],
        "p_sign_flip": s["p_sign_flip"],
        "wins": found["win_rate"]["wins"],
        "losses": found["win_rate"]["losses"],
        "separable": found["would_publish"],
        "separable_in_family": strict["would_publish"],
        "alpha_spent": s["alpha_spent"],
        "alpha_in_family": strict["summary"]["alpha_spent"],
        "reasons": found["reasons"],
        "findings": [f["kind"] for f in found["findings_of_read"]],
    }


def _unions(passes: Mapping[str, Mapping[str, Fraction]]) -> list[dict[str, Any]]:
    """Arms whose passes are just those of two or three others together: the best of several runs is no run."""
    won = {name: frozenset(i for i, share in own.items() if share == 1) for name, own in passes.items()}
    found = []
    for name, mine in sorted(won.items()):
        # Only arms that pass nothing else can be parts, and none of them may be the whole.
        parts = [o for o in sorted(won) if o != name and won[o] < mine and won[o]]
        for size in range(2, MOST_UNION + 1):
            some = next(
                (c for c in combinations(parts[:60], size) if frozenset().union(*(won[o] for o in c)) == mine), None
            )
            if some is not None:
                found.append({"arm": name, "of": list(some), "passes": len(mine)})
                break
    return found


def ladder_lines(made: Mapping[str, Any]) -> list[str]:
    """The ladder for a terminal: a line per rank, and between two of them how they stand."""
    between = {pair["upper"]: pair for pair in made["pairs"]}
    wide = max(len(arm["name"]) for arm in made["arms"])
    lines = []
    for arm in made["arms"]:
        bare = f", {arm['missing']} trials without an outcome" if arm["missing"] else ""
        lines.append(
            f"{arm['rank']:>4}  {arm['name']:<{wide}}  {arm['passed']:g} of {arm['items']} ({arm['rate']:.3f}){bare}"
        )
        pair = between.get(arm["name"])
        if pair:
            lines.append(f"      {_said(pair)}")
    apart = sum(pair["separable"] for pair in made["pairs"])
    family = sum(pair["separable_in_family"] for pair in made["pairs"])
    lines.append(f"{apart} of {len(made['pairs'])} neighbouring pairs separate; {family} with all pairs as one family")
    lines += [
        f"{u['arm']} passes just what {', '.join(u['of'])} together pass: no run of its own" for u in made["unions"]
    ]
    lines.append("nothing is published from logs alone; a rank that doesn't separate is no rank")
    return lines


def _said(pair: Mapping[str, Any]) -> str:
    limits = "no interval" if pair["lo"] is None else f"[{pair['lo']:+.3f}, {pair['hi']:+.3f}]"
    delta = "no Δ" if pair["delta"] is None else f"Δ {pair['delta']:+.3f} {limits}"
    p = "" if pair["p_sign_flip"] is None else f", p {show_p(pair['p_sign_flip'])}"
    apart = (
        "separate in the family" if pair["separable_in_family"] else "separate" if pair["separable"] else "not separate"
    )
    lone = (
        f", {pair['only_upper']} and {pair['only_lower']} in one only"
        if pair["only_upper"] or pair["only_lower"]
        else ""
    )
    return f"{apart}: {delta}{p} on {pair['common']} common items{lone}"
