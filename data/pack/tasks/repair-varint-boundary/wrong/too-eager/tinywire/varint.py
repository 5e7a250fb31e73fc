"""Unsigned integers in groups of seven bits, least significant first."""

from collections.abc import Iterator

MORE = 0x80
MASK = 0x7F


class WireError(ValueError):
    """The bytes are not what a sender would have written."""


def encode_unsigned(value: int) -> bytes:
    """The varint of ``value``."""
    if value < 0:
        raise WireError(f"negative: {value}")
    out = bytearray()
    while value > MASK - 1:
        out.append(value & MASK | MORE)
        value >>= 7
    out.append(value)
    return bytes(out)


def decode_all(data: bytes) -> Iterator[int]:
    """The numbers whose varints stand one after the other in ``data``."""
    value = 0
    shift = 0
    for byte in data:
        value |= (byte & MASK) << shift
        if byte & MORE:
            shift += 7
            continue
        yield value
        value = 0
        shift = 0
    if shift:
        raise WireError("truncated")
