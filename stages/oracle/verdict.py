"""The verdict of an oracle on a produced tree, from evidence that the tree can't write.

`pass`: the exact set of expected tests was run, every one passed in all its phases, the canary failed, and
nothing was exchanged. `fail`: the same with at least one test failed. `broken`: everything else. `tamper`:
code reached for what isn't its own, or exchanged it. Broken and tamper count like fail; only a sandbox that
couldn't be made is no verdict.
"""

from __future__ import annotations

import json
import secrets
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any, Literal

from stages.contract.digest import digest
from stages.contract.errors import UsageError, one_line
from stages.contract.plan import PlanItem
from stages.contract.ran import Ran, Ranges, new_lines
from stages.contract.trees import LINK, Entry, tree_digest
from stages.oracle import cache
from stages.oracle.apart import DRIVER, PLACE, TREE, apart, modules, offered, wheels
from stages.oracle.report import read
from stages.sandbox import Isolation, Limits, Outcome, export, remove_tree, run, stays_inside

ORACLE_VERSION = 5

CANARY = "canary"
DATA = "oracle_data:"
FLATTENED = "flattened"  # held against nobody: a test that then fails may have asked for what didn't cross
ORACLE = "/oracle"
Verdict = Literal["pass", "fail", "broken", "tamper"]
Boundary = Literal["inprocess", "process"]

_VAGUE = ("contains_anything:", "odd_truth:", "child_process:", "product_", "claim:")
_PHASES = ("setup", "call", "teardown")


@dataclass(frozen=True)
class Observation:
    """One run of an oracle. `outcomes`: test id → passed, failed, skipped, xfailed, xpassed. Times in seconds.

    `harness_fault`: the sandbox couldn't be made twice in a row, and nothing is known about the tree.
    `events` are sorted; those that the reference solution brings about too aren't held against a tree. `ran` is what
    lines of the patch were seen to do, sorted; the tree could forge it, so nothing of the verdict hangs on it.
    """

    verdict: Verdict
    reason: str
    outcomes: Mapping[str, str] = field(default_factory=dict)
    events: tuple[str, ...] = ()
    wall_s: float = 0.0
    cpu_s: float = 0.0
    max_rss_kb: int = 0
    harness_fault: bool = False
    output: str = ""
    ran: tuple[Ran, ...] = ()


def oracle_key(oracle: Sequence[Entry], settings: Mapping[str, Any]) -> str:
    """sha256 of what besides the tree decides a verdict: the oracle's bytes, its settings, ORACLE_VERSION."""
    return digest([ORACLE_VERSION, tree_digest(oracle), dict(settings)])


def cleaned(tree: Sequence[Entry], frozen: Sequence[Entry]) -> list[Entry]:
    """A tree without what could run in place of its sources: caches, foreign binaries, links that leave it."""
    known = set(frozen)
    kept = []
    for entry in tree:
        parts = entry.path.split("/")
        name = parts[-1].lower()
        cache_file = "__pycache__" in parts or name.endswith((".pyc", ".pyo"))
        binary = name.endswith((".so", ".pyd", ".dylib")) or ".so." in name
        if cache_file or (binary and entry not in known) or (entry.mode == LINK and not stays_inside(entry)):
            continue
        kept.append(entry)
    return kept


