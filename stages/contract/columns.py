"""Plain Python values as Arrow columns.

`pyarrow.array` and `pyarrow.scalar` import pandas where it is installed, which takes longer than most stages do;
building from buffers doesn't, and takes no value that isn't of the column's type.
"""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from itertools import accumulate
from typing import Any

import pyarrow as pa

_MAX_BYTES = 2**31 - 1
_PYTHON: dict[str, Any] = {"string": str, "binary": bytes, "int64": int, "double": (float, int), "bool": bool}
_BLANK: dict[str, Any] = {"string": "", "binary": b"", "int64": 0, "double": 0.0, "bool": False}


def column(values: Sequence[Any], kind: pa.DataType) -> pa.Array:
    """An array of string, binary, int64, double or bool values; None is null.

    Raises ValueError for a value of another type, beyond 64 bits, that isn't Unicode, or for 2 GiB in one column.
    """
    name = str(kind)
    wanted, blank = _PYTHON[name], _BLANK[name]
    for value in values:
        if value is not None and (not isinstance(value, wanted) or (isinstance(value, bool) and name != "bool")):
            raise ValueError(f"{value!r} in a column of {name}")
    nulls = sum(value is None for value in values)
    valid = _bits([value is not None for value in values]) if nulls else None
    full = [blank if value is None else value for value in values] if nulls else values
    try:
        buffers = [valid, *_buffers(name, full)]
    except OverflowError:
        raise ValueError(f"a value or a sum of sizes too large for a column of {name}") from None
    return pa.Array.from_buffers(kind, len(values), buffers, null_count=nulls)


def scalar(kind: pa.DataType) -> pa.Scalar:
    """What stands for a null of this type where bytes are compared: zero, nothing, false."""
    return column([_BLANK[str(kind)]], kind)[0]


def _buffers(name: str, values: Sequence[Any]) -> list[pa.Buffer]:
    if name == "bool":
        return [_bits(values)]
    if name in ("int64", "double"):
        return [pa.py_buffer(array("q" if name == "int64" else "d", values).tobytes())]
    pieces = [value.encode("utf-8") for value in values] if name == "string" else values
    ends = list(accumulate(map(len, pieces), initial=0))
    if ends[-1] > _MAX_BYTES:
        raise OverflowError
    return [pa.py_buffer(array("i", ends).tobytes()), pa.py_buffer(b"".join(pieces))]


def _bits(values: Sequence[bool]) -> pa.Buffer:
    packed = bytearray((len(values) + 7) // 8)
    for place, value in enumerate(values):
        if value:
            packed[place >> 3] |= 1 << (place & 7)
    return pa.py_buffer(bytes(packed))
