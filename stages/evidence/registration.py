"""What registry and git history say of a campaign's registration: the entry, its place in the chain, its time."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from stages.arms.lineage import registered_candidates, registered_looks
from stages.contract import bundled, layout
from stages.contract.errors import InputError, one_line
from stages.contract.history import blob, commit_that_brought, moment, repository, versions
from stages.contract.plan import Manifest, Plan
from stages.contract.registry import MAX_BYTES, Line, Registered, line_of, read_chain
from stages.contract.text import read_bytes
from stages.contract.witness import roots_of, witnessed
from stages.evidence.checking import Check

if TYPE_CHECKING:
    import git

_NAMES = ("manifest_sha256", "plan_sha256", "slice_id", "study_id", "pack_id", "pack_sha256", "control", "candidate")


def registration_check(
    root: Path, plan: Plan, manifest: Manifest, campaign: Mapping[str, Any], tsa: Path | None, *, history: bool
) -> Check:
    """Check the registration that a campaign claims. `history`: whether git's may be looked at beside the files."""
    check = Check("registration", "the registry's chain, the study's entry in it, and its place in git's history")
    said, path = campaign.get("registry"), root / layout.REGISTRY
    kind = campaign.get("registration")
    check.note = f"{kind}"
    if not path.is_file():
        if said is not None:
            check.unread.append(
                f"{layout.REGISTRY} isn't here, so the entry that the campaign names can't be looked up"
            )
            check.note = ""
        return check
    try:
        lines = read_chain(read_bytes(path, MAX_BYTES, "the registry"))
    except InputError as error:
        check.differs.append(str(error))
        return check
    if said is not None:
        _entry(check, lines, said, campaign, tsa)
    _counted(check, lines[: said["entries"]] if said else [], plan, manifest, campaign)
    if history:
        _history(check, root, said, lines, campaign)
    else:
        check.unread.append("git's history isn't here, so nothing shows that lines of the registry weren't taken out")
    return check


def _entry(
    check: Check, lines: list[Line], said: Mapping[str, Any], campaign: Mapping[str, Any], tsa: Path | None
) -> None:
    name = str(layout.REGISTRY)
    number, entries = said["line"], said["entries"]
    if not 1 <= number <= entries <= len(lines):
        check.differs.append(f"{name}: {len(lines)} lines, the campaign saw {entries}, with its own at {number}")
        return
    line = lines[number - 1]
    check.same(f"{name}:{number}: sha256", line.sha256, said["sha256"], "as the campaign saw it")
    check.same(
        f"{name}:{entries}: sha256", lines[entries - 1].sha256, said["head"], "as the campaign saw the last line"
    )
    if not isinstance(line.entry, Registered):
        check.differs.append(f"{name}:{number}: {line.entry.kind}, expected a registered study")
        return
    for key in _NAMES:
        check.same(f"{name}:{number}: {key}", getattr(line.entry, key), campaign.get(key), "as the campaign says")
    if said["committed_at"] is not None and said["committed_at"] > str(campaign["started_at"]):
        check.differs.append(f"{name}:{number}: committed {said['committed_at']}, after the campaign began")
    _witness(check, line.entry, f"{name}:{number}", said, campaign, tsa)


def _witness(
    check: Check, entry: Registered, where: str, said: Mapping[str, Any], campaign: Mapping[str, Any], tsa: Path | None
) -> None:
    if entry.token is None:
        check.same(f"{where}: witness", None, said["witness"], "as the campaign says")
        return
    try:
        seen = witnessed(entry, where)
        if seen is not None and seen.at > str(campaign["started_at"]):
            seen = None
        found = None if seen is None else {"at": seen.at, "root_sha256": seen.root_sha256}
        check.same(f"{where}: witness", found, said["witness"], "as the campaign says")
        if tsa is None:
            check.unread.append("its time stamp verifies under the root that it came with; --tsa checks it under yours")
        else:
            witnessed(entry, where, roots_of(read_bytes(tsa, bundled.MAX_JSON_BYTES), tsa))
            check.note = f"witnessed {said['witness']['at'] if said['witness'] else 'too late'}, by your own root"
    except InputError as error:
        check.differs.append(str(error))


def _counted(check: Check, lines: list[Line], plan: Plan, manifest: Manifest, campaign: Mapping[str, Any]) -> None:
    """Looks and candidates on record aren't fewer than the registry gives."""
    looks = registered_looks(plan, lines)
    known = {str(one.get("plan")) for one in campaign["earlier_looks"]}
    for plan_sha256 in sorted(looks.keys() - known):
        check.differs.append(f"{layout.CAMPAIGN}: earlier_looks: lacks plan {plan_sha256[:16]}, which was registered")
    for name in sorted(registered_candidates(manifest, lines) - set(campaign["candidates"])):
        check.differs.append(
            f"{layout.CAMPAIGN}: candidates: lacks {one_line(name)}, which was registered on this slice"
        )


def _history(
    check: Check, root: Path, said: Mapping[str, Any] | None, lines: list[Line], campaign: Mapping[str, Any]
) -> None:
    found = repository(root)
    if found is None:
        check.unread.append("git's history isn't here, so nothing shows that lines of the registry weren't taken out")
        return
    repo, inside = found
    path = f"{inside}{layout.REGISTRY.as_posix()}"
    _only_grown(check, repo, path)
    if said is None or said["line"] > len(lines):
        return
    commit = commit_that_brought(repo, path, line_of(lines[said["line"] - 1].entry))
    if commit is None:
        check.differs.append(f"{layout.REGISTRY}:{said['line']}: no commit of HEAD's history has this line")
        return
    where = f"{layout.REGISTRY}:{said['line']}"
    check.same(f"{where}: commit", commit.hexsha, said["commit"], "as the campaign saw it")
    check.same(f"{where}: committed_at", moment(commit), said["committed_at"], "as the campaign saw it")
    head = (campaign.get("git") or {}).get("head")
    if head is not None and not _ancestor(repo, commit, head):
        check.unread.append(f"commit {head[:12]}, at which the campaign began, isn't in this history")


def _only_grown(check: Check, repo: git.Repo, path: str) -> None:
    """Every version of the registry goes on from its parents' versions."""
    for commit in versions(repo, path):
        now = blob(commit, path) or b""
        for parent in commit.parents:
            before = blob(parent, path) or b""
            if now.startswith(before):
                continue
            kept = sum(a == b for a, b in zip(now.split(b"\n"), before.split(b"\n"), strict=False))
            what = "removed" if not now else "forked" if len(commit.parents) > 1 else "removed or rewritten"
            check.differs.append(f"{layout.REGISTRY}: {what} from line {kept + 1} on, by commit {commit.hexsha[:12]}")
            break
        if check.full():
            return


def _ancestor(repo: git.Repo, commit: git.Commit, head: str) -> bool:
    import git

    try:
        return bool(repo.is_ancestor(commit, repo.commit(head)))
    except (git.GitCommandError, git.BadName, ValueError):
        return False
