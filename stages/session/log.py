"""Stamps as they are stored: a list of canonical JSON objects per trial, validated when read."""

from __future__ import annotations

from functools import lru_cache

from stages.contract.errors import InputError
from stages.contract.stamp import Stamp
from stages.contract.text import parse_json
from stages.contract.types import validate


@lru_cache(maxsize=16_384)  # exclude's rules and the decision read the same ones, one after the other
def parse_stamp(text: str, where: str) -> Stamp | str:
    """The stamp, or one line on why it is none. A stamp with a missing key counts as missing, it isn't mended."""
    try:
        return validate(Stamp, parse_json(where, text.encode("utf-8", "surrogatepass")), where)
    except InputError as error:
        return str(error)


def parse_stamps(column: str, where: str) -> list[Stamp | str]:
    """The stamps of a trial as the ledger holds them: a JSON list of texts. Raises InputError where it is none."""
    texts = parse_json(where, column.encode("utf-8", "surrogatepass"))
    if not isinstance(texts, list) or not all(isinstance(text, str) for text in texts):
        raise InputError(f"{where}: stamps", "no list of texts", "one JSON text per attempt", "score again")
    return [parse_stamp(text, where) for text in texts]