def observe(
    tree: Sequence[Entry],
    oracle: Sequence[Entry],
    *,
    kind: Literal["pytest", "command"],
    command: Sequence[str] | None = None,
    oracle_path: str = ".",
    timeout_s: float,
    expected: Sequence[str] | None,
    isolation: Isolation,
    frozen: Sequence[Entry] = (),
    baseline_events: frozenset[str] = frozenset(),
    limits: Limits | None = None,
    boundary: Boundary = "inprocess",
    environment: Path | None = None,
    carry: bool = True,
) -> Observation:
    """Run an oracle once on a tree, in a fresh sandbox; once more only if that sandbox couldn't be made.

    The tree is a copy made for this run, which the code under test may write, as it may in a trial.

    `oracle` holds the oracle folder's files, `oracle_path` what of it to run (`.`: all). With `expected` None
    the verdict rests on whatever ids were collected, which are the keys of `outcomes`. A command finds the
    oracle as its working directory, read-only, and the tree named in WEIGHBRIDGE_TREE; 0 is a pass, 1 a
    fail, all else broken. With `boundary` process the tree runs in a sandbox without the oracle, pytest in one
    without the tree; CPU seconds are those of both, the memory peak that of the larger one. There, with `carry` false,
    the tree gets copies: what it changes in its arguments isn't changed in the tests. `environment` is a folder of
    installed wheels: code and oracle find its modules and no others but the standard library's and pytest's.
    """
    clean = cleaned(tree, frozen)
    for _ in range(2):
        root = Path(tempfile.mkdtemp(prefix="wb-"))
        try:
            places = {"tree": root / "tree", "oracle": root / "oracle"}
            if environment is not None:
                places["environment"] = environment
            export(clean, places["tree"], git=False)
            export(oracle, places["oracle"], git=False)
            nonce = secrets.token_bytes(32)
            if kind == "pytest":
                lines = new_lines(frozen, clean)
                tests = partial(_pytest, places, oracle_path, nonce, lines, timeout_s, isolation, limits, carry)
                alone = boundary == "process"
                done = apart(tests, places, lines, timeout_s, isolation, limits) if alone else tests()
                seen = _judge(done, nonce, expected, baseline_events)
            else:
                done = _command(places, command or [], timeout_s, isolation, limits)
                seen = _judge_command(done)
        finally:
            remove_tree(root)
        if not seen.harness_fault:
            break
    tail = done.stdout[-2000:] + done.stderr[-2000:]
    return replace(
        seen,
        output=tail.decode(errors="replace"),
        wall_s=done.wall_s,
        cpu_s=done.cpu_s,
        max_rss_kb=done.max_rss_kb,
    )


def observe_item(
    item: PlanItem,
    tree: Sequence[Entry],
    oracle: Sequence[Entry],
    expected: Sequence[str] | None,
    events: Sequence[str],
    isolation: Isolation,
    frozen: Sequence[Entry],
    boundary: Boundary = "inprocess",
    environment: Path | None = None,
    carry: bool = True,
) -> Observation:
    """`observe` by an item's own rules. Raises UsageError where the sandbox can't be made: nothing was judged then."""
    seen = observe(
        tree,
        oracle,
        kind=item.oracle.kind,
        command=item.oracle.command,
        timeout_s=float(item.oracle.timeout_s),
        expected=expected,
        isolation=isolation,
        frozen=frozen,
        baseline_events=frozenset(events),
        boundary=boundary,
        environment=environment,
        carry=carry,
    )
    if seen.harness_fault:
        raise UsageError(f"oracle of {item.item_id}", seen.reason, "a sandbox", "nothing was judged: run it again")
    return seen


