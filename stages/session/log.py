"""Stamps as they are stored: one canonical JSON object each, validated when read."""

from __future__ import annotations

from stages.contract.errors import InputError
from stages.contract.stamp import Stamp
from stages.contract.text import parse_json
from stages.contract.types import validate


def parse_stamp(text: str, where: object) -> Stamp | str:
    """The stamp, or one line on why it is none. A stamp with a missing key counts as missing, it isn't mended."""
    try:
        return validate(Stamp, parse_json(where, text.encode()), where)
    except InputError as error:
        return str(error)
