"""Amazon's binary event stream (application/vnd.amazon.eventstream), as Bedrock streams its answers."""

from __future__ import annotations

import base64
import binascii
import json
import zlib
from collections.abc import Iterator

_PRELUDE = 12  # total length, length of headers, their CRC
_TEXT = 7  # the type of a header whose value is text; lengths of the others' values:
_FIXED = {0: 0, 1: 0, 2: 1, 3: 2, 4: 4, 5: 8, 8: 8, 9: 16}
_BYTES = 6


def frames(data: bytes) -> Iterator[tuple[int, bytes]]:
    """(end, JSON text) of each message that is whole and whose checksums hold; the first other one ends it.

    A message's JSON is put under its event's name, as Bedrock's documents write it; one of `bytes` is unwrapped, and
    an exception becomes an error with its code.
    """
    at = 0
    while len(data) - at >= _PRELUDE + 4:
        total, head, prelude_crc = (int.from_bytes(data[at + n : at + n + 4], "big") for n in (0, 4, 8))
        end = at + total
        if total < _PRELUDE + 4 + head or end > len(data) or zlib.crc32(data[at : at + 8]) != prelude_crc:
            yield len(data), b"(a broken message)"
            return
        if zlib.crc32(data[at : end - 4]) != int.from_bytes(data[end - 4 : end], "big"):
            yield end, b"(a broken message)"
            return
        headers = _headers(data[at + _PRELUDE : at + _PRELUDE + head])
        yield end, _json(headers, data[at + _PRELUDE + head : end - 4])
        at = end
    if at < len(data):
        yield len(data), b"(a broken message)"


def _headers(data: bytes) -> dict[str, str]:
    found: dict[str, str] = {}
    at = 0
    while at < len(data):
        size = data[at]
        name = data[at + 1 : at + 1 + size].decode("utf-8", "replace")
        at += 1 + size
        kind = data[at] if at < len(data) else -1
        at += 1
        if kind in (_TEXT, _BYTES):
            size = int.from_bytes(data[at : at + 2], "big")
            if kind == _TEXT:
                found[name] = data[at + 2 : at + 2 + size].decode("utf-8", "replace")
            at += 2 + size
        elif kind in _FIXED:
            at += _FIXED[kind]
        else:
            break
    return found


def _json(headers: dict[str, str], payload: bytes) -> bytes:
    failed = headers.get(":exception-type") or headers.get(":error-code")
    if failed is not None:
        return json.dumps({"error": {"code": failed}}).encode()
    try:
        value = json.loads(payload)
        if isinstance(value, dict) and isinstance(value.get("bytes"), str):
            return base64.b64decode(value["bytes"], validate=True)
        return json.dumps({headers.get(":event-type", "event"): value}).encode()
    except (ValueError, RecursionError, binascii.Error):
        return b"(no JSON)"
