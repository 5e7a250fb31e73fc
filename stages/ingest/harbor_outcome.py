"""How a Harbor trial ended, and which of its rewards counts."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from stages.contract.errors import InputError, one_line
from stages.contract.text import read_bytes
from stages.ingest.folders import json_object, plain
from stages.ingest.lines import finite
from stages.ingest.model import Notes, Options
from stages.ingest.values import clean, infrastructure, label

_LATE = "AgentTimeoutError"
_EXIT = "NonZeroAgentExitCodeError"
_CANCELLED = ("CancelledError", "KeyboardInterrupt")
_VERIFIER = ("Verifier", "RewardFile", "AddTests", "DownloadVerifier")  # what names of its errors begin with


def ended(
    where: str, status: str | None, why: str | None, kind: str | None, error: dict[str, Any], options: Options
) -> tuple[str | None, str | None, bool]:
    """(status, reason, passed late) of a trial with what its verifier and its exception say."""
    if kind is None:
        return status, why, False
    said = label(where, error.get("exception_message"), "exception_message")
    reason = clean(f"{kind}: {said}" if said else kind)
    if infrastructure([kind, error.get("exception_message"), reason], options.infra_errors):
        return "lost", reason, False
    if kind == _LATE:
        return "timeout", reason, status == "passed"
    if kind in _CANCELLED:
        return None, f"cancelled: {kind}", False
    if kind == _EXIT and status is not None:
        return status, reason, False
    if kind.startswith(_VERIFIER):
        return "broken", reason, False
    return "aborted", reason, False


def chosen(where: str, rewards: dict[str, Any], wanted: str | None) -> tuple[str, Any]:
    """(name, value) of the reward that counts."""
    if wanted is not None and rewards:
        if wanted not in rewards:
            raise InputError(where, f"no reward {wanted}", f"one of {', '.join(sorted(rewards)[:8])}")
        return wanted, rewards[wanted]
    if len(rewards) > 1 and "reward" not in rewards:
        raise InputError(
            where, f"{len(rewards)} rewards: {', '.join(sorted(rewards)[:8])}", "one", "choose it with --filter"
        )
    return next(((key, rewards[key]) for key in ("reward", *rewards) if key in rewards), ("reward", None))


def check_disk(folder: Path, item: str, key: str, reward: Any, notes: Notes) -> None:
    """Note a reward that the verifier wrote and the result doesn't have."""
    verifier = folder / "verifier"
    if verifier.is_symlink():
        raise InputError(verifier, "is a symbolic link", "a folder")
    wrote: Any = None
    if plain(verifier / "reward.json"):
        wrote = json_object(verifier / "reward.json", 1024 * 1024, "rewards by name")[0].get(key)
    elif key == "reward" and plain(verifier / "reward.txt"):
        text = read_bytes(verifier / "reward.txt", 4096, "a reward").strip()
        try:
            wrote = float(text) if text else None
        except ValueError:
            raise InputError(verifier / "reward.txt", f"{text!r:.40}", "a number") from None
    if wrote is not None and finite(wrote) != finite(reward):
        found = f"the verifier wrote {one_line(key, 60)} {wrote!r:.30}, result.json says {reward!r:.30}"
        notes.add("total_disagrees", folder.name, found, 1, [item])
