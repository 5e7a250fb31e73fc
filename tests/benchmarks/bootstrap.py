"""The exact bootstrap interval against resampling by others: same arrays, same limits, same run."""

from __future__ import annotations

import os
import platform
import statistics
import tempfile
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from stages import stats
from tests.benchmarks.fresh import STRATA, measured
from tests.benchmarks.intervals import ALPHA, METHODS

SIZES = (500, 10_000, 1_000_000)
REPEATS = 5  # pairs of trials per item
REPLICATES = 10_000
ROUNDS = 3  # fresh processes per method and size, all methods in turn, so that a busy machine slows all alike
SECONDS = 1.0  # a process goes on calling for this long
FEW = 200  # replicates where all would take longer than a minute; times are then scaled by REPLICATES / FEW
SCALED_FROM = 1_000_000  # items, for methods that touch every item in every replicate
LINEAR_AT = 10_000  # items at which that scaling is checked
PER_DRAW = {"numpy indices", "scipy.stats.bootstrap", "arch", "rliable"}
ALL_AT_ONCE = "scipy, default batch"
PACKAGES = ("numpy", "scipy", "arch", "rliable")


def items(n: int) -> npt.NDArray[np.int64]:
    """Gains and pairs of `n` items, shape (2, n): rates uniform, the candidate five points better."""
    rng = np.random.default_rng(n)
    rate = rng.random(n)
    gains = rng.binomial(REPEATS, np.minimum(rate + 0.05, 1)) - rng.binomial(REPEATS, rate)
    return np.stack([gains, np.full(n, REPEATS)])


def design_of(arrays: npt.NDArray[np.int64]) -> stats.Design:
    """The design that every method sees."""
    parts = zip(*(np.split(row, STRATA) for row in arrays), strict=True)
    return stats.design(stats.stratum_from_arrays(str(i), *part) for i, part in enumerate(parts))


def measure(quick: bool) -> dict[str, Any]:
    """Every method at every size; see `fresh.measured` for what is known of each."""
    load = [os.getloadavg()[0]]
    found: dict[str, Any] = {"sizes": {}}
    with tempfile.TemporaryDirectory() as folder:
        for n in SIZES[:1] if quick else SIZES:
            found["sizes"][str(n)] = _at(Path(folder), n, 1 if quick else ROUNDS, 0.2 if quick else SECONDS)
    load.append(os.getloadavg()[0])
    return found | {
        "rounds": 1 if quick else ROUNDS,
        "load": load,
        "cores": os.cpu_count(),
        "versions": _versions(),
        "replicates": REPLICATES,
    }


def _at(folder: Path, n: int, rounds: int, seconds: float) -> dict[str, Any]:
    arrays = items(n)
    level = stats.tail_level(stats.moments(design_of(arrays)), ALPHA)
    file = folder / f"{n}.npy"
    np.save(file, arrays)
    runs: dict[str, list[dict[str, Any]]] = {method: [] for method in METHODS}
    few: dict[str, list[float]] = {method: [] for method in PER_DRAW}
    for _ in range(rounds):
        for method, of_method in runs.items():
            if _too_large(method, n) or (of_method and "missing" in of_method[0]):
                continue
            run = measured(method, file, level, _replicates(method, n), seconds)
            of_method.append(run)
            if n == LINEAR_AT and method in few and "missing" not in run:
                less = measured(method, file, level, FEW, seconds)
                few[method].append(_median(less) * REPLICATES / FEW / _median(run))
    methods = {method: _pooled(n, of_method, runs["exact"]) for method, of_method in runs.items()}
    linearity = {method: statistics.median(ratios) for method, ratios in sorted(few.items()) if ratios}
    return {"level": level, "methods": methods, "linearity": linearity}


def _median(run: dict[str, Any], which: str = "times") -> float:
    return float(statistics.median(run[which]))


def _replicates(method: str, n: int) -> int:
    return FEW if method in PER_DRAW and n >= SCALED_FROM else REPLICATES


def _too_large(method: str, n: int) -> bool:
    return method == ALL_AT_ONCE and n >= SCALED_FROM


