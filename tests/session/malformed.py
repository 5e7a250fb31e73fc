"""Lines of a log of stamps that are wrong, by name: how, what is said of them, and whether the JSON Schema can tell."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from tests.support.stamps import SERVED, raw_stamp

USAGE = dict.fromkeys(("input_tokens", "output_tokens", "cached_tokens", "reasoning_tokens", "cost_usd"))
TIMING = dict.fromkeys(("headers_ms", "first_byte_ms", "first_token_ms", "total_ms", "server_claimed_ms"))
QUOTA = dict.fromkeys(("limits", "remaining", "resets_s", "token"))


@dataclass(frozen=True)
class Malformed:
    """`lines` of one log; `says` stands in what the gate says; `log` in what `stamps check` says of the log.

    `rule` is what `stamps check` calls it. `schema`: whether the JSON Schema refuses the last line. `reads`: whether
    each line is a stamp, and only the log or the trial tells what is wrong.
    """

    lines: tuple[str | bytes, ...]
    says: str
    log: str
    rule: str = "missing_stamp"
    schema: bool = True
    reads: bool = False


def good(**changes: Any) -> dict[str, Any]:
    return {k: v for k, v in raw_stamp(**changes).items() if v != "drop"}


def _stamp(says: str, schema: bool = True, **changes: Any) -> Malformed:
    return Malformed((json.dumps(good(**changes)),), says, says, schema=schema)


def _written(says: str, old: str, new: str, rule: str = "missing_stamp", schema: bool = True) -> Malformed:
    text = json.dumps(good())
    assert old in text
    return Malformed((text.replace(old, new, 1),), says, says, rule, schema)


def _text(says: str, *lines: str | bytes) -> Malformed:
    return Malformed(lines, says, says, "unreadable")


def _several(says: str, log: str, *stamps: dict[str, Any]) -> Malformed:
    return Malformed(tuple(json.dumps(s) for s in stamps), says, log, schema=False, reads=True)


_SERVED = {**dict.fromkeys(SERVED), "model": ["m-1"]}
_WHY = good()["why"]
MALFORMED = {
    "no item": _stamp("item_id: missing", item_id="drop"),
    "no arm": _stamp("arm: missing", arm="drop"),
    "no attempt": _stamp("attempt: missing", attempt="drop"),
    "no start": _stamp("started_at: missing", started_at="drop"),
    "no queue delay": _stamp("queue_ms: missing", queue_ms="drop"),
    "no quota state": _stamp("quota_state: missing", quota_state="drop"),
    "no ground of a route change": _stamp("route_what: missing", route_what="drop"),
    "no inconsistencies": _stamp("inconsistent: missing", inconsistent="drop"),
    "no region in a group": _stamp(
        "served.region: missing", served={k: v for k, v in _SERVED.items() if k != "region"}, why=_WHY
    ),
    "no reasons at all": _stamp("requested: a value, or null with why.requested", why="drop"),
    "unknown key": _stamp("queue: unknown key", queue=3),
    "null without a reason": _stamp("queue_ms: a value, or null with why.queue_ms", queue_ms=None, why=_WHY),
    "a reason for a value": _stamp("why.queue_ms", schema=False, why={**_WHY, "queue_ms": "unknown"}),
    "repeat as text": _stamp("repeat: found '0'", repeat="0"),
    "repeat as a boolean": _stamp("repeat: found True", repeat=True),
    "attempt from 0": _stamp("attempt: found 0", attempt=0),
    "half an attempt": _stamp("attempt: found 1.5", attempt=1.5),
    "retries as text": _stamp("retries: found '0'", retries="0"),
    "queue delay as text": _stamp("queue_ms: found '5 ms'", queue_ms="5 ms"),
    "route change as a word": _stamp("route_changed: found 'no'", route_changed="no", route_what=[]),
    "a third arm": _stamp("arm: found 'baseline'", arm="baseline"),
    "evidence of another kind": _stamp("evidence: found 'guessed'", evidence="guessed"),
    "item with a path": _stamp("item_id: found '../a'", item_id="../a"),
    "served as text": _stamp("served: found 'm-1'", served="m-1"),
    "an empty list of models": _stamp("served.model: found []", served={**_SERVED, "model": []}, why=_WHY),
    "start as a number": _stamp("started_at: found 1772359200", started_at=1772359200),
    "start as a number in text": _stamp("started_at: found '1772359200'", schema=False, started_at="1772359200"),
    "start without a zone": _stamp("started_at: found", schema=False, started_at="2026-03-01T10:00:00"),
    "start in words": _stamp("started_at: found 'at noon'", schema=False, started_at="at noon"),
    "negative queue delay": _stamp("queue_ms: found -0.5", queue_ms=-0.5),
    "negative quota": _stamp(
        "quota.remaining.requests: found -1", quota={**QUOTA, "remaining": {"requests": -1}}, why=_WHY
    ),
    "nanoseconds": _stamp("timing.total_ms: found", timing={**TIMING, "total_ms": 4.1e12}, why=_WHY),
    "retries in the milliards": _stamp("retries: found 4000000000", retries=4_000_000_000),
    "half a token": _stamp("usage.output_tokens: found 0.5", usage={**USAGE, "output_tokens": 0.5}, why=_WHY),
    "status of no HTTP": _stamp(
        "status.last: found 999", status={"calls": 1, "failed": 0, "last": 999, "last_failure": None}
    ),
    "another quota state": _stamp("quota_state: found 'fine'", quota_state="fine"),
    "a route change that names nothing": _stamp("route_what", schema=False, route_changed=True, route_what=[]),
    "several models and no route change": _stamp(
        "route_changed: true, since served.model", schema=False, served={**_SERVED, "model": ["m-1", "m-2"]}, why=_WHY
    ),
    "NaN": _written("NaN is no JSON number", '"queue_ms": 5.0', '"queue_ms": NaN', "unreadable"),
    "Infinity": _written("Infinity is no JSON number", '"queue_ms": 5.0', '"queue_ms": -Infinity', "unreadable"),
    "beyond a float": _written("too large a number", '"queue_ms": 5.0', '"queue_ms": 1e999', "unreadable"),
    "beyond 2**53": _written("don't agree on", '"retries": 0', '"retries": 9007199254740993', "unreadable"),
    "half a surrogate pair": _written("can't be read as JSON", '"local:a"', '"\\ud800"', "unreadable"),
    "a key twice": _written("a key stands twice", '"repeat": 0', '"repeat": 1, "repeat": 0', "unreadable"),
    "no JSON": _text("can't be read as JSON", "item a, candidate, fine"),
    "cut off": _text("can't be read as JSON", json.dumps(good())[:-1]),
    "two in a line": _text("can't be read as JSON", json.dumps(good()) * 2),
    "not UTF-8": _text("isn't UTF-8", json.dumps(good()).encode().replace(b"local:a", b"local:\xff")),
    "deep": _text("can't be read as JSON", "[" * 5000 + "]" * 5000),
    "asserted": _several("asserted by a person", "asserted by a person", good(evidence="asserted")),
    "in the future": _several(
        "after the trial", "future time: started_at 2099", good(started_at="2099-03-01T10:00:00Z")
    ),
    "before the trial": Malformed(
        (json.dumps(good(started_at="2026-02-28T10:00:00Z")),), "before the trial", "", schema=False
    ),
    "duplicate attempt": _several("attempt 1: duplicate, it has 2 stamps", "duplicate, it has 2", good(), good()),
    "unknown item": _several("a stamp of b (candidate", "unknown trial: the plan holds no item b", good(item_id="b")),
    "unknown repeat": _several("a stamp of a (candidate, repeat 7)", "unknown trial: repeat 7", good(repeat=7)),
    "unknown attempt": _several(
        "attempt 3: the trial had 2", "unknown trial: attempt 3", *(good(attempt=n) for n in (1, 2, 3))
    ),
    "out of order": _several(
        "attempt 2: out of order",
        "attempt 2: out of order",
        good(started_at="2026-03-01T10:00:01Z"),
        good(attempt=2, started_at="2026-03-01T10:00:00Z"),
    ),
    "a gap": _several("1 stamps for 2 attempts", "gap, no stamp of attempt 1 of 2", good(attempt=2)),
}
"""Where `log` is empty, a log alone can't tell."""
