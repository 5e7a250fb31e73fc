"""Reading a pack: folders and git tags, hygiene, digests, other identifiers by a seed, and how well it was written."""

from __future__ import annotations

from stages.packs.authored import names_interface, resemblances
from stages.packs.leak import leaked_solution
from stages.packs.openly import open_oracle, starred
from stages.packs.plan import Frozen, build_plan
from stages.packs.read import FrozenItem, FrozenPack, read_pack, read_task

__all__ = [
    "Frozen",
    "FrozenItem",
    "FrozenPack",
    "build_plan",
    "leaked_solution",
    "names_interface",
    "open_oracle",
    "read_pack",
    "read_task",
    "resemblances",
    "seeded",
    "starred",
]


def seeded(pack: FrozenPack, seed: int | None, *, whole: bool = True) -> FrozenPack:
    """The pack under the identifiers that a seed gives it, or as it is without one.

    Raises InputError where the seed would change nothing, unless `whole` says that this is only a part of a pack.
    """
    if seed is None:
        return pack
    from stages.packs.mutate import changed, mutate_pack  # libcst is slow to import

    made, done = mutate_pack(pack, seed)
    if whole:
        changed(done, seed)
    return made
