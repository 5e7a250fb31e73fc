"""Freeze: what will be compared is fixed and named by digest before any arm starts."""

from __future__ import annotations

from pathlib import Path

from stages.contract import layout
from stages.contract.digest import digest, pretty
from stages.contract.files import stage
from stages.contract.plan import Manifest, dump, slice_id, study_id
from stages.contract.predictions import digested
from stages.contract.study import read_params
from stages.contract.types import plain
from stages.packs import build_plan, read_pack, seeded


def freeze(root: Path, *, whole: bool = True) -> Manifest:
    """Write plan, manifest and the tables of every frozen byte. Raises InputError on a pack that can't be frozen.

    `whole` is false for a part of another study's pack, in which its mutation seed may find nothing to rename.
    """
    from stages.gate import planned_mde80
    from stages.stats import alpha_spent  # scipy is slow to import, and only these lines need it

    said = read_params(root)
    pack = Path(said.pack.path)
    patches = [Path(arm.patches) for arm in (said.arms.candidate, said.arms.control) if arm.patches]
    with stage(root, [layout.PARAMS], optional=[pack, *patches]) as out:
        params = read_params(root)
        protocol = params.protocol
        found = seeded(read_pack(root / pack), params.pack.mutation_seed, whole=whole)
        params = digested(root, params, (item.task.id for item in found.items))
        frozen = build_plan(found, params)
        alpha = alpha_spent(protocol.alpha, look=1, family=protocol.family)
        labels = ((i.stratum, i.cluster) for i in frozen.plan.items if not i.placebo)
        effect = planned_mde80(protocol, labels, alpha)
        slice_ = slice_id(frozen.plan.pack_sha256, protocol, params.oracle)
        manifest = Manifest(
            plan_sha256=frozen.plan.sha256(),
            pack_id=frozen.plan.pack_id,
            pack_revision=frozen.plan.pack_revision,
            pack_sha256=frozen.plan.pack_sha256,
            slice_id=slice_,
            study_id=study_id(slice_, params.arms, protocol.campaign),
            study=params.study,
            selection=params.pack.selection,
            protocol=protocol,
            envelope_sha256=digest(plain(protocol.envelope)),
            oracle=params.oracle,
            arms=params.arms,
            strata=frozen.strata,
            placebos=frozen.placebos,
            alpha_first_look=alpha,
            mde80=effect,
            mde80_why=None
            if effect is not None
            else "no effect up to 1 can be detected with 80 % power, or a stratum has a single item",
            mutation_seed=found.pack.mutated.seed if found.pack.mutated else None,
        )
        out.bytes(layout.PLAN, pretty(dump(frozen.plan)))
        out.bytes(layout.MANIFEST, pretty(dump(manifest)))
        out.table(layout.ITEMS, frozen.items)
        out.table(layout.TREES, frozen.trees)
        out.table(layout.HIDDEN, frozen.hidden)
    return manifest
