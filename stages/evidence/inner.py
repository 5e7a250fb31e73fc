"""A study inside a study: a folder and a journal of its own below the journal's folder, the real stages in it.

Nothing of it enters the study's own journal, campaign record or candidates. It goes on where it was killed.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal

from stages.arms import Journal
from stages.arms.installed import install_digest, install_folders
from stages.contract import layout
from stages.contract.arm import Arm
from stages.contract.digest import digest, short
from stages.contract.errors import InputError, SpendRefused
from stages.contract.files import replace_bytes
from stages.contract.plan import RUN_SEMANTICS, Plan, PlanItem
from stages.contract.plan import slice_id as slice_of
from stages.contract.protocol import Params
from stages.contract.rehearsals import TIME, RehearsedItem, Runner
from stages.contract.study import read_admitted, read_params, read_plan
from stages.contract.types import plain
from stages.contract.yamlfile import written
from stages.evidence.copies import copy_study
from stages.packs import FrozenPack, build_plan, read_pack, seeded
from stages.sandbox import require

Say = Callable[[str], None]
ArmName = Literal["candidate", "control"]
ARMS: tuple[ArmName, ...] = ("candidate", "control")


@dataclass(frozen=True)
class Outer:
    """The study that is rehearsed, as it stands now; `plan` is what freezing it would give."""

    root: Path
    params: Params
    pack: FrozenPack
    plan: Plan
    slice_id: str

    @property
    def real(self) -> list[PlanItem]:
        """Its items but for the placebos."""
        return [item for item in self.plan.items if not item.placebo]

    @property
    def placebos(self) -> list[PlanItem]:
        return [item for item in self.plan.items if item.placebo]


@dataclass(frozen=True)
class Inner:
    """A study made from another one: only these items of its pack, under these parameters.

    `id` is the same while pack, protocol, items and arms, with the bytes of their runners, are the same.
    """

    outer: Outer
    params: Params
    items: frozenset[str]
    installs: dict[str, str]
    id: str
    root: Path


def read_outer(root: Path) -> Outer:
    """Raises InputError where the study couldn't be frozen."""
    params = read_params(root)
    pack = read_pack(root / params.pack.path)
    plan = build_plan(seeded(pack, params.pack.mutation_seed), params).plan
    return Outer(root, params, pack, plan, slice_of(plan.pack_sha256, params.protocol, params.oracle))


def inner_study(outer: Outer, kind: Literal["aa", "pilot"], params: Params, items: list[PlanItem]) -> Inner:
    """Names an inner study, and makes nothing. Raises InputError where an arm has nothing that could run."""
    for arm in ARMS:
        if _arm(params, arm).replayed:
            raise InputError(f"params.yaml: arms.{arm}", "patches, which are what they are", "an agent that can run")
    ids, installs = frozenset(item.item_id for item in items), _installs(outer.root, params)
    name = short(
        digest(
            {
                "kind": kind,
                "slice": outer.slice_id,
                "mode": params.study.mode,
                "campaign": params.protocol.campaign,
                "arms": plain(params.arms),
                "installs": installs,
                "isolation": params.run.isolation,
                "items": sorted(ids),
                "run_semantics": RUN_SEMANTICS,
            }
        )
    )
    return Inner(outer, params, ids, installs, name, layout.journal(outer.root).resolve() / kind / name)


def facts(inner: Inner) -> dict[str, Any]:
    """What the record of a finished rehearsal says of the study and of when it ended, whatever its kind."""
    plan = inner.outer.plan
    return {
        "id": inner.id,
        "at": datetime.now(UTC).strftime(TIME),
        "pack_id": plan.pack_id,
        "pack_revision": plan.pack_revision,
        "pack_sha256": plan.pack_sha256,
        "slice_id": inner.outer.slice_id,
        "control": runner(plan.arms.control),
        "items": [
            RehearsedItem(item_id=item.item_id, item_sha256=item.item_sha256)
            for item in inner.outer.real
            if item.item_id in inner.items
        ],
    }


