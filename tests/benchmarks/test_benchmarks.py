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
from tests.benchmarks.bootstrap import design_of, items
from tests.benchmarks.fresh import ROOT, measured
from tests.benchmarks.intervals import ALPHA, METHODS

MOST_MB = 300


@pytest.fixture(scope="module")
def quick(tmp_path_factory: pytest.TempPathFactory) -> tuple[dict[str, Any], str]:
    """Figures and printed tables of a quick run of the command."""
    file = tmp_path_factory.mktemp("benchmarks") / "found.json"
    command = [sys.executable, "-m", "tests.benchmarks", "--quick", "--json", str(file)]
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


@pytest.mark.heavy
def test_a_million_items_take_less_than_300_mb_for_the_whole_process(tmp_path: Path) -> None:
    file = tmp_path / "million.npy"
    arrays = items(1_000_000)
    np.save(file, arrays)
    level = stats.tail_level(stats.moments(design_of(arrays)), ALPHA)
    assert measured("exact", file, level, 0, 0.0)["peak_mb"] < MOST_MB
