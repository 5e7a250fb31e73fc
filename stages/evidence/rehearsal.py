"""Rehearsals: the control against itself (A/A), and a few items of the pack (pilot). Never a look.

Both run the real stages in an inner study, and leave one line in `data/rehearsals.jsonl`.
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from stages.arms import plan_lock
from stages.contract import layout, parquet, tables
from stages.contract.digest import sha256
from stages.contract.errors import InputError, UsageError
from stages.contract.plan import PlanItem
from stages.contract.protocol import Params
from stages.contract.rehearsals import AaRecord, PerArm, PilotRecord, append_rehearsal, read_rehearsals
from stages.evidence.designs import many
from stages.evidence.inner import Inner, Outer, Say, conduct, facts, inner_study, own_journal, read_outer, runner
from stages.evidence.rehearsed import R, Rehearsed


def rehearse_aa(root: Path, *, again: bool, say: Say) -> Rehearsed[AaRecord]:
    """The control against a copy of itself through everything; an unfinished one goes on, a finished one stands.

    `again` makes another one, with another seed for the copy. Raises SpendRefused or InputError.
    """
    recorded = {r.id: r for r in read_rehearsals(root) if isinstance(r, AaRecord)}
    outer = read_outer(root)
    inner, before = _numbered(outer, 1), None
    for number in itertools.count(2):
        if inner.id not in recorded:
            break
        inner, before = _numbered(outer, number), inner
    begun = (inner.root / layout.ADMITTED).exists()
    if before is not None and not again and not begun:
        return Rehearsed(recorded[before.id], before.root, True)
    for line in _notes(outer, inner):
        say(line)
    return _finished(inner, AaRecord, _aa_record, say)


def rehearse_pilot(root: Path, number: int, *, say: Say) -> Rehearsed[PilotRecord]:
    """Both arms on `number` of the pack's real items, which nobody chooses, and on its placebos.

    Raises UsageError for a number that can't be, SpendRefused or InputError.
    """
    read_rehearsals(root)  # one that couldn't be recorded isn't run
    outer = read_outer(root)
    if not 2 <= number <= len(outer.real):
        raise UsageError("--items", number, f"2 to {len(outer.real)}, the real items of pack {outer.plan.pack_id}")
    chosen = choose(outer.real, number)
    # A pilot decides nothing, and strata that the protocol names may be missing from it.
    free: dict[str, Any] = {"campaign": "pilot", "strata_weights": "equal", "case_series": [], "merges": {}}
    protocol = outer.params.protocol.model_copy(update=free)
    params = outer.params.model_copy(update={"protocol": protocol})
    inner = inner_study(outer, "pilot", params, [*chosen, *outer.placebos])
    if not (inner.root / layout.PAIRS).exists():
        say(_trials(len(chosen), len(outer.placebos), protocol.trial_budget))
    return _finished(inner, PilotRecord, _pilot_record, say)


def _trials(real: int, placebos: int, repeats: int) -> str:
    """How many trials a pilot will run, and why placebos are among them."""
    also = f" and {many(placebos, 'placebo')}" if placebos else ""
    total = 2 * repeats * (real + placebos)
    said = f"pilot: {many(total, 'trial')}, {many(repeats, 'repeat')} of {many(real, 'item')}{also} by both arms"
    if placebos:
        said += "; placebos too, for one that passes shows that the oracle can't be trusted, and neither can the pilot"
    return said


def choose(items: Sequence[PlanItem], number: int) -> list[PlanItem]:
    """So many items, spread over the strata in proportion (largest remainder), within one by digest of the digest."""
    sizes = Counter(item.stratum for item in items)
    share = {name: divmod(number * size, len(items)) for name, size in sizes.items()}
    rest = number - sum(whole for whole, _ in share.values())
    more = sorted(share, key=lambda name: (-share[name][1], name))[:rest]
    chosen: list[PlanItem] = []
    for name in sorted(sizes):
        mine = [item for item in items if item.stratum == name]
        mine.sort(key=lambda item: (sha256(item.item_sha256.encode()), item.item_id))
        chosen += mine[: share[name][0] + (name in more)]
    return sorted(chosen, key=lambda item: item.item_id)


def _numbered(outer: Outer, number: int) -> Inner:
    """The study's A/A of that number, from 1."""
    return inner_study(outer, "aa", aa_params(outer.params, number), outer.plan.items)


