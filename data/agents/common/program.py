"""The program around a search: arguments, one task in, a patched workspace and a short log out."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping
from contextlib import suppress
from random import Random

from common.project import Project
from common.search import Outcome, Search, Settings
from common.statement import read_hints
from common.task import Task, read_task

Habit = Callable[[Task, Mapping[str, bytes], Outcome, Random], None]


def main(name: str, version: str, settings: Settings, habit: Habit | None = None) -> int:
    """Repair the workspace that the environment names; returns 0 whatever came of it."""
    if "--version" in sys.argv[1:]:
        print(f"{name} {version}")
        return 0
    if os.environ.get("PYTHONHASHSEED") != "0" and sys.executable:
        environ = {**os.environ, "PYTHONHASHSEED": "0", "PYTHONDONTWRITEBYTECODE": "1"}
        os.execve(sys.executable, [sys.executable, *sys.argv], environ)
    sys.dont_write_bytecode = True
    task = read_task(os.environ)
    rng = Random(task.seed)
    os.chdir(task.workspace)
    project = Project(task.workspace)
    before = dict(project.files)
    try:
        outcome = Search(task, project, read_hints(task.statement), settings, rng).run()
    except (RecursionError, MemoryError) as error:
        outcome = Outcome(log=[f"gave up: {type(error).__name__}"])
    _tidy(task, project)
    for path, data in sorted(outcome.changed.items()):
        if data != before[path]:
            (task.workspace / path).write_bytes(data)
            outcome.log.append(f"wrote {path}")
    if habit is not None:
        habit(task, before, outcome, rng)
    print("\n".join([f"{name} {version}", *outcome.log]))
    return 0


def _tidy(task: Task, project: Project) -> None:
    """Remove files that candidates left behind in the workspace."""
    for path in sorted(Project(task.workspace).names - project.names):
        with suppress(OSError):
            (task.workspace / path).unlink()