def _pytest(
    places: Mapping[str, Path],
    path: str,
    nonce: bytes,
    lines: dict[str, Ranges],
    timeout_s: float,
    isolation: Isolation,
    limits: Limits | None,
    carry: bool,
    channel: int | None = None,
) -> Outcome:
    """The driver's run. With `channel` the tree is at its other end, and only its modules' names are told here."""
    compiled = cache.compiled()
    tree = places["tree"] if channel is None else places["oracle"]
    mounts = [(places["oracle"], ORACLE), (PLACE, DRIVER), (compiled, cache.INSIDE), *wheels(places)]
    inside = {host: isolation.place(host, name) for host, name in mounts}
    asked: dict[str, Any] = {
        "nonce": nonce.hex(),
        "tree": isolation.place(tree, TREE),
        "oracle": inside[places["oracle"]],
        "target": path,
        "offers": offered(places["tree"]) if channel is not None else [],
        "seconds": timeout_s,
        "carry": carry,
        "lines": lines,
        "environment": modules(places, isolation),
    }
    return run(
        [
            *(sys.executable, "-I", "-B", "-X", f"pycache_prefix={inside[compiled]}"),
            f"{inside[PLACE]}/driver.py",
        ],
        isolation=isolation,
        workspace=tree,
        workspace_writable=channel is None,  # the tree is a copy that is thrown away
        read_only=mounts,
        env={"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
        | ({} if channel is not None else {"WEIGHBRIDGE_TREE": asked["tree"]}),
        cwd=isolation.place(places["oracle"].parent, "/tmp"),
        timeout_s=timeout_s,
        stdin=json.dumps(asked).encode(),
        result_fd=True,
        channel=channel,
        limits=limits,
    )


def _command(
    places: Mapping[str, Path],
    command: Sequence[str],
    timeout_s: float,
    isolation: Isolation,
    limits: Limits | None,
) -> Outcome:
    inside = isolation.place(places["oracle"], ORACLE)
    nowhere = "/dev/null/none"
    return run(
        command,
        isolation=isolation,
        workspace=places["tree"],
        workspace_writable=True,
        read_only=[(places["oracle"], ORACLE), *wheels(places)],
        env={
            **({"PYTHONPATH": found} if (found := modules(places, isolation)) else {}),
            "WEIGHBRIDGE_TREE": isolation.place(places["tree"], TREE),
            "PYTHONDONTWRITEBYTECODE": "1",
            "PYTHONPYCACHEPREFIX": nowhere,
        },
        cwd=inside,
        timeout_s=timeout_s,
        limits=limits,
    )


def _judge(done: Outcome, nonce: bytes, expected: Sequence[str] | None, baseline: frozenset[str]) -> Observation:
    """The verdict's rules, in the order in which they hold."""
    if done.launch_failed is not None:
        return Observation("broken", f"sandbox: {one_line(done.launch_failed)}", harness_fault=True)
    report = read(done.result, nonce)
    phases = {test: seen for test, seen in report.phases.items() if test != CANARY}
    outcomes = {test: _outcome(seen) for test, seen in sorted(phases.items())}
    outcomes |= {
        test: report.subtests[test] for test in outcomes if outcomes[test] == "passed" and test in report.subtests
    }
    events = tuple(sorted(report.events))
    held = [event for event in events if event not in {*baseline, FLATTENED} and not event.startswith(DATA)]
    data = [event for event in events if event not in baseline and event.startswith(DATA)]
    ran = tuple(sorted(report.ran))
    if report.phases.get(CANARY, {}).get("call", ["failed"]) != ["failed"]:
        held.append("canary:passed")

    def say(verdict: Verdict, reason: str, fault: bool = False) -> Observation:
        return Observation(verdict, reason, outcomes, events, harness_fault=fault, ran=ran)

    vague = [event for event in held if event.startswith(_VAGUE)]
    if held and len(vague) == len(held):
        return say("broken", one_line(vague[0], 120))
    if held:
        return say("tamper", ", ".join(one_line(event, 80) for event in held[:3]))
    if done.timed_out:
        return say("broken", "timeout")
    if done.stopped:
        return say("broken", one_line(done.stopped, 120))
    if not report.started:  # no line of the tree has been run yet
        return say("broken", "driver did not start", True)
    if not report.ended:
        killed = f": {done.oom_kills} processes killed at the memory limit" if done.oom_kills else ""
        return say("broken", f"no_report{killed}")
    if data:  # an honest function may change what it was given; what a test compares with isn't sure any more
        return say("broken", one_line(data[0], 120))
    if report.uncollected:
        return say("broken", f"collection: {one_line(report.uncollected[0], 120)}")
    tests = sorted(report.collected)
    wanted = sorted([*(expected if expected is not None else phases), CANARY])
    if tests != wanted or sorted(report.phases) != wanted:
        return say("broken", "test_set_differs")
    if CANARY not in report.phases or not phases:
        return say("broken", "no_tests")
    odd = sorted(test for test, outcome in outcomes.items() if outcome not in ("passed", "failed"))
    if odd:
        return say("broken", f"{outcomes[odd[0]]}: {one_line(odd[0], 120)}")
    failed = sorted(test for test, outcome in outcomes.items() if outcome == "failed")
    if failed:
        return say("fail", f"{len(failed)} of {len(outcomes)} tests failed")
    return say("pass", f"{len(outcomes)} tests passed")


def _outcome(seen: Mapping[str, Sequence[str]]) -> str:
    """One word for a test's phases: each must have been recorded exactly once."""
    if any(len(words) != 1 for words in seen.values()):
        return "repeated"
    words = [seen[phase][0] for phase in _PHASES if phase in seen]
    odd = [word for word in words if word not in ("passed", "failed")]
    if odd:
        return odd[0]
    if "failed" in words:
        return "failed"
    return "passed" if len(words) == len(_PHASES) else "incomplete"


def _judge_command(done: Outcome) -> Observation:
    if done.launch_failed is not None:
        return Observation("broken", f"sandbox: {one_line(done.launch_failed)}", harness_fault=True)
    if done.timed_out:
        return Observation("broken", "timeout")
    if done.stopped:
        return Observation("broken", one_line(done.stopped, 120))
    if done.exit_code in (0, 1):
        return Observation("pass", "exit 0") if done.exit_code == 0 else Observation("fail", "exit 1")
    return Observation("broken", f"exit {done.exit_code}")
