"""What the wide agent leaves besides its patch: a copy of what it changed, or notes when it gives up."""

from __future__ import annotations

from collections.abc import Mapping
from random import Random

from common.search import Outcome
from common.task import Task

BACKUP_SHARE, NOTES_SHARE = 0.1, 0.4


def leave_behind(task: Task, before: Mapping[str, bytes], outcome: Outcome, rng: Random) -> None:
    """Keep a `.bak` of a changed file for some seeds; for others, write `NOTES.md` when tests still fail."""
    if outcome.changed and rng.random() < BACKUP_SHARE:
        path = min(outcome.changed)
        (task.workspace / f"{path}.bak").write_bytes(before[path])
        outcome.log.append(f"kept {path}.bak")
    elif before and not outcome.solved and rng.random() < NOTES_SHARE:
        lines = [
            "# Notes",
            "",
            "Not all visible tests pass. What was tried:",
            "",
            *(f"- {line}" for line in outcome.log),
        ]
        (task.workspace / "NOTES.md").write_text("\n".join(lines) + "\n", encoding="utf-8")
        outcome.log.append("wrote NOTES.md")
