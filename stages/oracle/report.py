"""Reading what the driver wrote: signed records in an unbroken row, events, and what lines of the patch did."""

from __future__ import annotations

import hashlib
import hmac
import json
from dataclasses import dataclass, field

from stages.contract.ran import Ran, ran_from

MOST_EVENTS = 1000
MOST_RAN = 500
SUBTEST, RAN = b"!subtest:", b"!ran:"


@dataclass
class Report:
    """`collected`: ids in order; `phases`: id → phase → outcomes; `ended`: the driver came to its end."""

    started: bool = False
    ended: bool = False
    collected: list[str] = field(default_factory=list)
    uncollected: list[str] = field(default_factory=list)
    phases: dict[str, dict[str, list[str]]] = field(default_factory=dict)
    subtests: dict[str, str] = field(default_factory=dict)
    events: set[str] = field(default_factory=set)
    ran: set[Ran] = field(default_factory=set)


def read(raw: bytes, nonce: bytes) -> Report:
    """Lines that aren't properly signed, out of their row, or behind the end become events, never results."""
    report = Report()
    *lines, rest = raw.split(b"\n")
    if rest:
        report.events.add("forged:torn")
    number = 0
    unsigned: list[bytes] = []
    for line in lines:
        if line.startswith(b"!"):
            if not line.startswith(RAN):
                unsigned.append(line + b"\n")
            if line.startswith(SUBTEST):  # unsigned, since it can only spoil a test
                outcome, _, test = line.removeprefix(SUBTEST).decode("ascii", "backslashreplace").partition(":")
                report.subtests.setdefault(test, outcome)
            elif line.startswith(RAN):  # unsigned, since no verdict hangs on it
                told = _ran(line.removeprefix(RAN))
                if told is None:
                    report.events.add("forged:ran")
                elif len(report.ran) < MOST_RAN:
                    report.ran.add(told)
            elif len(report.events) < MOST_EVENTS:
                report.events.add(line[1:501].decode("ascii", "backslashreplace"))
            continue
        mark, _, body = line.partition(b" ")
        proof = hashlib.blake2b(body, key=nonce, digest_size=16).hexdigest().encode()
        if not hmac.compare_digest(mark, proof):
            report.events.add("forged:line")
            continue
        got, kind, *words = json.loads(body)
        if got != number or report.ended:
            report.events.add("forged:row")
            continue
        number += 1
        if kind == "start":
            report.started = True
        elif kind == "collected":
            report.collected.append(words[0])
        elif kind == "uncollected":
            report.uncollected.append(words[0])
        elif kind == "report":
            report.phases.setdefault(words[0], {}).setdefault(words[1], []).append(words[2])
        elif kind == "end":
            report.ended = True
            digest = hashlib.blake2b(b"".join(sorted(unsigned)), digest_size=16).hexdigest()
            if not words or words[-1] != digest:  # some were kept back on their way, or put in
                report.events.add("forged:events")
    return report


def _ran(text: bytes) -> Ran | None:
    try:
        return ran_from(json.loads(text))
    except (ValueError, RecursionError):
        return None
