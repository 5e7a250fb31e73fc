"""Exclusions that people ask for: `data/exclusions.jsonl`, one event a line, judged and never trusted."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Any

from pydantic import AwareDatetime, BeforeValidator, Field, field_validator

from stages.contract import layout, limits
from stages.contract.errors import InputError
from stages.contract.protocol import ITEM_RULES, Protocol
from stages.contract.text import decode, parse_json, read_bytes
from stages.contract.types import Id, Strict, validate
from stages.gate.reasons import RULES

HEADER = '{"schema": "weighbridge.exclusions/1"}'
"""An optional first line, so that a study without events has a file that isn't empty, which DVC warns of."""
MAX_EVENTS_BYTES = 16 * 1024 * 1024


def _written(value: Any) -> Any:
    # pydantic would take a number for seconds since 1970.
    if not isinstance(value, str | datetime):
        raise ValueError("a time with its zone, such as 2026-01-31T12:00:00Z")
    return value


class Event(Strict):
    """One exclusion event: rule, item, and when the evidence was found."""

    rule: Annotated[str, Field(min_length=1, max_length=100)]
    item_id: Id
    time: Annotated[AwareDatetime, Field(strict=False), BeforeValidator(_written)]
    evidence: Annotated[str, Field(max_length=2000)] = ""

    @field_validator("time")
    @classmethod
    def _in_reach(cls, value: datetime) -> datetime:
        if not 1970 <= value.year < 9999:  # beyond, UTC may lie outside of what a datetime can hold
            raise ValueError("a year from 1970 to 9998")
        return value

    def stamp(self) -> str:
        """The time in UTC, as tables hold it."""
        return self.time.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def read_events(root: Path) -> list[tuple[str, Event]]:
    """(line as written, event) of every line; no file means none. Raises InputError naming the line."""
    path = root / layout.EVENTS
    if not path.exists():
        return []
    result = []
    for number, line in enumerate(decode(layout.EVENTS, read_bytes(path, MAX_EVENTS_BYTES)).split("\n"), start=1):
        where = f"{layout.EVENTS}:{number}"
        if len(line) > limits.MAX_LINE_BYTES:
            raise InputError(where, f"a line of {len(line):,} characters", f"at most {limits.MAX_LINE_BYTES:,}")
        if line.strip() and line.strip() != HEADER:
            result.append((line.strip(), validate(Event, parse_json(where, line.encode()), where)))
    return result


def judge_event(
    line: str,
    event: Event,
    placebos: Mapping[str, bool],
    protocol: Protocol,
    admitted: Mapping[str, Any],
    before: Collection[str],
) -> str | None:
    """Why an event is refused, or None if it counts.

    `placebos` tells of every item of the plan whether it is one, `admitted` holds preflight's word on each item,
    `before` the lines that stood in the file before the first trial.

    It counts if its rule is registered, is about the item and not an outcome, and either the event stood in the
    file before the first trial or the check that the rule names was true on the frozen bytes.
    """
    if event.item_id not in placebos:
        return f"no item {event.item_id} in the plan"
    if placebos[event.item_id]:
        return "a placebo can't be excluded"
    if event.rule not in RULES:
        return f"rule {event.rule} is not a rule"
    if event.rule not in protocol.exclusion_rules:
        return f"rule {event.rule} was not registered"
    if event.rule not in ITEM_RULES:
        return f"rule {event.rule} is decided by the session stamp alone"
    if line in before:
        return None
    if admitted.get(event.item_id, {}).get("rule") == event.rule:
        return None
    return f"came after the first trial, and the check {event.rule} is not true on the frozen bytes"
