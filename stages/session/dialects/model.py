"""What a dialect is: a provider's own spellings, as data, and the forms of answer that providers share.

Paths are dotted keys into parsed JSON, tried in order; a part of digits is a place in a list.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

Chunk = dict[str, Any]
"""One JSON object of a body: the whole of it, or one event of a stream."""
Paths = tuple[str, ...]
Sums = tuple[Paths, ...]
"""Ways to find a number: in each the first path must be there, and what the others hold is added to it."""

CHAT_QUOTA = re.compile(r"x-ratelimit-(?P<what>limit|remaining|reset)(?:-(?P<kind>[a-z0-9-]{1,40}))?")
PLAIN_QUOTA = re.compile(r"ratelimit-(?P<what>limit|remaining|reset)(?:-(?P<kind>[a-z0-9-]{1,40}))?")


def at(value: Any, path: str) -> Any:
    """What stands under a dotted path, or None."""
    for part in path.split("."):
        if isinstance(value, dict):
            value = value.get(part)
        elif isinstance(value, list) and part.isdigit() and int(part) < len(value):
            value = value[int(part)]
        else:
            return None
    return value


def first(value: Any, paths: Paths) -> Any:
    """What the first of the paths that holds anything holds, or None."""
    for path in paths:
        found = at(value, path)
        if found is not None:
            return found
    return None


def listed(value: Any) -> list[Chunk]:
    """The objects of a list; none of anything else."""
    return [one for one in value if isinstance(one, dict)] if isinstance(value, list) else []


def nothing(_: Chunk) -> bool:
    return False


@dataclass(frozen=True)
class Shape:
    """A form of request and answer.

    `content` tells whether a chunk brings any of the answer, `finished` whether it ends a stream (None: streams of
    this form aren't marked), `empty` whether a request carries no earlier turn (a text: why that can't be told).
    """

    name: str
    content: Callable[[Chunk], bool]
    empty: Callable[[Chunk], bool | str]
    finished: Callable[[Chunk], bool] | None = None
    generates: bool = True  # an answer without a token is a failure
    model: Paths = ("model",)
    fingerprint: Paths = ("system_fingerprint",)
    tier: Paths = ("service_tier",)
    id: Paths = ("id",)
    sent_model: Paths = ("model",)
    sent_temperature: Paths = ("temperature",)
    sent_seed: Paths = ("seed",)
    tokens: Mapping[str, Sums] = field(default_factory=dict)
    total: Paths = ()


def by_path(_: str, __: Chunk) -> Shape | None:
    return None


def no_place(_: str, __: str) -> dict[str, str]:
    return {}


@dataclass(frozen=True)
class Dialect:
    """What is a provider's own. `hosts` are exact names, or `*.suffix`; a name not among them belongs to no one."""

    name: str
    hosts: tuple[str, ...] = ()
    families: frozenset[str] = frozenset()  # of models that its own hosts serve; none: any
    closed: bool = False  # its own hosts pass on no other provider's answers
    marks: Callable[[Chunk], bool] = nothing  # a chunk that only this provider writes
    shape: Callable[[str, Chunk], Shape | None] = by_path  # from path and request, where the usual forms don't hold
    place: Callable[[str, str], dict[str, str]] = no_place  # model, provider, region, deployment from host and path
    identity: tuple[str, ...] = ()  # response headers that stay the same from call to call and say who serves
    region: tuple[str, ...] = ()
    deployment: tuple[str, ...] = ()
    model: tuple[str, ...] = ()
    provider: tuple[str, ...] = ()
    provider_paths: Paths = ("provider",)
    quota: tuple[re.Pattern[str], ...] = (CHAT_QUOTA,)
    reset_s: float = 1.0  # what a bare number in a reset header counts, in seconds
    claimed: tuple[tuple[str, float], ...] = ()  # (response header, its unit in ms): processing before the headers
    claimed_body: tuple[tuple[str, float], ...] = ()  # (path, its unit in ms): processing of a whole answer
    attempts: tuple[str, re.Pattern[str], int] | None = None  # a request header's count, and what it counts from
    tokens: Mapping[str, Sums] = field(default_factory=dict)  # beside those of the form of answer
    error_paths: Paths = ()  # codes, before the usual ones
    exhausted: frozenset[str] = frozenset()
    throttled: frozenset[str] = frozenset()
    exhausts: Callable[[Chunk], bool] = nothing  # an error body that tells an empty quota from a full minute
