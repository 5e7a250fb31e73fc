"""Content encodings undone, piece by piece, up to a bound; what is already plain stays as it is."""

from __future__ import annotations

import zlib
from collections.abc import Sequence

Pieces = Sequence[tuple[float | None, bytes]]

MAX_PLAIN_BYTES = 64 * 1024 * 1024


def plain_pieces(encodings: Sequence[str], pieces: Pieces) -> tuple[Pieces, str | None]:
    """(pieces of the plain body with their times, why it can't be read).

    A recorder hands bodies over decoded, and logs differ: so the first bytes say whether there is still anything to
    undo. No JSON and no event stream starts as a compressed body does.
    """
    names = [
        n for value in encodings for part in value.split(",") if (n := part.strip().lower()) not in ("", "identity")
    ]
    start = b"".join(piece for _, piece in pieces[:8])[:64]
    if not names or not start or _plain(start):
        return pieces, None
    if len(names) > 1:
        return (), "the body is encoded more than once"
    if names[0] in ("gzip", "x-gzip") and start[:2] == b"\x1f\x8b":
        return _inflated(pieces, zlib.MAX_WBITS | 16)
    if names[0] == "deflate":
        zlib_header = len(start) > 1 and start[0] & 15 == 8 and int.from_bytes(start[:2], "big") % 31 == 0
        return _inflated(pieces, zlib.MAX_WBITS if zlib_header else -zlib.MAX_WBITS)
    known = names[0] if names[0].isalnum() and len(names[0]) < 20 else "something"
    return (), f"the body is encoded with {known}, which isn't read here"


def _plain(start: bytes) -> bool:
    return start.lstrip(b"\xef\xbb\xbf \t\r\n")[:1] in (b"{", b"[", b"d", b"e", b"i", b"r", b":", b"<", b'"') and all(
        byte >= 32 or byte in b"\t\r\n" for byte in start
    )


def _inflated(pieces: Pieces, window: int) -> tuple[Pieces, str | None]:
    undo = zlib.decompressobj(window)
    made: list[tuple[float | None, bytes]] = []
    room = MAX_PLAIN_BYTES
    try:
        for time, piece in pieces:
            data = undo.decompress(piece, room)
            if data:
                made.append((time, data))
                room -= len(data)
            if undo.unconsumed_tail and room <= 0:
                return (), f"the body is larger than {MAX_PLAIN_BYTES:,} bytes when unpacked"
            if undo.eof:
                break
    except zlib.error:
        return (), "the compressed body is damaged"
    return made, None
