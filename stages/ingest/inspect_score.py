"""What an Inspect score says: which of several scorers counts, and whether its value is a pass."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from stages.contract.errors import InputError, one_line
from stages.contract.text import kind
from stages.ingest.inspect_text import clean, mapping
from stages.ingest.model import Options

WORDS = {"C": 1.0, "I": 0.0, "P": 0.5, "N": 0.0}  # correct, incorrect, partial, no answer: as Inspect's accuracy has it
_FLAGS = {"yes": 1.0, "true": 1.0, "no": 0.0, "false": 0.0}
_NUMBER = re.compile(r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d{1,3})?")


@dataclass(frozen=True)
class Judged:
    """One score. `verdict`: passed, failed, or None with `why`; `points`: its number as Inspect counts it;
    `number`: the same where the log itself has a number; `there`: whether the scorer gave anything."""

    verdict: str | None
    why: str | None = None
    points: float | None = None
    number: float | None = None
    there: bool = True
    out_of_range: bool = False
    edited: bool = False


class Scorer:
    """The one scorer that counts, over all logs of an arm: as named, else the only one there is."""

    def __init__(self, options: Options) -> None:
        self._asked, self._threshold = options.filter, options.threshold
        self.name: str | None = options.filter
        self.found = options.filter is None
        self._seen: dict[str, None] = {}

    def judge(self, sample: Mapping[str, Any], where: str) -> Judged:
        """The score of a sample. Raises InputError where scorers can't be told apart, or a value has no meaning."""
        named = self._values(sample, where)
        self._seen.update(dict.fromkeys(named))
        if self._asked is None:
            if len(self._seen) > 1:
                raise self._ambiguous(where)
            self.name = next(iter(self._seen), None)
        if self.name is None or self.name not in named:
            return Judged(None, "not scored", there=False)
        self.found = True
        value, score = named[self.name]
        return self._judged(value, score, f"{where}: score {one_line(self.name, 60)}")

    def finish(self, where: object) -> None:
        """Raise InputError where the scorer that was asked for is in no sample."""
        if not self.found and self._seen:
            raise InputError(where, f"no scorer {self._asked!r}", self._names(), "choose one with --filter")

    def _values(self, sample: Mapping[str, Any], where: str) -> dict[str, tuple[Any, Mapping[str, Any]]]:
        """Name to value; a scorer with several values gives `scorer/value` each."""
        made: dict[str, tuple[Any, Mapping[str, Any]]] = {}
        for scorer, raw in mapping(sample.get("scores"), f"{where}: scores").items():
            score = mapping(raw, f"{where}: scores: {scorer}")
            value = score.get("value")
            parts = {f"{scorer}/{part}": one for part, one in value.items()} if isinstance(value, dict) else None
            made.update({key: (one, score) for key, one in ({scorer: value} if parts is None else parts).items()})
        return made

    def _names(self) -> str:
        return f"one of {', '.join(sorted(clean(found, 60) for found in self._seen)[:20])}"

    def _ambiguous(self, where: str) -> InputError:
        return InputError(where, f"{len(self._seen)} scores, {self._names()}", "one", "choose one with --filter")

    def _judged(self, value: Any, score: Mapping[str, Any], where: str) -> Judged:
        edited = _edited(score)
        number = _number(value)
        if value is None or (number is not None and math.isnan(number)):
            why = score.get("reason")
            said = "no score" if value is None else "score is not a number"
            return Judged(None, f"{said} ({clean(why, 80)})" if isinstance(why, str) else said, edited=edited)
        points = number if number is not None else WORDS.get(value) if isinstance(value, str) else None
        if points is None and isinstance(value, str):
            points = _FLAGS.get(value.strip().lower())
        if points is None:
            shown = repr(clean(value, 40)) if isinstance(value, str) else kind(value)
            raise InputError(where, shown, "C, I, P, N, yes, no, or a number from 0 to 1")
        if not 0 <= points <= 1:
            return Judged(None, f"score {points:g} is out of range", points, None, out_of_range=True, edited=edited)
        if self._threshold is not None:
            passed = Fraction(repr(points)) >= self._threshold
        elif points in (0.0, 1.0):
            passed = points == 1.0
        else:
            raise InputError(where, f"{points:g}, a fraction", "0 or 1", "say which scores pass with --threshold")
        return Judged("passed" if passed else "failed", None, points, number, edited=edited)


def _number(value: Any) -> float | None:
    """A number as the log has it, even NaN; a number as text too, as Inspect reads it."""
    if isinstance(value, str):
        value = float(value) if len(value) < 64 and _NUMBER.fullmatch(value) else None
    if not isinstance(value, int | float):
        return None
    try:
        return float(value)
    except OverflowError:
        return math.inf


def _edited(score: Mapping[str, Any]) -> bool:
    """Whether the score's own history holds another value than the one that stands (NaN is like NaN)."""
    history, now = score.get("history"), repr(score.get("value"))
    olds = history if isinstance(history, list) else []
    values = [old["value"] for old in olds if isinstance(old, dict) and "value" in old]
    return any(repr(old) not in (now, "'UNCHANGED'") for old in values)
