"""Stamps as JSON-ready data, every key of the contract there, for tests that change a few of them."""

from __future__ import annotations

from typing import Any

GROUPS = ("requested", "served", "timing", "retry", "quota", "status", "usage", "access_terms")
SERVED = ("model", "provider", "region", "deployment", "system_fingerprint", "service_tier", "response_id_prefix")


def raw_stamp(**changes: Any) -> dict[str, Any]:
    """A recorded stamp of a local program. A field set to None gets a reason, one that gets a value loses it.

    `route_what` follows `route_changed` unless it is given.
    """
    stamp: dict[str, Any] = {
        "item_id": "a",
        "arm": "candidate",
        "repeat": 0,
        "attempt": 1,
        "evidence": "recorded",
        "started_at": "2026-03-01T10:00:00Z",
        "server_id": "local:a",
        "queue_ms": 5.0,
        "queue_bound": "process_start",
        "retries": 0,
        "quota_state": "local",
        "route_changed": False,
        "route_what": [],
        "conversation_empty": True,
        "inconsistent": [],
        **dict.fromkeys(GROUPS),
        "why": dict.fromkeys(GROUPS, "a local program without a provider"),
    }
    return changed(stamp, **changes)


def changed(stamp: dict[str, Any], **changes: Any) -> dict[str, Any]:
    """The stamp with these fields changed, its reasons kept in step."""
    made = {**stamp, **changes}
    if "route_changed" in changes and "route_what" not in changes:
        made["route_what"] = ["served model: a, b"] if changes["route_changed"] else []
    if "why" not in changes:
        why = {name: reason for name, reason in stamp["why"].items() if _partly(made.get(name))}
        made["why"] = why | {name: "no header" for name, value in changes.items() if value is None}
    return made


def _partly(value: Any) -> bool:
    return value is None or (isinstance(value, dict) and None in value.values())


def served(model: str) -> dict[str, Any]:
    """What served, of which only the model is known. Its other fields' reason is that of their group."""
    return {**dict.fromkeys(SERVED), "model": [model]}
