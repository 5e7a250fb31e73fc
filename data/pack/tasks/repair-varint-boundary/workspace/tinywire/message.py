"""Messages: lists of signed integers."""

from tinywire.varint import decode_all, encode_unsigned


def fold(number: int) -> int:
    """Signed to unsigned: 0, -1, 1, -2, 2 become 0, 1, 2, 3, 4."""
    return number * 2 if number >= 0 else -number * 2 - 1


def unfold(value: int) -> int:
    """The inverse of ``fold``."""
    return value // 2 if value % 2 == 0 else -(value + 1) // 2


def pack(numbers: list[int]) -> bytes:
    return b"".join(encode_unsigned(fold(number)) for number in numbers)


def unpack(data: bytes) -> list[int]:
    return [unfold(value) for value in decode_all(data)]
