"""Registration: a frozen study is named in `data/registry.jsonl` and committed, before its first trial."""

from __future__ import annotations

import base64
import fcntl
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from stages.arms import Journal, earlier_campaigns, looks_before
from stages.contract import layout
from stages.contract.digest import digest, sha256
from stages.contract.errors import InputError, UsageError, one_line
from stages.contract.files import replace_bytes
from stages.contract.history import blob, repository
from stages.contract.plan import Manifest, Plan
from stages.contract.registry import (
    MAX_BYTES,
    Entry,
    Line,
    Registered,
    Result,
    Withdrawn,
    entry_for,
    line_of,
    make_entry,
    read_chain,
)
from stages.contract.study import read_manifest, read_params, read_plan
from stages.contract.text import read_bytes, read_json
from stages.contract.witness import check_token, pem_of, request_for, roots_of

if TYPE_CHECKING:
    import git

PATIENCE_S = 20.0


def register(root: Path, token: Path | None = None, tsa: Path | None = None) -> tuple[Line, bool]:
    """(the line of the frozen study, whether it is new). Appended and committed.

    Raises UsageError or InputError where it can't be registered any more, or what would be registered isn't committed.
    """
    plan, manifest = _frozen(root)
    if (token is None) != (tsa is None):
        raise UsageError("--token, --tsa", "only one of them", "a time-stamp response and its authority's certificates")
    with _registry(root) as (repo, lines):
        known = entry_for(manifest.sha256(), lines)
        if known is not None:
            return known[0], False
        _before_the_first_trial(root, plan)
        _as_committed(root, repo, manifest)
        entry = _entry(root, plan, manifest, lines)
        if token is not None and tsa is not None:
            response = read_bytes(token, MAX_BYTES, "a time-stamp response")
            _, own = check_token(entry, response, roots_of(read_bytes(tsa, MAX_BYTES), tsa), token)
            entry = entry.model_copy(update={"token": base64.b64encode(response).decode(), "tsa": pem_of(own)})
        said = f"Register {plan.arms.candidate.name} against {plan.arms.control.name}, slice {manifest.slice_id[:16]}"
        return _append(root, repo, lines, entry, said), True


def request(root: Path, out: Path) -> Registered:
    """Write what a time-stamping authority is asked, for the entry that `register` would append now."""
    plan, manifest = _frozen(root)
    with _registry(root) as (repo, lines):
        if entry_for(manifest.sha256(), lines) is not None:
            raise UsageError("--request", "this study is registered already", "a study that isn't")
        _before_the_first_trial(root, plan)
        _as_committed(root, repo, manifest)
        entry = _entry(root, plan, manifest, lines)
    try:
        replace_bytes(out, request_for(entry))
    except OSError as error:
        raise UsageError("--request", f"{out} can't be written ({error.strerror})", "a place for it") from None
    return entry


def withdraw(root: Path) -> Line:
    """Append the author's word that no trial of the frozen study was run."""
    plan, manifest = _frozen(root)
    with _registry(root) as (repo, lines):
        known = entry_for(manifest.sha256(), lines)
        if known is None:
            raise UsageError("--withdraw", "this study isn't registered", "one that is, and wasn't withdrawn")
        _before_the_first_trial(root, plan)
        entry = Withdrawn(previous=lines[-1].sha256, entry=known[0].sha256)
        return _append(root, repo, lines, entry, f"Withdraw line {known[0].number} of the registry")


def register_result(root: Path) -> tuple[Line, bool]:
    """(the line with the decision's digest, whether it is new) of a registered study."""
    decision = read_json(root / layout.DECISION)
    with _registry(root) as (repo, lines):
        known = entry_for(str(decision["manifest_sha256"]), lines)
        if known is None:
            raise UsageError(
                "--result", "no entry of this decision's study", "a study that was registered before it ran"
            )
        entry = Result(
            previous=lines[-1].sha256,
            entry=known[0].sha256,
            manifest_sha256=decision["manifest_sha256"],
            decision_sha256=digest(decision),
            decision=decision["decision"],
            reason=decision["reason"],
        )
        for line in lines:
            if isinstance(line.entry, Result) and line.entry.decision_sha256 == entry.decision_sha256:
                return line, False
        said = f"Register the result of line {known[0].number}: {decision['decision']} ({decision['reason']})"
        return _append(root, repo, lines, entry, said), True


def _frozen(root: Path) -> tuple[Plan, Manifest]:
    plan, manifest = read_plan(root), read_manifest(root)
    if manifest.plan_sha256 != plan.sha256():
        raise InputError(layout.MANIFEST, "belongs to another plan", layout.PLAN, "run `dvc repro freeze`")
    return plan, manifest


