"""One trial as an object that a stranger can replay: revision, digests, the oracle's bit, invented symbols."""

from __future__ import annotations

import difflib
from pathlib import Path
from typing import Any

from stages.contract import layout, parquet, tables
from stages.contract.errors import UsageError, one_line
from stages.contract.study import entries, read_frozen, read_plan, read_trials
from stages.contract.trees import Change

MAX_DIFF_CHARS = 200_000


def show_trial(root: Path, item_id: str, arm: str, repeat: int) -> tuple[dict[str, Any], str]:
    """(the trial's object, its patch as a unified diff). Raises UsageError for a trial that there isn't."""
    plan = read_plan(root)
    key = {"item_id": item_id, "arm": arm, "repeat": repeat}
    ledger = [r for r in parquet.read(root / layout.LEDGER, tables.LEDGER).to_pylist() if key.items() <= r.items()]
    trial = next((t for t in read_trials(root) if key.items() <= t.row.items()), None)
    if not ledger or trial is None:
        raise UsageError(
            f"{item_id} {arm} {repeat}",
            "no such trial in the ledger",
            "item, arm and repeat of a scored trial",
        )
    row = ledger[0]
    findings = [
        {k: f[k] for k in ("kind", "path", "line", "symbol", "how", "counted", "seen")}
        for f in parquet.read(root / layout.FINDINGS, tables.FINDINGS).to_pylist()
        if key.items() <= f.items()
    ]
    lines = row["generated_lines"]
    made = {
        "task_id": item_id,
        "rev": row["rev"],
        "arm": arm,
        "repeat": repeat,
        "prompt_sha256": row["prompt_sha256"],
        "patch_sha256": row["patch_sha256"],
        "oracle_sha256": row["oracle_sha256"],
        "oracle_pass": row["passed"],
        "status": row["status"],
        "verdict": row["verdict"],
        "verdict_reason": row["verdict_reason"],
        "inside_contract": row["inside_contract"],
        "assumption_violations": row["violations"],
        "generated_lines": lines,
        "assumption_per_kloc": float(f"{1000 * row['violations'] / lines:.6g}") if lines else None,
        "invented_imports": [f["symbol"] for f in findings if f["counted"] == "article" and f["kind"] == "import"],
        "invented_env": [f["symbol"] for f in findings if f["counted"] == "article" and f["kind"] == "environment"],
        "unauthorised_files": [f["symbol"] for f in findings if f["counted"] == "article" and f["kind"] == "file"],
        "interface_drift": row["interface_drift"],
        "findings": findings,
        "ended": trial.row["ended"],
        "ended_reason": trial.row["reason"],
        "exit_code": trial.row["exit_code"],
        "stderr_tail": trial.streams[0][-500:].decode("utf-8", "replace") if trial.streams else "",
        "seed": trial.row["seed"],
        "temperature": row["temperature"],
        **{name: row[name] for name in ("wall_s", "budget_share", "cpu_s", "max_rss_kb", "load_1m")},
        "verdict_isolation": row["verdict_isolation"],
        "plan_sha256": row["plan_sha256"],
        "slice_id": row["slice_id"],
    }
    frozen = entries(read_frozen(root, plan, layout.TREES)).get((item_id, "workspace"), [])
    before = {e.path: e.content for e in frozen}
    return made, "".join(_diff(change, before.get(change.path, b"")) for change in trial.changes)[:MAX_DIFF_CHARS]


def _diff(change: Change, before: bytes) -> str:
    """One file's change as text for people; controls escaped, binary files named only."""
    after = change.content or b""
    modes = f"{change.mode_before or 'absent'} to {change.mode_after or 'absent'}"
    head = f"--- {change.op} {one_line(change.path)} ({modes})\n"
    if change.op == "special" or b"\0" in after + before:
        return head + "    (not shown as text)\n"
    old, new = (
        data.decode("utf-8", "replace").splitlines() for data in (before, after if change.op != "delete" else b"")
    )
    lines = list(difflib.unified_diff(old, new, lineterm=""))[2:]
    return head + "".join(f"{one_line(line, 2000)}\n" for line in lines)
