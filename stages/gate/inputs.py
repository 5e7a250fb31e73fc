"""Before anything is derived: do plan, manifest and campaign belong together, and hold what is read?"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from stages.contract import layout
from stages.contract.decision import Named, RegistryEntry
from stages.contract.digest import short
from stages.contract.errors import InputError
from stages.contract.plan import Manifest, Plan, slice_id, study_id
from stages.contract.types import validate

_AGAIN = "run `dvc repro freeze`; neither file is edited by hand"


class _Part(BaseModel):
    model_config = ConfigDict(strict=True)


class _Why(_Part):
    why: str


class _Differs(_Part):
    item_id: str
    what: str


class _PackChanged(_Part):
    old: str
    new: str
    differs: list[_Differs]


class _Lineage(_Part):
    model_config = ConfigDict(strict=True, extra="forbid")

    earlier_plans: int
    fresh: int
    reused: Named
    changed: Named
    left: Named
    most_uses: int
    mutation_seed: int | None


class _Campaign(_Part):
    look: Annotated[int, Field(ge=1)]
    earlier_looks: list[dict[str, Any]]
    candidates: list[str]
    registration: Literal["none", "self_dated", "witnessed"]
    started_at: str
    events: list[str]
    isolation: _Why
    protocol: dict[str, Any] | None = None
    pack_changed: _PackChanged | None = None
    mode: Literal["benchmark", "exploratory", "tutorial"] | None = None
    registry: RegistryEntry | None = None
    lineage: _Lineage | None = None


def check_inputs(plan: Plan, manifest: Manifest, campaign: Mapping[str, Any]) -> None:
    """Raise InputError where a file holds other keys than are read, or doesn't belong to the others.

    The manifest's own digests are taken anew: a protocol edited in place would otherwise keep the old slice id, under
    which the trials ran.
    """
    said = validate(_Campaign, dict(campaign), layout.CAMPAIGN)
    shown = "none" if said.registry is None else "self_dated" if said.registry.witness is None else "witnessed"
    if said.registration != shown:
        where = f"{layout.CAMPAIGN}: registration"
        raise InputError(where, said.registration, f"{shown}, as its registry entry shows", "restore the file")
    plan_sha256 = plan.sha256()
    if manifest.plan_sha256 != plan_sha256:
        raise InputError(layout.MANIFEST, f"belongs to plan {short(manifest.plan_sha256)}", short(plan_sha256), _AGAIN)
    slice_ = slice_id(manifest.pack_sha256, manifest.protocol, manifest.oracle)
    made = {
        "pack_sha256": plan.pack_sha256,
        "slice_id": slice_,
        "study_id": study_id(slice_, plan.arms, manifest.protocol.campaign),
        "strata": Counter(i.stratum for i in plan.items if not i.placebo),
        "arms": plan.arms,
    }
    for name, value in made.items():
        if getattr(manifest, name) != value:
            raise InputError(f"{layout.MANIFEST}: {name}", "isn't what plan and protocol give", "theirs", _AGAIN)
