"""What the harness adds to a trial: everything but the agent's own time and the oracle's, part by part."""

from __future__ import annotations

import os
import platform
import statistics
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from stages.arms import Finished, Journal
from stages.arms.installed import install_digest
from stages.contract.trees import Change, Entry
from stages.packs import read_pack
from stages.sandbox import Isolation, compare, export, find, read_tree, remove_tree, run
from tests.benchmarks.fresh import ROOT

TRIALS = 60
NOTHING = ["true"]  # takes about a millisecond, which is counted as the harness's
LIMIT_MS = 250
PARTS = {
    "workspace": "export of the tree and its one commit",
    "runner": "digest of the runner's files, before and after",
    "agent": "launch of the agent",
    "walk": "walk of what it left, compared with the frozen tree",
    "journal": "claim, and one commit to disk for the finished trial",
    "trees": "tree and oracle written out for the verdict",
    "oracle": "launch of the oracle",
    "product": "launch of the code under test in a sandbox of its own",
    "removal": "folders deleted",
}


@contextmanager
def clocked(parts: dict[str, float], name: str) -> Iterator[None]:
    began = time.perf_counter()
    yield
    parts[name] = parts.get(name, 0.0) + 1000 * (time.perf_counter() - began)


def launch(workspace: Path, isolation: Isolation, mounts: list[tuple[Path, str]], writable: bool) -> None:
    done = run(
        NOTHING,
        isolation=isolation,
        workspace=workspace,
        workspace_writable=writable,
        read_only=mounts,
        env={},
        timeout_s=60,
    )
    assert done.exit_code == 0, done


def one(
    tree: list[Entry], oracle: list[Entry], install: Path, journal: Journal, number: int, isolation: Isolation
) -> dict[str, float]:
    """Milliseconds of each part of a trial whose agent and oracle do nothing."""
    parts: dict[str, float] = {}
    base = Path(tempfile.mkdtemp(prefix="wb-"))
    key = (f"item-{number}", "candidate", 0)
    with clocked(parts, "journal"):
        journal.claim("0" * 64, key, datetime.now(UTC).isoformat())
    with clocked(parts, "workspace"):
        export(tree, base / "ws", git=True)
    with clocked(parts, "runner"):
        install_digest([(install, "/agent/it")])
    mounts = [(install, "/agent/it")] if isolation.tier != "none" else []
    with clocked(parts, "agent"):
        launch(base / "ws", isolation, mounts, True)
    path = base / "ws" / next(entry.path for entry in tree if entry.path.endswith(".py"))
    path.write_bytes(path.read_bytes() + b"\n# changed\n")
    with clocked(parts, "walk"):
        changes: list[Change] = compare(tree, read_tree(base / "ws", skip_git=True))
    with clocked(parts, "runner"):
        install_digest([(install, "/agent/it")])
    with clocked(parts, "journal"):
        journal.finish("0" * 64, key, Finished({"ended": "completed"}, ["{}"], changes, {"stdout": (9, b"x" * 9)}))
    with clocked(parts, "trees"):
        export(tree, base / "tree", git=False)
        export(oracle, base / "oracle", git=False)
    inside = [(base / "oracle", "/oracle")] if isolation.tier != "none" else []
    with clocked(parts, "oracle"):
        launch(base / "tree", isolation, inside, False)
    with clocked(parts, "product"):
        launch(base / "tree", isolation, [], False)
    with clocked(parts, "removal"):
        remove_tree(base)
    return parts


def measure(quick: bool) -> dict[str, Any]:
    """Milliseconds of each part: median and 95th percentile over trials of the bundled pack's items."""
    isolation = find()
    pack = read_pack(ROOT / "data/pack")
    trials = 6 if quick else TRIALS
    found: list[dict[str, float]] = []
    with tempfile.TemporaryDirectory() as folder:
        journal = Journal(Path(folder))
        for number in range(-2, trials):  # the first two warm caches up
            item = pack.items[number % len(pack.items)]
            parts = one(item.tree, item.oracle, ROOT / "data/agents/common", journal, number, isolation)
            if number >= 0:
                found.append(parts)
        journal.close()
    totals = [sum(parts.values()) for parts in found]
    return {
        "isolation": isolation.tier,
        "trials": trials,
        "parts_ms": {name: _figures([parts[name] for parts in found]) for name in PARTS},
        "total_ms": _figures(totals),
        "limit_ms": LIMIT_MS,
        "python": platform.python_version(),
        "cores": os.cpu_count(),
        "load": os.getloadavg()[0],
    }


def _figures(values: list[float]) -> dict[str, float]:
    return {"median": statistics.median(values), "p95": statistics.quantiles(values, n=20)[-1], "max": max(values)}


def markdown(found: dict[str, Any]) -> str:
    """A row for each part and one for the whole."""

    def row(name: str, what: str, ms: dict[str, float]) -> str:
        return f"| {name} | {what} | {ms['median']:.1f} | {ms['p95']:.1f} |"

    return "\n".join([
        "| part | what | median ms | 95 % ms |",
        "| --- | --- | ---: | ---: |",
        *(row(name, what, found["parts_ms"][name]) for name, what in PARTS.items()),
        row("**in all**", f"to be under {found['limit_ms']} ms", found["total_ms"]),
        "",
        f"One trial at a time, {found['trials']} trials over the bundled pack's items, agent and oracle replaced by "
        f"`true`; tier {found['isolation']}, Python {found['python']}, {found['cores']} cores, load {found['load']:.1f}.",
    ])  # fmt: skip
