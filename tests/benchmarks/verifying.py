"""How long `verify` takes on a study of many trials, against hashing the same files again with `sha256sum -c`.

The pack is frozen for real; trials and verdicts are made up, so the study measures nothing but this package.
"""

from __future__ import annotations

import json
import os
import platform
import random
import re
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from stages.contract import layout, parquet, tables
from stages.contract.arm import drawn_seed
from stages.contract.digest import canonical, pretty, sha256
from stages.contract.plan import Plan
from stages.contract.trees import Change, patch_digest
from stages.contract.types import plain
from stages.exclude import exclude
from stages.freeze import freeze
from stages.gate import ledger_row
from stages.oracle.bench import drawn_again
from stages.report import report
from tests.support.mini import REPO, make_study
from tests.support.stamps import raw_stamp

ROUNDS = 5
AT = "2026-03-01T10:00:00.000000Z"


def make_large(root: Path, items: int, repeats: int) -> Path:
    """A study of 2 × (items + 4 placebos) × repeats trials, made up but for its pack, with everything derived from it."""
    make_study(root, items, 4, protocol={"trial_budget": repeats})
    manifest = freeze(root)
    plan = Plan.model_validate_json((root / layout.PLAN).read_bytes(), strict=False)
    entry = {"admitted": True, "rule": None, "expected": ["t::a"], "events": [], "placebo_passed": False}
    admitted = {i.item_id: {**entry, "boundary": "process"} for i in plan.items}
    sha = plan.sha256()
    head = {"schema": "weighbridge.admitted/1", "plan_sha256": sha, "items": admitted}
    (root / layout.ADMITTED).parent.mkdir(parents=True, exist_ok=True)
    (root / layout.ADMITTED).write_bytes(pretty(head))
    ids = {"slice_id": manifest.slice_id, "study_id": manifest.study_id, "manifest_sha256": manifest.sha256()}
    campaign = {
        **{"look": 1, "earlier_looks": [], "candidates": ["able"], "registration": "none", "events": []},
        **{"started_at": "2026-03-01T09:00:00Z", "pack_changed": None, "mode": "benchmark", "protocol": plain(manifest.protocol)},
        **{"isolation": {"tier": "namespaces", "why": "made up", "enforced": {}}, "campaign": plan.campaign},
        **{"plan_sha256": sha, "candidate": "able", "control": "poor", **ids},
    }  # fmt: skip
    made = _rows(plan, manifest, sha, ids)
    (root / layout.TRIALS).parent.mkdir(parents=True, exist_ok=True)
    (root / layout.LEDGER).parent.mkdir(parents=True, exist_ok=True)
    (root / layout.CAMPAIGN).write_bytes(pretty(campaign))
    for kind, name in (
        *(("trials", layout.TRIALS), ("patches", layout.PATCHES), ("stamps", layout.STAMPS), ("calls", layout.CALLS)),
        *(("transcripts", layout.TRANSCRIPTS), ("replaced", layout.REPLACED), ("checks", layout.CHECKS)),
        *(("ledger", layout.LEDGER), ("findings", layout.FINDINGS), ("verdicts", layout.VERDICTS)),
    ):
        parquet.write(root / name, parquet.table(tables.ALL[kind], made.get(kind, [])))
    exclude(root)
    report(root)
    return root