def _pooled(n: int, runs: list[dict[str, Any]], exact: list[dict[str, Any]]) -> dict[str, Any]:
    """Median and range [s] over all processes, for all replicates; ratios to `exact` by round; largest peaks of memory."""
    if not runs:
        # Every stratum's resamples are held until the statistic is taken, and the indices of one of them.
        return {"not_run": f"would hold {n * REPLICATES * 8 * (1 + 1 / STRATA) / 1e9:.0f} GB"}
    if "missing" in runs[0]:
        return runs[0]
    scale = REPLICATES / runs[0]["replicates"]
    times = [scale * t for run in runs for t in run["times"]]
    ratios = [scale * _median(run) / _median(ours) for run, ours in zip(runs, exact, strict=True)]
    busy = [
        scale * _median(run, "cpu_times") / _median(ours, "cpu_times") for run, ours in zip(runs, exact, strict=True)
    ]
    return {
        "median_s": statistics.median(times),
        "range_s": [min(times), max(times)],
        "ratio": statistics.median(ratios),
        "range_ratio": [min(ratios), max(ratios)],
        "cpu_ratio": statistics.median(busy),
        "first_s": statistics.median(scale * run["first_s"] for run in runs),
        "calls": len(times),
        "scaled": scale != 1,
        "replicates": runs[0]["replicates"],
        "limits": runs[0]["limits"],
        "peak_mb": max(run["peak_mb"] for run in runs),
        "imports_mb": max(run["imports_mb"] for run in runs),
    }


def _versions() -> dict[str, str | None]:
    found: dict[str, str | None] = {"python": platform.python_version()}
    for name in PACKAGES:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            found[name] = None
    return found


def markdown(found: dict[str, Any]) -> str:
    """The table of ratios, its conditions, and the table of all times."""
    peers = [method for method in METHODS if method != "exact"]
    head = ["items", "exact", *peers]
    rows = [_row(n, at["methods"], peers) for n, at in found["sizes"].items()]
    return "\n\n".join([_table(head, rows), _notes(found), _times(found)])


def _row(n: str, methods: dict[str, Any], peers: list[str]) -> list[str]:
    ours = methods["exact"]
    cells = [f"{int(n):,}", f"{_seconds(ours['median_s'])} s, {ours['peak_mb']:.0f} MB"]
    for peer in peers:
        theirs = methods[peer]
        if "median_s" in theirs:
            cells.append(f"{_two(theirs['ratio'])}×{'*' if theirs['scaled'] else ''}, {theirs['peak_mb']:.0f} MB")
        else:
            cells.append("missing" if "missing" in theirs else theirs["not_run"])
    return cells


def _notes(found: dict[str, Any]) -> str:
    versions = ", ".join(f"{name} {v or 'missing'}" for name, v in found["versions"].items())
    notes = [
        f"From arrays of gains and pairs to both limits, {STRATA} strata, {REPEATS} repeats; resamplers with "
        f"{found['replicates']:,} replicates: median time over ours, in one run (rounds: {found['rounds']}). Memory is the peak of a fresh "
        f"process. {versions}; {found['cores']} cores, load {found['load'][0]:.1f} before and {found['load'][1]:.1f} after."
    ]
    if any(m.get("scaled") for at in found["sizes"].values() for m in at["methods"].values()):
        checks = ", ".join(
            f"{method} {ratio:.2f}" for method, ratio in found["sizes"][str(LINEAR_AT)]["linearity"].items()
        )
        notes.append(
            f"\\* {FEW} replicates, times {REPLICATES // FEW}. The same scaling at {LINEAR_AT:,} items, over the time of "
            f"all {REPLICATES:,}: {checks}."
        )
    missing = {m["missing"] for at in found["sizes"].values() for m in at["methods"].values() if "missing" in m}
    return "\n\n".join(notes + sorted(missing))


def _times(found: dict[str, Any]) -> str:
    rows = [
        [
            f"{int(n):,}",
            name + (" *" if m["scaled"] else ""),
            _seconds(m["median_s"]),
            f"{_seconds(m['range_s'][0])} to {_seconds(m['range_s'][1])}",
            f"{_two(m['range_ratio'][0])} to {_two(m['range_ratio'][1])}",
            _two(m["cpu_ratio"]),
            str(m["calls"]),
            _seconds(m["first_s"]),
            f"{m['peak_mb']:.0f}",
            f"{m['imports_mb']:.0f}",
            f"[{m['limits'][0]:+.6f}, {m['limits'][1]:+.6f}]",
        ]
        for n, at in found["sizes"].items()
        for name, m in at["methods"].items()
        if "median_s" in m
    ]
    head = [
        "items",
        "method",
        "median s",
        "range s",
        "ratios",
        "by CPU",
        "calls",
        "first s",
        "peak MB",
        "imports MB",
        "limits",
    ]
    return _table(head, rows)


def _table(head: list[str], rows: list[list[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def _seconds(value: float) -> str:
    return f"{value:.4f}" if value < 1 else f"{value:.1f}"


def _two(ratio: float) -> str:
    return f"{ratio:,.1f}" if ratio < 10 else f"{ratio:,.0f}"
