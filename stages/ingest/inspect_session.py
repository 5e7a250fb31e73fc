"""What an Inspect sample says of the serving side: waits, retries, served models, fallbacks, cached answers.

Waits are `total_time` less `working_time`; retries are those of the whole sample and of its model calls; a route
changed where a fallback served, or where one requested model was answered by several. Nothing here is a prompt.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from stages.ingest.inspect_text import amount, count, label, listed, mapping, moment

_ROUNDING_MS = 1.0  # both times are rounded to a millisecond


class Calls:
    """Model calls of one sample as its events show them, one event at a time."""

    def __init__(self, requested: str | None) -> None:
        self._requested = requested
        self._served: dict[str, dict[str, None]] = {}
        self._calls = self._cached = 0
        self.retries: int | None = None
        self.started_at: str | None = None
        self._first = True

    def feed(self, events: Iterable[Any], where: str) -> None:
        """Take events in the log's order. Raises InputError."""
        for number, raw in enumerate(events, 1):
            event = mapping(raw, f"{where}: event {number}")
            if self._first:
                self._first = False
                self.started_at = moment(event.get("timestamp"), f"{where}: event {number}: timestamp")
            if event.get("event") == "model":
                self._call(event, f"{where}: event {number}")

    def _call(self, event: Mapping[str, Any], where: str) -> None:
        retries = count(event.get("retries"), f"{where}: retries")
        if retries is not None:
            self.retries = (self.retries or 0) + retries
        asked = label(event.get("model"), f"{where}: model") or ""
        served = _served(event.get("output"), f"{where}: output")
        if served is not None:
            self._served.setdefault(asked, {})[served] = None
        if asked == self._requested and event.get("role") is None:
            self._calls += 1
            self._cached += event.get("cache") == "read"

    @property
    def cached(self) -> bool:
        """Whether every call of the arm's own model was answered from a cache."""
        return 0 < self._calls == self._cached

    @property
    def several(self) -> list[str]:
        """`asked: a, b` of each requested model that several served."""
        return [f"{asked}: {', '.join(names)}" for asked, names in self._served.items() if len(names) > 1]

    @property
    def any_events(self) -> bool:
        """Whether the log has the sample's events; all of its calls are among them then, be they none."""
        return not self._first


def session(
    sample: Mapping[str, Any], calls: Calls, requested: str | None, by: str | None, where: str
) -> dict[str, Any]:
    """Columns of ROWS that the log has of a sample's session and effort; the others are left out. Raises InputError."""
    total = amount(sample.get("total_time"), f"{where}: total_time")
    working = amount(sample.get("working_time"), f"{where}: working_time")
    served = _served(sample.get("output"), f"{where}: output")
    changed, what = _route(sample, calls, served, where)
    usage = mapping(mapping(sample.get("model_usage"), f"{where}: model_usage").get(requested or ""), where)
    known = {
        "queue_ms": _wait(total, working),
        "retries": _retries(sample, calls, where),
        "route_changed": changed,
        "served_model": served,
    }
    return {
        **known,
        "evidence": None if all(value is None for value in known.values()) else "exported",
        "route_what": what,
        "requested_model": requested,
        "served_by": by,
        "cached": calls.cached,
        "wall_s": total,
        "started_at": moment(sample.get("started_at"), f"{where}: started_at") or calls.started_at,
        "attempts": _attempts(sample, where),
        "input_tokens": count(usage.get("input_tokens"), f"{where}: input_tokens"),
        "output_tokens": count(usage.get("output_tokens"), f"{where}: output_tokens"),
        "cost_usd": amount(usage.get("total_cost"), f"{where}: total_cost"),
    }


def _wait(total: float | None, working: float | None) -> float | None:
    """Milliseconds; None where a time is missing, or where work took longer than the whole."""
    if total is None or working is None:
        return None
    wait = round((total - working) * 1000, 3)
    return wait if wait >= 0 else 0.0 if wait >= -_ROUNDING_MS else None


def _retried(sample: Mapping[str, Any], where: str) -> int | None:
    """Earlier tries of a sample that ended in an error. A summary has their number alone."""
    if sample.get("error_retries") is not None:
        return len(listed(sample["error_retries"], f"{where}: error_retries"))
    return count(sample.get("retries"), f"{where}: retries")


def _attempts(sample: Mapping[str, Any], where: str) -> int | None:
    retried = _retried(sample, where)
    return None if retried is None else 1 + retried


def _retries(sample: Mapping[str, Any], calls: Calls, where: str) -> int | None:
    retried = _retried(sample, where)
    return None if retried is None and calls.retries is None else (retried or 0) + (calls.retries or 0)


def _served(output: Any, where: str) -> str | None:
    """The model that an output names; a sample that died has an output without a choice, and names none."""
    made = mapping(output, where)
    return label(made.get("model"), f"{where}: model") if made.get("choices") else None


def _route(sample: Mapping[str, Any], calls: Calls, served: str | None, where: str) -> tuple[bool | None, str | None]:
    """(whether the route changed, what to); None where the log has neither events nor a served model.

    A sample that died before its first call changed no route: were that unknown, failures would leave by their stamp.
    """
    said = []
    own = mapping(sample.get("output"), f"{where}: output").get("fallback")
    fallbacks = listed(sample.get("model_fallbacks"), f"{where}: model_fallbacks") or ([own] if own else [])
    for number, raw in enumerate(fallbacks, 1):
        place = f"{where}: fallback {number}"
        one = mapping(raw, place)
        times = count(one.get("count"), f"{place}: count") or 1
        said.append(
            f"{label(one.get('model'), place)} fell back to {label(one.get('fallback_model'), place)}, {times}×"
        )
    said += calls.several
    if said:
        return True, "; ".join(said)[:500]
    return (False, None) if served is not None or calls.any_events else (None, None)
