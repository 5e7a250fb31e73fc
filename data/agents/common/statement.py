"""Hints in a statement: names in backticks, pairs "old → new", rewriting rules, constants, exceptions."""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass

_TICK = r"`([^`\n]+)`"
_ARROW = re.compile(
    _TICK + r"\s*(?:→|->|=>|⇒|becomes?|is now(?: called| named| spelled)?|(?:was |is |has been |were )?"
    r"(?:renamed|changed|moved|replaced)\s+(?:to|by|with|as)|to|by|with|,? now)\s*" + _TICK,
    re.IGNORECASE,
)
_INSTEAD = re.compile(_TICK + r"[^`\n.]{0,30}\binstead of\s+" + _TICK, re.IGNORECASE)
_ROW = re.compile(r"^\s*\|(.+)\|\s*$", re.MULTILINE)
_DOTTED = re.compile(r"[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*")
_WORD = re.compile(r"[A-Za-z_]\w*")
_NUMBER = re.compile(r"(?<![\w.])(\d+(?:\.\d+)?)(?![\w.]*\w)")
_SENTENCE = re.compile(r"(?<=[.:;!?])\s+|\n\s*\n|\n\s*[-*]\s+")
_KEPT = re.compile(
    r"\b(?:(?:must|should|may|can|need) ?(?:not|n't) (?:be )?(?:change|touch|edit|modif)\w*"
    r"|unchanged|is finished|is done|(?:needs?|want) no change|leave [^.]* alone|don't (?:change|touch)"
    r"|stays? (?:just |exactly )?as (?:it|they)|stays? the same|(?:is|are) (?:right|correct)\b)",
    re.IGNORECASE,
)
_QUOTED = re.compile(r"[\"“']([^\"“”'\n]{1,20})[\"”']")


@dataclass(frozen=True)
class Hints:
    """What a reader may take from a statement without understanding it."""

    names: frozenset[str]
    renames: tuple[tuple[str, str], ...]
    rules: tuple[tuple[str, str], ...]
    numbers: tuple[str, ...]
    strings: tuple[str, ...]
    snippets: tuple[str, ...]
    exceptions: tuple[str, ...]
    words: frozenset[str]
    kept: frozenset[str]


def read_hints(statement: str) -> Hints:
    """Return the hints of a statement, each list without repeats and in order of appearance."""
    statement = statement[:50_000]
    ticks = [tick.strip() for tick in re.findall(_TICK, statement)]
    names = {word for tick in ticks for word in _WORD.findall(tick)}
    pairs = _pairs(statement)
    renames = [(_call_name(old), _call_name(new)) for old, new in pairs]
    exceptions = [
        word for word in _WORD.findall(statement) if re.fullmatch(r"[A-Z]\w+(?:Error|Exception)", word)
    ]
    strings = [value for tick in ticks if (value := _string(tick)) is not None]
    strings += [tick for tick in ticks if len(tick) <= 20] + _QUOTED.findall(statement)
    return Hints(
        names=frozenset(names),
        renames=tuple(dict.fromkeys((a, b) for a, b in renames if a and b and a != b)),
        rules=tuple(
            dict.fromkeys((a, b) for a, b in pairs if "(" in a and _expression(a) and _expression(b))
        ),
        numbers=tuple(dict.fromkeys(_NUMBER.findall(statement))),
        strings=tuple(dict.fromkeys(strings)),
        snippets=tuple(dict.fromkeys(t for t in ticks if _WORD.fullmatch(t) is None and _expression(t))),
        exceptions=tuple(dict.fromkeys(exceptions)),
        words=frozenset(word.lower() for word in _WORD.findall(statement)),
        kept=_kept(statement),
    )


def _kept(statement: str) -> frozenset[str]:
    """Return the names in backticks of the sentences that ask to leave something as it is."""
    kept = [part for part in _SENTENCE.split(statement) if _KEPT.search(part)]
    ticks = [tick.removesuffix(".py").split("(")[0] for part in kept for tick in re.findall(_TICK, part)]
    return frozenset(re.split(r"[./]", tick)[-1] for tick in ticks)


def _pairs(statement: str) -> list[tuple[str, str]]:
    """Return (old, new) as written: from arrows, from tables of two or more columns, from "instead of"."""
    pairs = [(old.strip(), new.strip()) for old, new in _ARROW.findall(statement)]
    pairs += [(old.strip(), new.strip()) for new, old in _INSTEAD.findall(statement)]
    for row in _ROW.findall(statement):
        cells = [cell.strip() for cell in row.replace("\\|", "¦").split("|")]
        ticked = [found.group(1).strip() if (found := re.search(_TICK, cell)) else "" for cell in cells]
        if len(cells) >= 2 and ticked[0] and ticked[1]:
            pairs.append((ticked[0], ticked[1]))
    return pairs


def _call_name(text: str) -> str:
    """Return the last identifier of a dotted name or of a call; "" where it is neither."""
    head = text.split("(", 1)[0].strip().lstrip(".")
    return head.rsplit(".", 1)[-1] if _DOTTED.fullmatch(head) else ""


def _expression(text: str) -> bool:
    try:
        ast.parse(text, mode="eval")
    except (SyntaxError, ValueError, RecursionError):
        return False
    return True


def _string(text: str) -> str | None:
    try:
        value = ast.literal_eval(text)
    except (SyntaxError, ValueError, TypeError, MemoryError, RecursionError):
        return None
    return value if isinstance(value, str) else None