def aa_params(params: Params, number: int) -> Params:
    """The study's parameters with a copy of the control as its candidate, whose seed (if any) lies `number` further.

    An exploratory study's A/A runs as a benchmark, since it speaks of no candidate and needs its figures; a
    tutorial's stays one, since a benchmark refuses oracles that are open.
    """
    control = params.arms.control
    seed = None if control.seed is None else (control.seed + number) % 2**53
    arms = params.arms.model_copy(update={"candidate": control.model_copy(update={"seed": seed})})
    mode = "benchmark" if params.study.mode == "exploratory" else params.study.mode
    return params.model_copy(
        update={
            "study": params.study.model_copy(update={"mode": mode}),
            "protocol": params.protocol.model_copy(update={"campaign": f"aa-{number}"}),
            "arms": arms,
        }
    )


def _notes(outer: Outer, inner: Inner) -> list[str]:
    control, copy = inner.params.arms.control, inner.params.arms.candidate
    name = f"{control.name} {control.version}"
    if control.seed is None:
        said = [f"A/A: {name} against itself; it declares no seed, so its trials differ by whatever chance is in it"]
    else:
        seeds = f"seed {control.seed} against seed {copy.seed}"
        said = [f"A/A: {name} against itself, {seeds}, so that the noise of their trials is independent"]
    if outer.params.study.mode == "exploratory":
        said.append("the study is exploratory; its A/A runs as a benchmark, for its figures speak of no candidate")
    if outer.params.study.mode == "tutorial":
        said.append("the study is a tutorial, so its A/A shows that everything runs, and no figures")
    return said


def _finished(inner: Inner, kind: type[R], record_of: Callable[[Inner], R], say: Say) -> Rehearsed[R]:
    """Carry an inner study through and record it, one process at a time."""
    home = inner.root.parent
    try:
        home.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(home, f"can't be made ({error.strerror})", "a folder for rehearsals", "make place") from None
    with plan_lock(home, inner.id, say):
        known = [r for r in read_rehearsals(inner.outer.root) if isinstance(r, kind) and r.id == inner.id]
        # A clone has the record without the pairs; what a planner reads is then made anew.
        if known and (kind is AaRecord or (inner.root / layout.PAIRS).exists()):
            return Rehearsed(known[-1], inner.root, True)
        conduct(inner, say)
        if known:  # recorded once: the first record stands
            return Rehearsed(known[-1], inner.root, False)
        record = record_of(inner)
        append_rehearsal(inner.outer.root, record)
    return Rehearsed(record, inner.root, False)


def _aa_record(inner: Inner) -> AaRecord:
    from stages.report import report

    with own_journal():
        found = report(inner.root)
    summary: dict[str, Any] = found["summary"] or {}
    said: dict[str, Any] = {key: found[key] for key in ("decision", "reason", "reasons", "would_publish")}
    said |= {key: summary.get(key) for key in ("delta", "lo", "hi", "alpha_spent")}
    return AaRecord(
        kind="aa",
        **facts(inner),
        **said,
        items_kept=found["counts"]["items_kept"],
        isolation=found["isolation"]["tiers"],
        harness=found["ran_at"]["harness"],
    )


def _pilot_record(inner: Inner) -> PilotRecord:
    rows = parquet.read(inner.root / layout.PAIRS, tables.PAIRS).to_pylist()
    kept = [row for row in rows if row["kept"]]
    return PilotRecord(
        kind="pilot",
        **facts(inner),
        candidate=runner(inner.params.arms.candidate),
        trials=PerArm(candidate=len(kept), control=len(kept)),
        passes=PerArm(
            candidate=sum(row["candidate"] for row in kept),
            control=sum(row["control"] for row in kept),
        ),
    )