def _rows(plan: Plan, manifest: Any, sha: str, ids: dict[str, str]) -> dict[str, list[dict[str, Any]]]:
    draw = random.Random(1)
    items = {i.item_id: i for i in plan.items}
    out: dict[str, list[dict[str, Any]]] = {
        n: [] for n in ("trials", "patches", "stamps", "transcripts", "ledger", "verdicts")
    }
    empty = sha256(b"\0")
    for number, block in enumerate(plan.schedule):
        item = items[block.item_id]
        for arm in ("candidate", "control"):
            key = {"item_id": block.item_id, "arm": arm, "repeat": block.repeat}
            own = getattr(plan.arms, arm)
            passed = not item.placebo and draw.random() < (0.6 if arm == "candidate" else 0.5)
            body = f"# {draw.random()}\n".encode() * 20
            change = Change("a.py", "add", None, "100644", None, sha256(body), body)
            trial = {
                **key,
                **{"block": number, "position": int(block.first != arm), "ended": "completed", "reason": None},
                **{"exit_code": 0, "started_at": AT, "wall_s": round(draw.random() * 9, 6), "cpu_s": 0.5},
                **{"max_rss_kb": 20_000, "load_1m": 0.5, "time_budget_s": item.time_budget_s, "attempts": 1},
                **{"interrupted": 0, "replaced": 0, "patch_sha256": patch_digest([change]), "patch_files": 1},
                **{"transcript_sha256": empty, "temperature": "0", "arm_name": own.name, "arm_version": own.version},
                **{"seed": str(drawn_seed(own.seed, block.item_id, block.repeat)), "version_said": own.version},
                **{"install_before": "x", "install_after": "x", "isolation": "namespaces", "limits": "{}"},
                **{"plan_sha256": sha, "pack_sha256": plan.pack_sha256, **ids},
            }
            stamp = canonical(raw_stamp(**key, attempt=1, retries=0, started_at=AT)).decode()
            kinds = ["first", "inside"] + ["recheck"] * drawn_again(sha, manifest.oracle, *key.values())
            verdict = {
                **{"oracle_key": "k", "verdict": "pass" if passed else "fail", "reason": "1 test", "events": "[]"},
                **{"outcomes": canonical({"t::a": "passed" if passed else "failed"}).decode(), "wall_s": 0.3},
                **{"isolation": "namespaces", "cpu_s": 0.3, "max_rss_kb": 30_000},
            }
            counted: dict[str, int | None] = dict.fromkeys(
                ("invented_imports", "invented_env", "unauthorised_files", "violations", "extended"), 0
            )
            counted |= {"generated_lines": 20, "interface_drift": None}
            out["trials"].append(trial)
            out["patches"].append({**key, **vars(change)})
            out["stamps"].append({**key, "attempt": 1, "stamp": stamp})
            out["transcripts"] += [{**key, "stream": s, "bytes_total": 0, "content": b""} for s in ("stderr", "stdout")]
            out["verdicts"] += [{**key, "kind": kind, **verdict} for kind in kinds]
            told = dict.fromkeys(kinds, verdict)
            out["ledger"].append(ledger_row(trial, item, told, counted, [stamp], 0, None))
    return out


def run(*words: str, cwd: Path) -> tuple[float, str]:
    """(seconds, what it printed) of a command that must end well."""
    start = time.perf_counter()
    done = subprocess.run(
        words, cwd=cwd, env={**os.environ, "PYTHONPATH": str(REPO)}, capture_output=True, text=True, check=True
    )
    return time.perf_counter() - start, done.stdout


def main(items: int = 496, repeats: int = 10) -> None:
    with tempfile.TemporaryDirectory() as folder:
        root = make_large(Path(folder) / "study", items, repeats)
        trials = json.loads((root / layout.DECISION).read_bytes())["counts"]["planned"]
        bundle = Path(folder) / "study.zip"
        run(sys.executable, "-m", "stages", "bundle", str(bundle), cwd=root)
        code = "import re, sys; from stages.cli import main; sys.argv[1:] = ['verify', '.']\ntry: main()\nexcept SystemExit: pass\n"
        code += "print(re.search(r'VmHWM:\\s+(\\d+)', open('/proc/self/status').read())[1])"
        commands = {
            "verify, folder": (sys.executable, "-m", "stages", "verify", "."),
            "verify, bundle": (sys.executable, "-m", "stages", "verify", str(bundle)),
            "sha256sum -c": ("sha256sum", "-c", "--quiet", layout.RUN_BILL.as_posix()),
            "imports alone": (sys.executable, "-c", "import pandas, pyarrow.parquet, scipy.stats, stages.cli"),
        }
        seconds: dict[str, list[float]] = {name: [] for name in commands}
        for _ in range(ROUNDS):
            for name, words in commands.items():
                seconds[name].append(run(*words, cwd=root)[0])
        peak = int(run(sys.executable, "-c", code, cwd=root)[1].split()[-1]) / 1024
        size = sum(p.stat().st_size for p in root.rglob("*.parquet")) / 1e6
        base = statistics.median(seconds["sha256sum -c"])
        print(
            f"{platform.machine()}, {os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}, Python {platform.python_version()}"
        )
        print(
            f"{trials:,} trials of items, {size:.1f} MB of tables, bundle {bundle.stat().st_size / 1e6:.1f} MB, peak {peak:.0f} MB"
        )
        for name, found in seconds.items():
            spread = f"{min(found):.2f} to {max(found):.2f}"
            print(
                f"{name:16} {statistics.median(found):6.2f} s ({spread}), {statistics.median(found) / base:6.1f} × sha256sum"
            )
        assert re.search("verified", run(*commands["verify, bundle"], cwd=root)[1])


if __name__ == "__main__":
    main(*(int(word) for word in sys.argv[1:]))
