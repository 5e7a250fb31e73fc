"""Near-duplicates: texts that share most of their runs of words, found exactly and without comparing all pairs."""

from __future__ import annotations

import hashlib
import re
from collections import Counter, defaultdict
from collections.abc import Mapping
from fractions import Fraction
from typing import NamedTuple

LEAST = Fraction(4, 5)
"""Jaccard similarity from which on two texts are reported."""
SHINGLE = 4
MIN_SHINGLES = 8
"""Shorter texts aren't compared: too little is in them to be a copy of anything."""
MOST_COMPARED = 100_000
_WORD = re.compile(r"\w+|[^\w\s]")


class Pair(NamedTuple):
    """Two texts by name, in order, and the share of their runs of words that they have in common."""

    first: str
    second: str
    share: Fraction


def near_duplicates(texts: Mapping[str, str], least: Fraction = LEAST) -> tuple[list[Pair], bool]:
    """(pairs of at least this similarity, most alike first; whether every pair that could be one was compared).

    Similarity is Jaccard's over runs of SHINGLE words (Broder 1997). Texts of similarity t share one of the rarest
    |x| - ceil(t |x|) + 1 runs of each, so only such pairs are compared (prefix filtering: Chaudhuri, Ganti and
    Kaushik 2006), MOST_COMPARED at most.
    """
    shingled = {name: _shingles(text) for name, text in sorted(texts.items())}
    kept = {name: found for name, found in shingled.items() if len(found) >= MIN_SHINGLES}
    often = Counter(shingle for found in kept.values() for shingle in found)
    index: dict[int, list[str]] = defaultdict(list)
    pairs: list[Pair] = []
    compared = 0
    for name in sorted(kept, key=lambda n: (len(kept[n]), n)):
        mine = kept[name]
        rarest = sorted(mine, key=lambda s: (often[s], s))
        prefix = rarest[: len(mine) - _ceil(least * len(mine)) + 1]
        others = {o for s in prefix for o in index[s] if len(kept[o]) >= least * len(mine)}
        for other in sorted(others):
            if compared == MOST_COMPARED:
                return _sorted(pairs), False
            compared += 1
            common = len(mine & kept[other])
            share = Fraction(common, len(mine) + len(kept[other]) - common)
            if share >= least:
                pairs.append(Pair(min(name, other), max(name, other), share))
        for shingle in prefix:
            index[shingle].append(name)
    return _sorted(pairs), True


def _shingles(text: str) -> frozenset[int]:
    words = _WORD.findall(text.casefold())
    runs = {"\n".join(words[at : at + SHINGLE]) for at in range(len(words) - SHINGLE + 1)}
    return frozenset(int.from_bytes(hashlib.blake2b(run.encode(), digest_size=8).digest()) for run in runs)


def _ceil(value: Fraction) -> int:
    return -(-value.numerator // value.denominator)


def _sorted(pairs: list[Pair]) -> list[Pair]:
    return sorted(pairs, key=lambda p: (-p.share, p.first, p.second))