def runner(arm: Arm) -> Runner:
    """An arm by name and version."""
    return Runner(name=arm.name, version=arm.version)


def conduct(inner: Inner, say: Say) -> None:
    """Every stage from freeze to exclude, or what is left of them after a kill. Call it under a lock."""
    from stages.exclude import exclude
    from stages.preflight import preflight
    from stages.run import run
    from stages.score import score

    root, how = inner.root, inner.params.run
    for study in (inner.outer.root, root.parents[2]):  # no agent may see them, from wherever this was called
        require(how.isolation, how.allow_no_isolation, study)
    if not root.is_dir():
        copy_study(inner.outer.root, inner.params, inner.outer.pack, inner.items, root)
    with own_journal():
        _freeze(inner)
        _refuse_spending(inner)
        # What preflight saw before the first trial stands: it isn't observed anew after some.
        if not all((root / name).exists() for name in (layout.ADMITTED, layout.CHECKS)):
            for line in preflight(root, say):
                say(f"preflight refused {line}")
        run(root, say)
        score(root, say)
        exclude(root)


@contextmanager
def own_journal() -> Iterator[None]:
    """Without DVC_ROOT, by which the inner study's journal would be the outer one's."""
    held = os.environ.pop("DVC_ROOT", None)
    try:
        yield
    finally:
        if held is not None:
            os.environ["DVC_ROOT"] = held


def _freeze(inner: Inner) -> None:
    """Put its parameters there and freeze it. Raises InputError where that isn't what was copied.

    Parameters are written each time: how it runs (workers, say) may change between a kill and the next go.
    """
    from stages.freeze import freeze

    replace_bytes(inner.root / layout.PARAMS, written(plain(inner.params)))
    freeze(inner.root, whole=False)
    found = [_addressless(i) for i in read_plan(inner.root).items]
    wanted = [_addressless(i) for i in inner.outer.plan.items if i.item_id in inner.items]
    assert read_params(inner.root) == inner.params
    if found != wanted or _installs(inner.root, inner.params) != inner.installs:
        raise InputError(inner.root, "isn't what was copied there", "copies of the study", "delete the folder")


def _addressless(item: PlanItem) -> PlanItem:
    """The item without what the address of a git source makes of it."""
    return item.model_copy(update={"source": {}, "item_sha256": ""})


def _refuse_spending(inner: Inner) -> None:
    """Raise SpendRefused where paid arms would run and nobody said that they may. Trials of both are counted."""
    paid = [name for name in ARMS if _arm(inner.params, name).paid]
    if not paid or os.environ.get("WEIGHBRIDGE_SPEND") == "yes":
        return
    plan, skip = read_plan(inner.root), set()
    if (inner.root / layout.ADMITTED).exists():
        skip = {item for item, entry in read_admitted(inner.root)["items"].items() if not entry["admitted"]}
    journal = Journal(layout.journal(inner.root))
    try:
        finished = journal.finished(plan.sha256())
        stopped = any(campaign["stopped"] for campaign in journal.campaigns())
    finally:
        journal.close()
    planned = [(b.item_id, name, b.repeat) for b in plan.schedule for name in paid if b.item_id not in skip]
    left = [key[0] for key in planned if key not in finished]
    if left and not stopped:
        budgets = {item.item_id: item.time_budget_s for item in plan.items}
        names = " and ".join(f"{name} ({_arm(inner.params, name).name})" for name in paid)
        raise SpendRefused(
            f"arms {names}" if len(paid) > 1 else f"arm {names}",
            f"paid, and {len(left)} trials of up to {sum(budgets[item] for item in left):,} s in all would run",
            "WEIGHBRIDGE_SPEND=yes in the environment",
            "set it to spend",
        )


def _installs(root: Path, params: Params) -> dict[str, str]:
    """Digest of each arm's installed files, below this study's folder. Raises MissingInput or InputError."""
    return {name: install_digest(install_folders(root, _arm(params, name), f"arms.{name}")) for name in ARMS}


def _arm(params: Params, name: ArmName) -> Arm:
    return params.arms.candidate if name == "candidate" else params.arms.control
