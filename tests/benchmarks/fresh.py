"""One method measured in a process of its own: `python -m tests.benchmarks.fresh METHOD ARRAYS LEVEL REPLICATES SECONDS`.

The memory is the peak of the whole process, interpreter and imports included, and beside it what the imports alone
took. It is VmHWM and not `ru_maxrss`, which survives an exec and so would show the parent's peak.
"""

from __future__ import annotations

import importlib
import json
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np

from tests.benchmarks.intervals import METHODS

ROOT = Path(__file__).resolve().parents[2]
STRATA = 4
MOST_CALLS = 200
SLOW = 5.0  # [s] a first call this long is itself measured; a shorter one only warms up


def measured(method: str, arrays: Path, level: float, replicates: int, seconds: float) -> dict[str, Any]:
    """Times [s] of repeated calls by the clock and by the processor, `first_s` of the very first, `limits`, `peak_mb` and `imports_mb`.

    `arrays` is a file of shape (2, items): gains and pairs, in `STRATA` equal parts. Only `missing`, a sentence, if the
    method's library can't be imported.
    """
    words = [method, str(arrays), repr(level), str(replicates), str(seconds)]
    told = subprocess.run(
        [sys.executable, "-m", "tests.benchmarks.fresh", *words], cwd=ROOT, stdout=subprocess.PIPE, check=True
    ).stdout
    found: dict[str, Any] = json.loads(told)
    return found


def memory_mb(field: str) -> float:
    """A figure of this process's memory [MB of 10^6 bytes], as the kernel names it."""
    for line in Path("/proc/self/status").read_text(encoding="ascii").splitlines():
        if line.startswith(field + ":"):
            return int(line.split()[1]) * 1024 / 1e6
    raise LookupError(field)


def _main(method: str, arrays: str, level: str, replicates: str, seconds: str) -> dict[str, Any]:
    function, module = METHODS[method]
    try:
        importlib.import_module(module)
    except Exception as e:  # a library that is there but fits no other here is as good as none
        return {"missing": f"{module} can't be imported: {e}"}
    imports_mb = memory_mb("VmHWM")
    gains, pairs = np.load(arrays)
    strata = list(zip(np.split(gains, STRATA), np.split(pairs, STRATA), strict=True))
    times: list[float] = []
    busy: list[float] = []
    warmed = False
    while not warmed or (sum(times) < float(seconds) and len(times) <= MOST_CALLS):
        started, working = time.perf_counter(), time.process_time()
        limits = function(strata, float(level), int(replicates))
        times.append(time.perf_counter() - started)
        busy.append(time.process_time() - working)
        warmed = len(times) > 1 or times[0] >= SLOW
    return {
        "times": times[1:] or times,
        "cpu_times": busy[1:] or busy,
        "first_s": times[0],
        "limits": limits,
        "replicates": int(replicates),
        "peak_mb": memory_mb("VmHWM"),
        "imports_mb": imports_mb,
    }


if __name__ == "__main__":
    print(json.dumps(_main(*sys.argv[1:])))
