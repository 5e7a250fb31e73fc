"""The task as an agent is handed it: environment variables and one interface file."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Task:
    """What is asked for. `module` and `function` are None where the task pins no interface."""

    workspace: Path
    statement: str
    module: str | None
    function: str | None
    seed: int


def read_task(environ: Mapping[str, str]) -> Task:
    """Return the task that the environment describes; anything missing or unreadable counts as absent."""
    workspace = Path(environ.get("WEIGHBRIDGE_WORKSPACE") or os.getcwd()).resolve()
    statement = environ.get("WEIGHBRIDGE_STATEMENT") or _text(environ.get("WEIGHBRIDGE_STATEMENT_FILE"))
    interface = _interface(_text(environ.get("WEIGHBRIDGE_INTERFACE_FILE")))
    try:
        seed = int(environ.get("WEIGHBRIDGE_SEED") or 0)
    except ValueError:
        seed = 0
    return Task(workspace, statement, interface.get("module"), interface.get("function"), seed)


def _text(path: str | None) -> str:
    if not path:
        return ""
    try:
        return Path(path).read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""


def _interface(text: str) -> dict[str, str]:
    try:
        value = json.loads(text)
    except ValueError:
        return {}
    if not isinstance(value, dict):
        return {}
    return {key: item for key, item in value.items() if isinstance(item, str)}
