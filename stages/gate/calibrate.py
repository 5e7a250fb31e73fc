"""The publish rule on simulated studies whose truth is known: what it costs, and how often it errs.

Every data set goes through `judge`, the rule by which `decide` decides real ones. What `decide` adds (tidy pairs, other
views of excluded ones) can't make a difference here, since every pair is there and kept; it takes five times as long. A
data set is drawn from the seed, the scenario and its own number alone, and the tally is made in that order: any number
of processes gives the same figures. What the harness does to a study (placebos, isolation, stamps) can't be seen.
"""

from __future__ import annotations

import math
import multiprocessing
import os
import signal
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import pandas as pd

from stages.contract.design import merged, summary_sizes, weights
from stages.contract.protocol import Protocol
from stages.gate.floors import below_floor
from stages.gate.reasons import ordered
from stages.gate.rule import Judged, Terms, judge
from stages.stats import Layout, Population, alpha_spent, dataset_rng, draw

CHUNK = 20
Effects = float | Mapping[str, float]


@dataclass(frozen=True)
class Setup:
    """A design to simulate: protocol, frozen sizes, where its items lie, what they are drawn from, look and seed."""

    protocol: Protocol
    sizes: Mapping[str, int]
    layout: Layout
    population: Population
    look: int = 1
    seed: int = 0


@dataclass(frozen=True)
class Share:
    """A share of data sets, or a mean over them, with its Monte Carlo standard error; `of` how many there are."""

    value: float
    error: float
    of: int


@dataclass(frozen=True)
class Calibration:
    """What the rule did in one scenario.

    `truth` is the summary's true difference. `published` is the false-publication rate where there is none, else power;
    `wrong` is published in the other direction; `coverage` over data sets with an interval; `exaggeration` the mean
    size of a published difference relative to the truth, None without either. `withheld` maps each reason to the
    share of data sets that it withholds, `alone` to the share that it alone withholds.
    """

    effects: Effects
    truth: float
    datasets: int
    published: Share
    wrong: Share
    coverage: Share | None
    exaggeration: Share | None
    withheld: dict[str, Share]
    alone: dict[str, Share]


@dataclass(frozen=True)
class Outcome:
    """What was decided on one data set."""

    reasons: tuple[str, ...]
    direction: int
    delta: float | None
    lo: float | None
    hi: float | None


def frame_of(layout: Layout, repeats: int) -> pd.DataFrame:
    """Pairs of a layout without their outcomes, a row per item and repeat."""
    n = len(layout.strata)
    ids = np.array([f"item-{i:06}" for i in range(n)], dtype=object)
    return pd.DataFrame(
        {
            "item_id": np.repeat(ids, repeats),
            "repeat": np.tile(np.arange(repeats), n),
            "stratum": np.repeat(np.array(layout.strata, dtype=object), repeats),
            "cluster": np.repeat(np.array(layout.clusters, dtype=object), repeats),
        }
    )


def run_calibration(
    setup: Setup,
    scenarios: Sequence[Effects],
    datasets: int,
    workers: int = 1,
    tick: Callable[[int, int], None] = lambda _done, _planned: None,
) -> list[Calibration]:
    """Simulate `datasets` studies of each scenario in `workers` processes; `tick(done, planned)` as they are decided.

    Raises ValueError for an effect that can't be drawn.
    """
    for effects in scenarios:  # what can't be drawn is said before any work
        draw(setup.layout, 1, effects, setup.population, dataset_rng(0, 0))
    chunks = [
        (scenario, range(start, min(start + CHUNK, datasets)))
        for scenario in range(len(scenarios))
        for start in range(0, datasets, CHUNK)
    ]
    found: list[list[Outcome]] = [[] for _ in scenarios]
    done = 0
    with _pool(min(workers, len(chunks))) as submit:
        pending = [(s, submit(setup, scenarios[s], s, numbers)) for s, numbers in chunks]
        for scenario, result in pending:
            outcomes = result()
            found[scenario] += outcomes
            for _ in outcomes:
                done += 1
                tick(done, datasets * len(scenarios))
    return [_tally(setup, effects, outcomes) for effects, outcomes in zip(scenarios, found, strict=True)]


def truth_of(setup: Setup, effects: Effects) -> float:
    """The summary's true difference."""
    protocol, total = setup.protocol, 0.0
    strata = summary_sizes(protocol, setup.sizes)
    for name, weight in weights(protocol, setup.sizes).items():
        mine = {label: n for label, n in setup.sizes.items() if merged(protocol, label) == name}
        each = (n * (effects[label] if isinstance(effects, Mapping) else effects) for label, n in mine.items())
        total += float(weight) * math.fsum(each) / strata[name]
    return total


