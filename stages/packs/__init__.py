"""Reading a pack: folders and git tags, hygiene, the digests of what is frozen."""

from stages.packs.leak import leaked_solution
from stages.packs.plan import Frozen, build_plan
from stages.packs.read import FrozenItem, FrozenPack, read_pack, read_task

__all__ = ["Frozen", "FrozenItem", "FrozenPack", "build_plan", "leaked_solution", "read_pack", "read_task"]
