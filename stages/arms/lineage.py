"""Where a campaign stands among others: its registration as git's HEAD has it, and earlier uses of its items."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from stages.contract import layout
from stages.contract.history import blob, commit_that_brought, moment, repository
from stages.contract.plan import Manifest, Plan
from stages.contract.registry import Line, Registered, entry_for, line_of, read_chain, standing
from stages.contract.witness import witnessed

MOST_NAMED = 50


@dataclass(frozen=True)
class Registration:
    """What the registry says of a manifest. `found` is what campaign.json keeps of it, None without an entry."""

    lines: list[Line]
    found: dict[str, Any] | None
    kind: str


def registration(root: Path, manifest: Manifest, started_at: str, say: Callable[[str], None]) -> Registration:
    """The registration of a study that is about to start. Raises InputError where the chain is broken."""
    at_hand = repository(root)
    here = _work_tree(root)
    if at_hand is None:
        if here:
            say(f"{layout.REGISTRY} isn't in a git repository, so nothing in it counts as registered")
        return Registration([], None, "none")
    repo, inside = at_hand
    path = f"{inside}{layout.REGISTRY.as_posix()}"
    lines = read_chain(blob(repo.head.commit, path) or b"")
    entry = entry_for(manifest.sha256(), lines)
    if entry is None:
        if entry_for(manifest.sha256(), here):
            say(f"{layout.REGISTRY} has an entry of this study that isn't committed, so it doesn't count")
        return Registration(lines, None, "none")
    line, registered = entry
    commit = commit_that_brought(repo, path, line_of(registered))
    seen = witnessed(registered, f"{layout.REGISTRY}:{line.number}")
    early = seen is not None and seen.at <= started_at
    found = {
        "sha256": line.sha256,
        "line": line.number,
        "entries": len(lines),
        "head": lines[-1].sha256,
        "commit": commit.hexsha if commit else None,
        "committed_at": moment(commit) if commit else None,
        "witness": {"at": seen.at, "root_sha256": seen.root_sha256} if seen is not None and early else None,
    }
    return Registration(lines, found, "witnessed" if early else "self_dated")


def _work_tree(root: Path) -> list[Line]:
    path = root / layout.REGISTRY
    return read_chain(path.read_bytes()) if path.is_file() else []


def registered_looks(plan: Plan, lines: Iterable[Line]) -> dict[str, dict[str, str]]:
    """Plan digest to a look, of other plans that were registered for the same pack, control and candidate.

    What was registered and never taken back counts as run: whoever ran it in another place would say that he didn't.
    """
    same = (plan.pack_id, plan.arms.control.name, plan.arms.candidate.name)
    return {
        e.plan_sha256: {"plan": e.plan_sha256, "started_at": f"registered, line {line.number}", "campaign": e.campaign}
        for line, e in standing(lines)
        if (e.pack_id, e.control, e.candidate) == same and e.plan_sha256 != plan.sha256()
    }


def registered_candidates(manifest: Manifest, lines: Iterable[Line]) -> set[str]:
    """Candidates that were registered on this slice against this control."""
    control = manifest.arms.control.name
    return {e.candidate for _, e in standing(lines) if (e.slice_id, e.control) == (manifest.slice_id, control)}


def lineage(
    plan: Plan, manifest: Manifest, records: Iterable[Mapping[str, Any]], lines: Iterable[Line]
) -> dict[str, Any]:
    """Earlier uses of this pack's items, by campaigns on record here and by entries of the registry.

    `reused` items were in an earlier plan with the same bytes, `changed` ones with other bytes (edited, or mutated by a
    seed) and never with the same, `fresh` ones in none. `left` were in an earlier plan of this pack, and are gone.
    """
    earlier = {e.plan_sha256: (e.pack_id, {i: one.sha256 for i, one in e.items.items()}) for e in _entries(lines)}
    for record in records:
        held = {item: str(one["sha256"]) for item, one in record["items"].items()}
        earlier[record["plan_sha256"]] = (record["pack_id"], held)
    earlier.pop(plan.sha256(), None)
    now = {item.item_id: item.item_sha256 for item in plan.items}
    uses = {item: [held[item] for _, held in earlier.values() if item in held] for item in now}
    reused = sorted(item for item, held in uses.items() if now[item] in held)
    changed = sorted(item for item, held in uses.items() if held and now[item] not in held)
    gone = sorted({i for pack_id, held in earlier.values() if pack_id == plan.pack_id for i in held} - now.keys())
    return {
        "earlier_plans": len(earlier),
        "fresh": len(now) - len(reused) - len(changed),
        "reused": {"count": len(reused), "items": reused[:MOST_NAMED]},
        "changed": {"count": len(changed), "items": changed[:MOST_NAMED]},
        "left": {"count": len(gone), "items": gone[:MOST_NAMED]},
        "most_uses": max((len(held) for held in uses.values()), default=0),
        "mutation_seed": manifest.mutation_seed,
    }


def _entries(lines: Iterable[Line]) -> list[Registered]:
    return [entry for _, entry in standing(lines)]