def share(hits: int, of: int) -> Share:
    """A share and its standard error; of none or all, that of a single hit or miss, since 0 would claim certainty."""
    value, least = hits / of, 1 / of
    inside = min(max(value, least), 1 - least) if of > 1 else 0.5
    return Share(value, math.sqrt(inside * (1 - inside) / of), of)


def _tally(setup: Setup, effects: Effects, outcomes: list[Outcome]) -> Calibration:
    truth, n = truth_of(setup, effects), len(outcomes)
    published = [o for o in outcomes if not o.reasons]
    limits = [(o.lo, o.hi) for o in outcomes if o.lo is not None and o.hi is not None]
    covered = sum(lo - 1e-9 <= truth <= hi + 1e-9 for lo, hi in limits)
    sizes = np.array([abs(o.delta) for o in published if o.delta is not None])
    exaggeration = None
    if truth and len(sizes) > 1 and setup.protocol.claim == "superiority":
        ratio = sizes / abs(truth)
        exaggeration = Share(float(ratio.mean()), float(ratio.std(ddof=1) / math.sqrt(ratio.size)), ratio.size)
    reasons = sorted({r for o in outcomes for r in o.reasons})
    return Calibration(
        effects=effects,
        truth=truth,
        datasets=n,
        published=share(len(published), n),
        wrong=share(sum(o.direction * truth < 0 for o in published), n),
        coverage=share(covered, len(limits)) if limits else None,
        exaggeration=exaggeration,
        withheld={r: share(sum(r in o.reasons for o in outcomes), n) for r in reasons},
        alone={r: share(sum(o.reasons == (r,) for o in outcomes), n) for r in reasons},
    )


def _outcomes(setup: Setup, effects: Effects, scenario: int, numbers: range) -> list[Outcome]:
    """Decide a few data sets; what a process is given to do."""
    protocol, places = setup.protocol, setup.layout
    terms = Terms(protocol, setup.sizes, alpha_spent(protocol.alpha, setup.look, protocol.family))
    always = {"protocol_below_floor"} if below_floor(protocol) else set()
    items = frame_of(places, 1)[["item_id", "stratum", "cluster"]].assign(pairs=protocol.trial_budget)
    found = []
    for number in numbers:
        rng = dataset_rng(setup.seed, number, scenario)
        drawn = draw(places, protocol.trial_budget, effects, setup.population, rng)
        gains = drawn.candidate - drawn.control
        columns = {
            "gains": gains.sum(axis=1),
            "pair_wins": (gains > 0).sum(axis=1),
            "pair_losses": (gains < 0).sum(axis=1),
        }
        found.append(_outcome(judge(items.assign(**columns), terms), always))
    return found


def _outcome(judged: Judged, always: set[str]) -> Outcome:
    interval = judged.interval
    lo, hi = (None, None) if interval is None else (interval.lo, interval.hi)
    reasons = tuple(ordered(judged.reasons | always))
    return Outcome(reasons, judged.direction, _real(judged.delta), _real(lo), _real(hi))


def _real(value: Fraction | None) -> float | None:
    return None if value is None else float(value)


Submit = Callable[[Setup, Effects, int, range], Callable[[], list[Outcome]]]


@contextmanager
def _pool(workers: int) -> Iterator[Submit]:
    """Yield a way to hand out chunks; nothing is left running when an error or an interrupt ends it."""
    if workers <= 1:
        yield lambda *work: lambda: _outcomes(*work)
        return
    context = multiprocessing.get_context("spawn")  # a fork would copy the locks of whatever threads there are
    pool = ProcessPoolExecutor(workers, mp_context=context, initializer=_end_with_parent)
    try:

        def submit(*work: object) -> Callable[[], list[Outcome]]:
            with _uninterrupted():
                future: Future[list[Outcome]] = pool.submit(_outcomes, *work)  # type: ignore[arg-type]
            return future.result

        yield submit
    finally:
        pool.shutdown(wait=True, cancel_futures=True)


@contextmanager
def _uninterrupted() -> Iterator[None]:
    """Processes started in here inherit that Ctrl-C doesn't reach them: their parent ends them.

    It is held back here, not ignored, so that one which comes meanwhile isn't lost.
    """
    if not hasattr(signal, "pthread_sigmask"):  # not on every system
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _end_with_parent() -> None:
    """A worker whose parent was killed would wait for work for ever."""
    parent = multiprocessing.parent_process()

    def watch() -> None:
        if parent is not None:
            parent.join()
            os._exit(1)

    threading.Thread(target=watch, daemon=True).start()
