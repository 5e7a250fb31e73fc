"""Decisions of studies of many shapes: `python -m tests.stats.decided ORDER [NAME ...]`.

Prints the canonical JSON of each decision by the study's name. ORDER seeds the order of all rows. Outcomes come from
Python's own generator, which is the same everywhere.
"""

from __future__ import annotations

import json
import random
import sys
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import pandas as pd

from stages import gate
from stages.contract.digest import canonical
from tests.gate.builder import Item, Study, clear_effect, make_study, outcomes, placebos

RANDOM_STUDIES = 12


def drawn(seed: int, sizes: list[int], k: int, lift: float, clustered: bool = False, odd: float = 0.0) -> list[Item]:
    """Items whose repeats differ, the candidate better by `lift`; a share `odd` of trials ends in another way."""
    rng = random.Random(f"decided {seed}")

    def letters(rate: float) -> str:
        return "".join(
            rng.choice("TLAYB") if rng.random() < odd else "FP"[rng.random() < min(max(rate, 0.0), 1.0)]
            for _ in range(k)
        )

    found = []
    for s, size in enumerate(sizes):
        for n in range(size):
            rate = rng.random()
            cluster = f"c{s}-{rng.randrange(1 + size // 2)}" if clustered else None
            found.append(Item(f"s{s:02}-{n:03}", f"s{s:02}", letters(rate + lift), letters(rate), cluster=cluster))
    return [*found, *placebos(6, k, "s00")]


def thinned(study: Study, seed: int, share: float) -> Study:
    """The same study after queue delays excluded a share of trials, so that items keep unequal numbers of pairs."""
    rng = random.Random(f"thinned {seed}")
    for row in list(study.ledger):
        if rng.random() < share and not row["item_id"].startswith("placebo"):
            study.stamp(row["item_id"], row["arm"], row["repeat"], queue_ms=9000.0)
    return study


def studies() -> dict[str, Callable[[], Study]]:
    """Name to study: exact and bracketed, clustered, every claim and weighting, published and withheld."""
    loose = {"max_excluded_share": "0.9", "min_stratum_items": 2}
    margin = {"claim": "noninferiority", "margin": "0.1"}
    seventh = {"strata_weights": {"s00": "2/7", "s01": "1/3", "s02": "8/21"}}
    small = {"alpha": "0.0001", "family": 3}
    many = [5 + s % 4 for s in range(14)]
    found: dict[str, Callable[[], Study]] = {
        "clear effect": lambda: make_study(clear_effect(3)),
        # Its tail level lies 2e-10 from where .0153002 becomes .0153003: a t quantile that is off by 3e-9 moves it across.
        "at the edge of a digit": lambda: make_study(
            [*outcomes("left", 11, 4, 7), *outcomes("right", 17, 4, 5), *placebos()]
        ),
        "no difference": lambda: make_study([*outcomes("left", 8, 8, 4), *placebos()]),
        "all ties": lambda: make_study([*outcomes("left", 0, 0, 30), *placebos()]),
        "published": lambda: make_study(drawn(1, [60, 40], 5, 0.3)),
        "clusters": lambda: make_study(drawn(2, [50, 30], 3, 0.2, clustered=True)),
        "clusters, odd weights": lambda: make_study(drawn(3, [31, 29, 17], 3, 0.2, clustered=True), seventh),
        "brackets": lambda: thinned(make_study(drawn(4, [31, 29, 17], 9, 0.15), loose), 4, 0.15),
        "brackets, weights": lambda: thinned(make_study(drawn(5, [31, 29, 17], 9, 0.1), loose | seventh), 5, 0.2),
        "brackets, clusters": lambda: thinned(make_study(drawn(6, [41, 37], 7, 0.1, clustered=True), loose), 6, 0.1),
        "brackets, noninferior": lambda: thinned(make_study(drawn(7, [43, 41], 9, 0.1), loose | margin), 7, 0.15),
        "noninferior": lambda: make_study(drawn(8, [80, 80], 5, 0.05), margin),
        "many strata": lambda: make_study(drawn(9, many, 3, 0.1), {"strata_weights": "proportional"}),
        "odd endings": lambda: make_study(drawn(10, [40, 23], 4, 0.1, odd=0.1)),
        "a small alpha": lambda: make_study(drawn(11, [45, 45], 5, 0.2), small),
    }
    return found | {f"random {seed}": partial(anything, seed) for seed in range(RANDOM_STUDIES)}


def anything(seed: int) -> Study:
    """A study of a random shape."""
    rng = random.Random(f"anything {seed}")
    sizes = [rng.randint(6, 40) for _ in range(rng.randint(1, 4))]
    items = drawn(100 + seed, sizes, rng.choice([1, 2, 3, 5]), rng.choice([0.0, 0.1, 0.2]), rng.random() < 0.3)
    return make_study(items, {"alpha": f"0.0{rng.randint(1, 5)}"})


def shuffled(frame: pd.DataFrame, rng: random.Random) -> pd.DataFrame:
    """The rows in another order, each with the index that it had."""
    return frame.iloc[rng.sample(range(len(frame)), len(frame))]


def decided(study: Study, order: int) -> dict[str, Any]:
    """The decision on the study's evidence, its rows in one of many orders."""
    rng = random.Random(order)
    rng.shuffle(study.ledger)
    ev = study.evidence()
    moved = {name: shuffled(getattr(ev, name), rng) for name in ("ledger", "pairs", "exclusions")}
    found: dict[str, Any] = gate.decide_study(replace(ev, **moved))
    return found


def main(order: str, *names: str) -> None:
    made = studies()
    texts = {name: canonical(decided(made[name](), int(order))).decode() for name in names or made}
    print(json.dumps(texts, indent=1, sort_keys=True))


if __name__ == "__main__":
    main(*sys.argv[1:])
