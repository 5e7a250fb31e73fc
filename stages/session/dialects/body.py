"""From the pieces of an answer's body to its JSON objects, each with the time at which it was there whole.

Pieces may end anywhere, within a character or a word; where lines end in the joined bytes says which piece brought
them. Whatever can't be read has a reason.
"""

from __future__ import annotations

import json
import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from stages.session.dialects.encoding import plain_pieces
from stages.session.dialects.eventstream import frames
from stages.session.dialects.headers import every
from stages.session.dialects.model import Chunk
from stages.session.exchange import Headers

_LINE = re.compile(rb"([^\r\n]*)(\r\n|\n|\r|\Z)")
_SSE = re.compile(rb"(?:\xef\xbb\xbf)?\s*(?:data|event|id|retry)?:")
_SPACE = " \t\r\n"
CUT = "the body was longer than what is kept of it"
MOST_VALUES = 2_000_000
"""Values in one JSON text. `[{},{},…` takes thirty times its size in memory, and an agent may send 64 MB of it."""
MOST_OBJECTS = 100_000
"""Objects in one stream."""
_MANY = f"more than {MOST_OBJECTS:,} objects in the stream"


@dataclass
class Body:
    """JSON objects of a body with the time [ms] at which each was whole; `why` it couldn't be read, else None."""

    chunks: list[tuple[float | None, Chunk]] = field(default_factory=list)
    size: int = 0
    streamed: bool = False
    ended: bool = False  # a stream's own last word was there
    twice: bool = False  # a key stands twice in an object
    why: str | None = None


def parse(data: bytes, into: Body) -> Any:
    """JSON of any shape; notes a key that stands twice. Raises ValueError or RecursionError for what is none."""
    if crowded(data):
        raise ValueError("too many values")

    def pairs(found: list[tuple[str, Any]]) -> dict[str, Any]:
        made = dict(found)
        into.twice = into.twice or len(made) != len(found)
        return made

    return json.loads(data.decode("utf-8-sig"), object_pairs_hook=pairs)


def crowded(data: bytes) -> bool:
    """Whether a JSON text may hold more values than are read."""
    return len(data) > MOST_VALUES and sum(map(data.count, (b"{", b"[", b","))) > MOST_VALUES


def read_request(encodings: Sequence[str], data: bytes, cut: bool) -> tuple[Chunk, str | None, bool]:
    """(the request's JSON object, why there is none, whether a key stands twice in it)."""
    if cut:
        return {}, CUT, False
    if not data:
        return {}, "the request has no body", False
    plain, why = plain_pieces(encodings, [(None, data)])
    if why is not None:
        return {}, f"the request: {why}", False
    data = b"".join(piece for _, piece in plain)
    if crowded(data):
        return {}, f"the request's body holds more than {MOST_VALUES:,} values", False
    body = Body()
    try:
        value = parse(data, body)
    except (ValueError, RecursionError):
        return {}, "the request's body is no JSON", False
    if not isinstance(value, dict):
        return {}, "the request's body is no JSON object", body.twice
    return value, None, body.twice


def read_body(headers: Headers, pieces: Sequence[tuple[float | None, bytes]], cut: bool) -> Body:
    """The JSON objects of an answer, whichever way it was sent."""
    plain, why = plain_pieces(every(headers, "content-encoding"), pieces)
    ends, at = [], 0
    for _, piece in plain:
        at += len(piece)
        ends.append(at)
    data = b"".join(piece for _, piece in plain)
    body = Body(size=len(data) or sum(len(piece) for _, piece in pieces), why=why)
    if why is not None or not data.strip():
        return body
    times = [time for time, _ in plain]

    def when(end: int) -> float | None:
        return times[min(bisect_left(ends, end), len(times) - 1)]

    kind = " ".join(every(headers, "content-type")).lower()
    if "vnd.amazon.eventstream" in kind:
        body.streamed = True
        found: Iterator[tuple[int, bytes]] = frames(data)
    elif "event-stream" in kind or _SSE.match(data):
        body.streamed = True
        found = events(data)
    elif "ndjson" in kind or "jsonl" in kind or "json-seq" in kind:
        body.streamed = True
        found = ((m.end(), m[1].strip(b" \t\x1e")) for m in _LINE.finditer(data))
    else:
        _whole(data, when, body)
        if body.why is not None and cut:
            body.why = CUT
        return body
    bad = 0
    for end, text in found:
        if text == b"[DONE]":
            body.ended = True
        elif text:
            bad += not _add(text, when(end), body)
        if len(body.chunks) > MOST_OBJECTS:
            body.why = _MANY
            return body
    if not body.chunks:
        body.why = CUT if cut else "no JSON object in the stream"
    elif bad and not cut:
        body.why = f"{bad} events of the stream are no JSON objects"
    return body


def _add(data: bytes, time: float | None, body: Body) -> bool:
    try:
        value = parse(data, body)
    except (ValueError, RecursionError):
        return False
    if isinstance(value, dict):
        body.chunks.append((time, value))
    return isinstance(value, dict)


def events(data: bytes) -> Iterator[tuple[int, bytes]]:
    """(end of its last line, data) of each server-sent event (WHATWG HTML, 9.2.6); one that isn't ended too."""
    lines: list[bytes] = []
    end = 0
    for match in _LINE.finditer(data.removeprefix(b"\xef\xbb\xbf")):
        line = match[1]
        if line.startswith(b"data") and line[4:5] in (b":", b""):
            lines.append(line[5:].removeprefix(b" "))
            end = match.end()
        elif not line and lines:
            yield end, b"\n".join(lines)
            lines = []


def _whole(data: bytes, when: Any, body: Body) -> None:
    """One JSON object; a list of them, as Google streams; or several one after the other, as Ollama does."""
    if crowded(data):
        body.why = f"the body holds more than {MOST_VALUES:,} values"
        return
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError:
        body.why = "the body is no UTF-8 text"
        return
    try:
        value = parse(data, body)
        if isinstance(value, dict):
            body.chunks.append((when(len(data)), value))
            return
    except RecursionError:
        body.why = "the body is nested too deeply"
        return
    except ValueError:
        value = None
    try:
        _several(text, when, body)
    except (ValueError, RecursionError):
        body.why = "the body is no JSON"
    if not body.chunks and body.why is None:
        body.why = "the body is no JSON object"


def _several(text: str, when: Any, body: Body) -> None:
    decoder = json.JSONDecoder()
    place, end = len(text) - len(text.lstrip(_SPACE)), len(text.rstrip(_SPACE))
    inside = text[place : place + 1] == "["
    body.streamed = True
    bytes_before, read_to = 0, 0
    place += inside
    while place < end:
        if text[place] in _SPACE + (",]" if inside else ""):
            place += 1
            continue
        value, place = decoder.raw_decode(text, place)
        if not isinstance(value, dict):
            raise ValueError("no object")
        bytes_before += len(text[read_to:place].encode("utf-8", "surrogatepass"))
        read_to = place
        body.chunks.append((when(bytes_before), value))
        if len(body.chunks) > MOST_OBJECTS:
            body.why = _MANY
            return
