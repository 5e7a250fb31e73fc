"""A log of stamps, one JSON object a line, held against the schema and an envelope. Read in one pass, line by line.

What the gate would exclude has the gate's rule. What a log can't know of its trials (how many attempts they had, when
they ran) is left to the gate; what can be seen in a log alone is named here.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timedelta
from itertools import pairwise
from pathlib import Path
from typing import Any

from stages.contract.errors import InputError, MissingInput
from stages.contract.plan import Plan
from stages.contract.protocol import Envelope
from stages.contract.stamp import Stamp
from stages.contract.text import parse_json, read_json
from stages.contract.types import validate
from stages.contract.yamlfile import read_yaml
from stages.session.checked import ARMS, Checked, Place
from stages.session.envelope import amiss, broken

MAX_FILE_BYTES = 2 * 1024**3
MAX_LINE_BYTES = 1024 * 1024
AHEAD = timedelta(minutes=1)
"""How far a start may lie in the future: clocks differ."""
FASTEST = 20_000
"""Tokens a second that no server writes to one reader."""


def read_envelope(path: Path) -> Envelope:
    """The envelope of params.yaml, of a protocol, or of a file that holds nothing else. Raises InputError."""
    value = read_yaml(path) if path.suffix in (".yaml", ".yml") else read_json(path)
    where = str(path)
    for key in ("protocol", "envelope"):
        if isinstance(value, dict) and key in value:
            value, where = value[key], f"{where}: {key}"
    return validate(Envelope, value, where)


def read_trials_of(path: Path) -> tuple[set[str], int, int]:
    """(items, repeats, attempts at most) of a plan. Raises InputError."""
    plan = validate(Plan, read_json(path), path)
    return {item.item_id for item in plan.items}, plan.trial_budget, plan.retry_ceiling + 1


def check_log(
    path: Path, envelope: Envelope | None, planned: tuple[set[str], int, int] | None, now: datetime
) -> Checked:
    """Every line of the log, then its trials. Without an envelope there are no limits, without a plan no unknown trial.

    Trials of the plan without a stamp are counted and are no fault: a log may hold a part of them.

    Raises MissingInput or InputError where the file can't be read at all.
    """
    checked = Checked()
    for number, data in _lines(path):
        checked.lines += 1
        _line(checked, number, data, envelope, planned, now)
    for place, attempts in sorted(checked.attempts.items()):
        name = f"{place[0]} ({place[1]}, repeat {place[2]})"
        there = {attempt for attempt, _ in attempts}
        gone = max(there) - len(there)
        if gone:
            first = next(n for n in range(1, max(there)) if n not in there)
            checked.add(0, "missing_stamp", f"{name}: gap, no stamp of attempt {first} of {max(there)}", place)
        for found in amiss(attempts):
            checked.add(0, "missing_stamp", f"{name}: {found}", place)
    if planned is not None:
        items, repeats, _ = planned
        seen = sum(place[0] in items and place[2] < repeats for place in {*checked.attempts, *checked.rules})
        checked.absent = len(ARMS) * len(items) * repeats - seen
    return checked


def _lines(path: Path) -> Iterator[tuple[int, bytes | str]]:
    """(number, line without its end), blank ones left out; a text for a line that is too long to be held."""
    if path.is_dir() or (path.exists() and not path.is_file()):
        raise InputError(path, "is no regular file", "a log of stamps, one JSON object a line")
    try:
        if path.stat().st_size > MAX_FILE_BYTES:
            raise InputError(path, f"is larger than {MAX_FILE_BYTES:,} bytes", f"at most {MAX_FILE_BYTES:,}")
        with path.open("rb") as stream:
            number = 0
            while piece := stream.readline(MAX_LINE_BYTES + 1):
                number += 1
                if len(piece) > MAX_LINE_BYTES and not piece.endswith(b"\n"):
                    while piece and not piece.endswith(b"\n"):
                        piece = stream.readline(MAX_LINE_BYTES)
                    yield number, f"a line of more than {MAX_LINE_BYTES:,} bytes"
                elif piece.strip():
                    yield number, piece.rstrip(b"\r\n")
    except FileNotFoundError:
        raise MissingInput(path, "doesn't exist", "a log of stamps, one JSON object a line") from None
    except OSError as error:
        raise InputError(path, f"can't be read ({error.strerror})", "a log of stamps") from None


def _line(
    checked: Checked,
    number: int,
    data: bytes | str,
    envelope: Envelope | None,
    planned: tuple[set[str], int, int] | None,
    now: datetime,
) -> None:
    if isinstance(data, str):
        checked.unreadable += 1
        return checked.add(number, "unreadable", data)
    try:
        value = parse_json("line", data)
    except InputError as error:
        checked.unreadable += 1
        return checked.add(number, "unreadable", error.found)
    if not isinstance(value, dict):
        checked.unreadable += 1
        return checked.add(number, "unreadable", "no JSON object")
    try:
        stamp = validate(Stamp, value, "stamp")
    except InputError as error:
        checked.invalid += 1
        return checked.add(number, "missing_stamp", str(error), _place_of(value))
    checked.stamps += 1
    place = (stamp.item_id, stamp.arm, stamp.repeat)
    checked.attempts.setdefault(place, []).append((stamp.attempt, stamp.started_at))
    if stamp.evidence == "asserted":
        checked.add(number, "missing_stamp", "asserted by a person", place)
    for found in (*_unknown(stamp, planned), *_future(stamp, now)):
        checked.add(number, "missing_stamp", found, place)
    for rule, found in broken(stamp, envelope) if envelope is not None else ():
        checked.add(number, rule, found, place)
    for found in _odd(stamp):
        checked.add(number, "note", found, place)
    return None


def _place_of(value: dict[str, Any]) -> Place | None:
    """The trial that an invalid stamp names, where it names one."""
    item, arm, repeat = (value.get(name) for name in ("item_id", "arm", "repeat"))
    if not isinstance(item, str) or arm not in ARMS or isinstance(repeat, bool) or not isinstance(repeat, int):
        return None
    return item, str(arm), repeat


def _unknown(stamp: Stamp, planned: tuple[set[str], int, int] | None) -> Iterator[str]:
    if planned is None:
        return
    items, repeats, attempts = planned
    if stamp.item_id not in items:
        yield f"unknown trial: the plan holds no item {stamp.item_id}"
    elif stamp.repeat >= repeats:
        yield f"unknown trial: repeat {stamp.repeat}, the plan has {repeats} (from 0)"
    elif stamp.attempt > attempts:
        yield f"unknown trial: attempt {stamp.attempt}, the plan allows {attempts}"


def _future(stamp: Stamp, now: datetime) -> Iterator[str]:
    if stamp.started_at > now + AHEAD:
        yield f"future time: started_at {stamp.started_at.isoformat()}"
    if stamp.access_terms is not None and stamp.access_terms.read_at > now + AHEAD:
        yield f"future time: access_terms.read_at {stamp.access_terms.read_at.isoformat()}"


def _odd(stamp: Stamp) -> Iterator[str]:
    """What looks like another unit than milliseconds. A short time is none: only what can't go together is named."""
    timing = stamp.timing
    if timing is None:
        return
    if stamp.status is not None and stamp.status.calls == 1:
        names = ("headers_ms", "first_byte_ms", "first_token_ms", "total_ms")
        known = [(name, value) for name in names if (value := getattr(timing, name)) is not None]
        for (name, value), (later, after) in pairwise(known):
            if value > after:
                yield f"timing.{name} {value:g} is more than timing.{later} {after:g}: other units?"
    output, total = stamp.usage.output_tokens if stamp.usage is not None else None, timing.total_ms
    if output and total and 1000 * output / total > FASTEST:
        yield f"{output} tokens of output within timing.total_ms {total:g}: seconds instead of milliseconds?"
