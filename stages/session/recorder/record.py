"""What is noted of a request while it goes on, and how much of it a trial may have in memory."""

from __future__ import annotations

import json
import time
from dataclasses import dataclass, field
from datetime import datetime

from stages.contract.stamp import Ended
from stages.session.exchange import Exchange
from stages.session.recorder import limits

_PIECE_BYTES = 120  # what keeping a piece costs beside its bytes: an answer may come a byte at a time


class Room:
    """How many more bytes of bodies one trial may have in memory."""

    def __init__(self) -> None:
        self.left = limits.MAX_TRIAL_BYTES

    def take(self, count: int) -> bool:
        """Take room for so many, if there is."""
        if count > self.left:
            return False
        self.left -= count
        return True


@dataclass
class Record:
    """What is noted of a request while it goes on. Times in milliseconds from when it was sent to the provider."""

    started_at: datetime
    method: str
    url: str
    room: Room
    held: int = 0
    headers: list[tuple[str, str]] = field(default_factory=list)
    body: bytes = b""
    status: int | None = None
    answer: list[tuple[str, str]] = field(default_factory=list)
    pieces: list[tuple[float | None, bytes]] = field(default_factory=list)
    ended: Ended = "upstream_unreachable"
    headers_ms: float | None = None
    first_ms: float | None = None
    total_ms: float | None = None
    size: int = 0
    kept: int = 0
    cut: bool = False
    clock: float = field(default_factory=time.monotonic)

    def now(self) -> float:
        return 1000 * (time.monotonic() - self.clock)

    def piece(self, data: bytes) -> None:
        """Note a piece of the answer's body, and keep it while there is room."""
        at = self.now()
        if self.first_ms is None:
            self.first_ms = at
        if not data:
            return
        self.size += len(data)
        self.kept += len(data) + _PIECE_BYTES
        if self.kept <= limits.MAX_KEPT_BYTES and not self.cut and self.hold(len(data) + _PIECE_BYTES):
            self.pieces.append((at, data))
        else:
            self.cut = True

    def hold(self, count: int) -> bool:
        """Take room for bytes that are kept; none may be left."""
        taken = self.room.take(count)
        self.held += count if taken else 0
        return taken

    def leave(self) -> None:
        """Give the room back."""
        self.room.left += self.held
        self.held, self.body, self.pieces = 0, b"", []

    def exchange(self) -> Exchange:
        """The whole of it, for a dialect to read."""
        return Exchange(
            started_at=self.started_at,
            method=self.method,
            url=self.url,
            request_headers=self.headers,
            request_body=self.body,
            status=self.status,
            response_headers=self.answer,
            pieces=self.pieces,
            ended=self.ended,
            headers_ms=self.headers_ms,
            first_byte_ms=self.first_ms,
            total_ms=self.total_ms,
            request_bytes=len(self.body),
            response_bytes=self.size,
            cut=frozenset({"response"} if self.cut else ()),
        )


_LAST = frozenset({"message_stop", "response.completed", "response.failed", "response.incomplete"})


def ended_itself(record: Record) -> bool:
    """Whether the last event of a stream has come: nothing follows it but the end of the connection."""
    tail = b"".join(data for _, data in record.pieces[-8:])[-1_000_000:]
    _, mark, last = tail.rstrip().rpartition(b"data:")
    if record.cut or not mark:
        return False
    if last.strip() == b"[DONE]":
        return True
    try:
        event = json.loads(last)
    except (ValueError, RecursionError):
        return False
    return isinstance(event, dict) and event.get("type") in _LAST
