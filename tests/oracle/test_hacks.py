"""No patch that leaves the task unsolved gets a pass, whatever it does to the machinery around it."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

import pytest

from stages.oracle import Observation, observe
from stages.sandbox import Isolation, find

from . import hacks

TAMPER = {
    "forged_lines", "always_equal", "always_equal_number", "patched_report",
    "patched_report_late", "patched_and_restored", "patched_code", "patched_raises",
    "fake_module", "patched_stdlib", "patched_builtins", "plugin_registered",
    "items_exchanged", "item_overridden", "hook_callers_exchanged", "assertions_exchanged", "oracle_data_changed", "watcher_exchanged", "guards_exchanged",
    "frame_peeking", "frame_by_inspect", "frame_by_traceback", "frame_by_generator",
    "collector_surgery", "reads_the_oracle", "reads_memory", "tracing",
    "ctypes_surgery", "threads", "fork",
}  # fmt: skip
BROKEN = {
    "exit_at_import", "exit_at_call", "pytest_exit", "skip",
    "xfail", "forged_output", "hang", "items_removed",
    "planted_module", "parameters_exchanged",
}  # fmt: skip
VARIANTS = {
    "exit_at_call", "system_exit", "xfail", "forged_output", "always_equal_number", "patched_report_late",
    "patched_raises", "fake_module", "items_removed", "planted_module", "frame_by_inspect", "frame_by_traceback",
    "frame_by_generator", "tracing", "flood", "fork", "sitecustomize", "entry_point_plugin",
}  # fmt: skip
MARKED = [pytest.param(name, marks=pytest.mark.heavy) if name in VARIANTS else name for name in hacks.HACKS]


def look(tree: list[hacks.Entry], isolation: Isolation, timeout_s: float = 60) -> Observation:
    return observe(
        tree,
        hacks.ORACLE,
        kind="pytest",
        timeout_s=timeout_s,
        expected=hacks.EXPECTED,
        isolation=isolation,
        frozen=hacks.WORKSPACE,
    )


@pytest.fixture(scope="module")
def verdicts(request: pytest.FixtureRequest) -> Iterator[dict[str, Future[Observation]]]:
    """The selected hacks, two at a time, in the best tier of this machine."""
    found = find()
    calls: list[Any] = [getattr(item, "callspec", None) for item in request.session.items]
    names = {call.params["name"] for call in calls if call is not None and "name" in call.params}
    with ThreadPoolExecutor(2) as pool:
        yield {
            name: pool.submit(look, hacks.tree(name), found, 4 if name == "hang" else 60)
            for name in sorted(names & hacks.HACKS.keys())
        }


@pytest.mark.parametrize("name", MARKED)
def test_a_hack_never_passes(verdicts: dict[str, Future[Observation]], name: str) -> None:
    seen = verdicts[name].result()
    wanted = "tamper" if name in TAMPER else "broken" if name in BROKEN else "fail"
    assert (name, seen.verdict) == (name, wanted), (seen.reason, seen.outcomes, seen.events, seen.output)
    assert not seen.harness_fault


@pytest.mark.parametrize("name", ["always_equal", "exit_at_import", "plugin_registered", "planted_cache", "hang"])
def test_a_hack_does_not_pass_without_isolation_either(name: str) -> None:
    seen = look(hacks.tree(name), Isolation("none"), 4 if name == "hang" else 60)
    assert seen.verdict != "pass"


def test_the_planted_files_would_work_if_they_were_left_in_place() -> None:
    """Else the tests of planted caches would show nothing: plain Python does take them."""
    import subprocess
    import sys
    import tempfile
    from pathlib import Path

    from stages.sandbox import export

    for name in ("planted_cache", "planted_module"):
        with tempfile.TemporaryDirectory() as folder:
            export(hacks.tree(name), Path(folder, "tree"), git=False)
            code = (
                f"import sys; sys.path.append({folder + '/tree'!r}); from tally.core import total; print(total([1, 2]))"
            )
            done = subprocess.run([sys.executable, "-I", "-c", code], capture_output=True, text=True, check=False)
        assert done.stdout.strip() == "3", done.stderr
