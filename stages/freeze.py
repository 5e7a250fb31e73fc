"""Freeze: what will be compared is fixed and named by digest before any arm starts."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

from stages.contract import layout
from stages.contract.digest import digest, pretty
from stages.contract.files import stage
from stages.contract.plan import Manifest, Plan, dump, slice_id, study_id
from stages.contract.predictions import digested
from stages.contract.protocol import OracleParams, Protocol, Study
from stages.contract.study import read_params
from stages.contract.types import plain
from stages.packs import build_plan, read_pack, seeded


def freeze(root: Path, *, whole: bool = True) -> Manifest:
    """Write plan, manifest and the tables of every frozen byte. Raises InputError on a pack that can't be frozen.

    `whole` is false for a part of another study's pack, in which its mutation seed may find nothing to rename.
    """
    said = read_params(root)
    pack = Path(said.pack.path)
    patches = [Path(arm.patches) for arm in (said.arms.candidate, said.arms.control) if arm.patches]
    with stage(root, [layout.PARAMS], optional=[pack, *patches]) as out:
        params = read_params(root)
        found = seeded(read_pack(root / pack), params.pack.mutation_seed, whole=whole)
        params = digested(root, params, (item.task.id for item in found.items))
        frozen = build_plan(found, params)
        seed = found.pack.mutated.seed if found.pack.mutated else None
        manifest = manifest_of(frozen.plan, params.study, params.pack.selection, params.protocol, params.oracle, seed)
        out.bytes(layout.PLAN, pretty(dump(frozen.plan)))
        out.bytes(layout.MANIFEST, pretty(dump(manifest)))
        out.table(layout.ITEMS, frozen.items)
        out.table(layout.TREES, frozen.trees)
        out.table(layout.HIDDEN, frozen.hidden)
    return manifest


def manifest_of(
    plan: Plan, study: Study, selection: str | None, protocol: Protocol, oracle: OracleParams, seed: int | None
) -> Manifest:
    """The manifest that follows from a plan and from what was said beside it."""
    from stages.gate import planned_mde80
    from stages.stats import alpha_spent  # scipy is slow to import, and only these lines need it

    alpha = alpha_spent(protocol.alpha, look=1, family=protocol.family)
    effect = planned_mde80(protocol, ((i.stratum, i.cluster) for i in plan.items if not i.placebo), alpha)
    slice_ = slice_id(plan.pack_sha256, protocol, oracle)
    return Manifest(
        plan_sha256=plan.sha256(),
        pack_id=plan.pack_id,
        pack_revision=plan.pack_revision,
        pack_sha256=plan.pack_sha256,
        slice_id=slice_,
        study_id=study_id(slice_, plan.arms, protocol.campaign),
        study=study,
        selection=selection,
        protocol=protocol,
        envelope_sha256=digest(plain(protocol.envelope)),
        oracle=oracle,
        arms=plan.arms,
        strata=dict(sorted(Counter(i.stratum for i in plan.items if not i.placebo).items())),
        placebos=dict(sorted(Counter(i.stratum for i in plan.items if i.placebo).items())),
        alpha_first_look=alpha,
        mde80=effect,
        mde80_why=None
        if effect is not None
        else "no effect up to 1 can be detected with 80 % power, or a stratum has a single item",
        mutation_seed=seed,
    )
