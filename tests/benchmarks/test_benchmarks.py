"""The benchmark command works, everyone's limits are the same limits, and a million items fit into little memory."""

from __future__ import annotations

import json
import math
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from stages import stats
from tests.benchmarks import ledger
from tests.benchmarks.bootstrap import design_of, items
from tests.benchmarks.fresh import ROOT, measured
from tests.benchmarks.intervals import ALPHA, METHODS

MOST_MB = 300


@pytest.fixture(scope="module")
def quick(tmp_path_factory: pytest.TempPathFactory) -> tuple[dict[str, Any], str]:
    """Figures and printed tables of a quick run of the bootstrap's subject."""
    file = tmp_path_factory.mktemp("benchmarks") / "found.json"
    command = [sys.executable, "-m", "tests.benchmarks", "bootstrap", "--quick", "--json", str(file)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    return json.loads(file.read_bytes())["bootstrap"], done.stdout


def test_every_method_is_in_the_table_or_named_as_missing(quick: tuple[dict[str, Any], str]) -> None:
    found, printed = quick
    header, _, row = printed.splitlines()[:3]
    assert [cell.strip() for cell in header.strip("|").split("|")] == ["items", *METHODS]
    assert row.startswith("| 500 | ")
    for method, cell in zip(METHODS, row.strip("|").split("|")[1:], strict=True):
        measurement = found["sizes"]["500"]["methods"][method]
        if "missing" in measurement:
            assert cell.strip() == "missing"
            assert measurement["missing"] in printed
        else:
            assert measurement["median_s"] > 0
            assert measurement["peak_mb"] >= measurement["imports_mb"] > 0
    assert "median_s" in found["sizes"]["500"]["methods"]["scipy.stats.bootstrap"]


def test_everyones_limits_are_the_exact_ones_within_monte_carlo_error(quick: tuple[dict[str, Any], str]) -> None:
    (at,) = quick[0]["sizes"].values()
    design = design_of(items(500))
    law, exact = stats.bootstrap_law(design), stats.bootstrap_interval(design, ALPHA)
    assert at["level"] == exact.tail_level
    for method, found in at["methods"].items():
        if "missing" in found:
            continue
        lo, hi = found["limits"]
        if method == "exact":
            assert (lo, hi) == (float(exact.lo or 0), float(exact.hi or 0))
            continue
        error = 5 * math.sqrt(at["level"] / found["replicates"])
        less, more = at["level"] - error, at["level"] + error
        assert float(law.lower_quantile(less)) - 1e-9 <= lo <= float(law.lower_quantile(more)) + 1e-9, method
        assert float(law.upper_quantile(more)) - 1e-9 <= hi <= float(law.upper_quantile(less)) + 1e-9, method


def test_an_unknown_subject_is_refused_in_a_line() -> None:
    command = [sys.executable, "-m", "tests.benchmarks", "nothing"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "unknown subject nothing" in done.stderr


def test_the_static_ledger_is_measured_beside_parsing_alone() -> None:
    found = ledger.measure(quick=True)
    assert found["lines"] > 5_000
    assert found["findings"] > 0
    assert all(ratio > 1 for ratio in found["ratios"])
    header, _, row = ledger.markdown(found).splitlines()[:3]
    assert header.count("|") == row.count("|") == 6


def test_the_recorders_cost_is_measured_beside_the_provider_direct_and_no_byte_differs() -> None:
    pytest.importorskip("aiohttp", reason="the extra `proxy` isn't installed")
    from tests.benchmarks import proxy

    found = proxy.measure(quick=True)
    assert found["different_bodies"] == 1, "of all streams, direct and recorded"
    assert found["calls"] == 20 + 40 + proxy.STREAMS
    assert [len(took) for took in found["sequential_ms"] + found["first_byte_ms"]] == [40, 40, 64, 64]
    header, _, *rows = proxy.markdown(found).splitlines()[2:]
    assert {header.count("|"), *(row.count("|") for row in rows)} == {5}


@pytest.mark.heavy
def test_the_recorder_adds_little() -> None:
    from tests.benchmarks import proxy

    costs = [proxy.cost(proxy.measure()) for _ in range(3)]  # other work on the machine only ever adds
    assert min(added for added, _ in costs) < proxy.LIMIT_MS
    assert min(ratio for _, ratio in costs) < proxy.LIMIT_RATIO, costs


@pytest.mark.heavy
def test_a_million_items_take_less_than_300_mb_for_the_whole_process(tmp_path: Path) -> None:
    file = tmp_path / "million.npy"
    arrays = items(1_000_000)
    np.save(file, arrays)
    level = stats.tail_level(stats.moments(design_of(arrays)), ALPHA)
    assert measured("exact", file, level, 0, 0.0)["peak_mb"] < MOST_MB