def _entry(root: Path, plan: Plan, manifest: Manifest, lines: list[Line]) -> Registered:
    journal = _journal(root)
    try:
        earlier = earlier_campaigns(root, plan, journal)
    finally:
        if journal:
            journal.close()
    look = len(looks_before(plan, earlier.values(), lines)) + 1
    return make_entry(plan, manifest, look, lines[-1].sha256 if lines else None)


def _journal(root: Path) -> Journal | None:
    folder = layout.journal(root)
    return Journal(folder) if (folder / "journal.sqlite").is_file() else None


def _before_the_first_trial(root: Path, plan: Plan) -> None:
    journal = _journal(root)
    try:
        started = journal is not None and any(c["plan"] == plan.sha256() for c in journal.campaigns())
    finally:
        if journal:
            journal.close()
    path = root / layout.CAMPAIGN
    if path.is_file():
        started |= read_json(path).get("plan_sha256") == plan.sha256()
    if started:
        raise UsageError(
            layout.CAMPAIGN,
            "trials of this plan have started",
            "registration before the first trial",
            "name a new protocol.campaign, freeze, register, and run that",
        )


def _as_committed(root: Path, repo: git.Repo, manifest: Manifest) -> None:
    """What is registered must be what others can check out: parameters and pack as HEAD has them, and frozen so."""
    params = read_params(root)
    said = (params.protocol, params.oracle, params.study, params.pack.selection)
    if said != (manifest.protocol, manifest.oracle, manifest.study, manifest.selection):
        raise InputError(
            layout.MANIFEST, "isn't what params.yaml says now", "a study frozen as it stands", "freeze again"
        )
    paths = [str((root / name).resolve()) for name in (layout.PARAMS, Path(params.pack.path))]
    changed = str(repo.git.status("--porcelain", "--untracked-files=all", "--", *paths)).splitlines()
    if changed:
        raise UsageError(
            one_line(changed[0][3:]), "isn't as committed", "parameters and pack that git has", "commit them first"
        )


@contextmanager
def _registry(root: Path) -> Iterator[tuple[git.Repo, list[Line]]]:
    """(repository, lines) of the registry, for one process at a time."""
    found = repository(root)
    if found is None:
        raise UsageError(root, "is in no git repository with a commit", "one", "`git init`, and commit the study")
    repo, inside = found
    folder = layout.journal(root)
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / "registry.lock").open("a+") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        path = root / layout.REGISTRY
        data = read_bytes(path, MAX_BYTES, "the registry") if path.exists() else b""
        lines = read_chain(data)
        held = blob(repo.head.commit, f"{inside}{layout.REGISTRY.as_posix()}") or b""
        if not data.startswith(held):
            raise InputError(
                layout.REGISTRY, "lacks lines that HEAD's has", "HEAD's lines, and new ones after them",
                f"`git checkout {layout.REGISTRY}`",
            )  # fmt: skip
        yield repo, lines


def _append(root: Path, repo: git.Repo, lines: list[Line], entry: Entry, said: str) -> Line:
    """Append a line and commit the file alone; whatever fails, the file is as it was."""
    path = root / layout.REGISTRY
    before = path.read_bytes() if path.exists() else None
    one = line_of(entry)
    try:
        replace_bytes(path, (before or b"") + one + b"\n")
        _commit(repo, path, said)
    except BaseException:
        if before is None:
            path.unlink(missing_ok=True)
        else:
            replace_bytes(path, before)
        raise
    return Line(len(lines) + 1, sha256(one), entry)


def _commit(repo: git.Repo, path: Path, said: str) -> None:
    import git

    name, until = str(path.resolve()), time.monotonic() + PATIENCE_S
    while True:
        try:
            repo.git.add("--intent-to-add", "--", name)
            repo.git.commit("--quiet", "--only", "-m", said, "--", name)
            return
        except git.GitCommandError as error:
            words = str(error.stderr)
            if ("index.lock" in words or "cannot lock ref" in words) and time.monotonic() < until:
                time.sleep(0.1)
                continue
            if "tell me who you are" in words or "empty ident" in words:
                raise UsageError(
                    "git", "doesn't know who commits", "a name and an address",
                    "`git config user.name …` and `git config user.email …`",
                ) from None  # fmt: skip
            last = [line for line in words.strip(" \n'").splitlines() if line.strip()]
            raise UsageError(
                "git commit", one_line(last[-1] if last else error.status), "the registry committed"
            ) from None


def where(root: Path) -> str:
    """The registry's path, for people."""
    return os.path.relpath(root / layout.REGISTRY)
