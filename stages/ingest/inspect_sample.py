"""One Inspect sample, or the summary of one, as a row of a trial.

Errors are `aborted`, or `lost` where the user declared their text an infrastructure fault. Limits of time are
`timeout`; other limits keep the score. Invalidated, cancelled and unscored samples have no outcome.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from stages.contract.digest import sha256
from stages.contract.errors import InputError
from stages.contract.text import kind
from stages.ingest.inspect_score import Judged, Scorer
from stages.ingest.inspect_text import clean, count, mapping, name, text
from stages.ingest.model import Options

_TIME_LIMITS = ("time", "working")


@dataclass(frozen=True)
class Outcome:
    """How a sample ended, in words of ROWS, with the score behind it."""

    status: str | None
    reason: str | None
    judged: Judged
    late_pass: bool = False


def key(sample: Mapping[str, Any], where: str) -> tuple[str, int]:
    """(item, repeat) of a sample. Raises InputError."""
    epoch = count(sample.get("epoch"), f"{where}: epoch", 1)
    if epoch is None:
        raise InputError(f"{where}: epoch", "nothing", "a whole number from 1")
    return name(sample.get("id"), f"{where}: id"), epoch


def outcome(sample: Mapping[str, Any], scorer: Scorer, options: Options, where: str) -> Outcome:
    """How a sample ended. Raises InputError."""
    error, limit = _error(sample, where), _limit(sample, where)
    if sample.get("invalidation"):
        why = mapping(sample["invalidation"], f"{where}: invalidation").get("reason")
        said = f"invalidated: {clean(why, 180)}" if isinstance(why, str) and why.strip() else "invalidated"
        return Outcome(None, said, _points(sample, scorer, where))
    if error is not None:
        shown = clean(error) or "an error without a message"
        if error.startswith(("CancelledError", "Cancelled(")):
            return Outcome(None, "cancelled", _points(sample, scorer, where))
        lost = any(declared in error for declared in options.infra_errors if declared)
        return Outcome("lost" if lost else "aborted", shown, _points(sample, scorer, where))
    judged = scorer.judge(sample, where)
    if limit in _TIME_LIMITS:
        return Outcome("timeout", f"limit: {limit}", judged, late_pass=judged.verdict == "passed")
    if limit is not None and not judged.there:
        return Outcome("aborted", f"limit: {limit}", judged)
    if judged.verdict is None:
        return Outcome(None, judged.why if limit is None else f"{judged.why}; limit: {limit}", judged)
    return Outcome(judged.verdict, None if limit is None else f"limit: {limit}", judged)


def stratum(metadata: Mapping[str, Any], field: str, where: str) -> str | None:
    """A field of a sample's metadata as a label; None where it isn't there. Raises InputError of a structure."""
    value = metadata.get(field)
    return None if value is None else name(value, f"{where}: metadata: {field}")


def item_digest(sample: Mapping[str, Any]) -> str | None:
    """sha256 of input, target and choices; roles and contents alone of messages, since their ids are new in each run.

    None where a part stands elsewhere in the log under a number, which says nothing of its content.
    """
    value = {"input": _content(sample.get("input")), "target": sample.get("target"), "choices": sample.get("choices")}
    made = json.dumps(value, sort_keys=True, separators=(",", ":"))
    return None if value["input"] is None or '"attachment://' in made else sha256(made.encode())


def _content(value: Any) -> Any:
    if not isinstance(value, list):
        return value
    return [{k: one.get(k) for k in ("role", "content")} if isinstance(one, dict) else one for one in value]


def _points(sample: Mapping[str, Any], scorer: Scorer, where: str) -> Judged:
    """The score of a sample that has none that counts: what Inspect's own accuracy makes of it, and nothing else."""
    return replace(scorer.judge(sample, where), verdict=None) if sample.get("scores") else Judged(None, there=False)


def _error(sample: Mapping[str, Any], where: str) -> str | None:
    """The message of an error: text in a summary, an object in a sample."""
    value = sample.get("error")
    if isinstance(value, dict):
        return text(value.get("message"), f"{where}: error: message") or ""
    return text(value, f"{where}: error")


def _limit(sample: Mapping[str, Any], where: str) -> str | None:
    value = sample.get("limit")
    found = value.get("type") if isinstance(value, dict) else value
    if value is None:
        return None
    if not isinstance(found, str) or not found.isidentifier() or len(found) > 40:
        raise InputError(f"{where}: limit", kind(found), "the name of a limit")
    return found
