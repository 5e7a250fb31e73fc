"""The same evidence gives the same bytes: under every supported library, on any number of threads, in any order of rows."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Mapping
from pathlib import Path

import pytest

from tests.support.bundles import make_bundle

ROOT = Path(__file__).resolve().parents[2]
NEEDED = (
    "numpy",
    "scipy",
    "pandas",
    "pyarrow",
    "pydantic",
    "pyyaml",
    "rfc8785",
    "gitpython",
    "packaging",
    "typer",
    "ast-grep-py",
    "libcst",
)
"""What a decision is computed with, of all that the project depends on."""
ENDS = {"lowest": "lowest-direct", "newest": "highest"}
NAMES = ("brackets, weights", "clusters, odd weights", "at the edge of a digit")


def decisions(python: Path | str, order: int, threads: int, *names: str) -> dict[str, str]:
    """Canonical JSON of each study's decision, from a process of its own."""
    env = os.environ | {v: str(threads) for v in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")}
    env |= {"PYTHONHASHSEED": str(order)}
    command = [str(python), "-m", "tests.stats.decided", str(order), *names]
    told = subprocess.run(command, cwd=ROOT, env=env, capture_output=True, text=True, check=False)
    assert told.returncode == 0, told.stderr
    found: dict[str, str] = json.loads(told.stdout)
    return found


def differences(one: Mapping[str, str], other: Mapping[str, str]) -> list[str]:
    """Where two sets of decisions differ: study, path, both values."""
    found = []

    def walk(where: str, a: object, b: object) -> None:
        if isinstance(a, dict) and isinstance(b, dict):
            for key in sorted(set(a) | set(b)):
                walk(f"{where} {key}", a.get(key), b.get(key))
        elif a != b:
            found.append(f"{where}: {a!r}, {b!r}")

    for name in sorted(set(one) | set(other)):
        if one.get(name) != other.get(name):
            walk(name, json.loads(one.get(name, "{}")), json.loads(other.get(name, "{}")))
            found = found or [f"{name}: same values, other bytes"]
    return found


def test_threads_hash_seeds_and_the_order_of_rows_leave_no_trace_in_a_decision() -> None:
    first, second = decisions(sys.executable, 1, 1, *NAMES), decisions(sys.executable, 2, 2, *NAMES)
    assert set(first) == set(NAMES)
    assert first == second, differences(first, second)


def requirements() -> list[str]:
    """What is needed, within the bounds that the project declares."""
    declared = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["dependencies"]
    by_name = {re.split(r"[\s<>=!~;\[]", line, maxsplit=1)[0].lower(): line for line in declared}
    return [by_name[name] for name in NEEDED]


@pytest.fixture(scope="module")
def pythons(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """An interpreter with the oldest, and one with the newest libraries that the project allows."""
    beside = Path(sys.executable).parent / "uv"
    uv = str(beside) if beside.exists() else shutil.which("uv")
    if uv is None:
        pytest.skip("needs uv, beside the interpreter or on PATH")
    found = {}
    for end, resolution in ENDS.items():
        home = tmp_path_factory.mktemp(end) / "venv"
        python = home / "bin" / "python"
        install = ["pip", "install", "--python", str(python), "--resolution", resolution, *requirements()]
        for words in (["venv", "--python", sys.executable, str(home)], install):
            made = subprocess.run([uv, *words], capture_output=True, text=True, check=False)
            if made.returncode:
                pytest.skip(f"uv {words[0]} can't make the {end} environment: {made.stderr.strip()[-300:]}")
        found[end] = python
    return found


def installed(python: Path) -> dict[str, str]:
    """Versions of what is needed."""
    code = f"import importlib.metadata as m, json; print(json.dumps({{n: m.version(n) for n in {NEEDED}}}))"
    found: dict[str, str] = json.loads(subprocess.run([python, "-c", code], capture_output=True, check=True).stdout)
    return found


@pytest.mark.heavy
def test_decisions_are_the_same_bytes_under_the_oldest_and_the_newest_libraries(pythons: dict[str, Path]) -> None:
    oldest, newest = (installed(pythons[end]) for end in ENDS)
    assert all(oldest[name] != newest[name] for name in ("numpy", "scipy", "pandas")), (oldest, newest)
    here = decisions(sys.executable, 0, 1)
    for order, (end, python) in enumerate(pythons.items(), 1):
        for threads in (1, 2):
            found = decisions(python, 10 * order + threads, threads)
            assert found == here, (end, installed(python), threads, differences(here, found))


@pytest.mark.heavy
def test_a_bundle_verifies_under_the_oldest_and_the_newest_libraries(
    pythons: dict[str, Path], ran: Path, tmp_path: Path
) -> None:
    bundled = make_bundle(ran, tmp_path / "study.zip")
    decision = json.loads((ran / "reports/decision.json").read_bytes())
    code = "import json, sys; from pathlib import Path; from stages.evidence.verify import verify\n"
    code += "found = verify(Path(sys.argv[1])); print(json.dumps([found.line(), found.decision]))"
    for end, python in pythons.items():
        told = subprocess.run(
            [str(python), "-c", code, str(bundled)], cwd=ROOT, capture_output=True, text=True, check=False
        )
        assert told.returncode == 0, (end, told.stderr)
        line, derived = json.loads(told.stdout)
        assert line.startswith("verified: "), (end, installed(python), line)
        assert derived == decision
