"""What a Harbor trial says of its task, its agent, and the models that served it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from stages.contract.errors import InputError
from stages.ingest.folders import json_object, plain
from stages.ingest.lines import finite
from stages.ingest.values import Facts, clean, label, mapping

MAX_TRAJECTORY_BYTES = 32 * 1024 * 1024


def task_of(where: str, config: dict[str, Any]) -> str:
    task = mapping(where, config.get("task"), "task")
    return next((str(task[k]) for k in ("path", "name") if isinstance(task.get(k), str)), "")


def model_of(where: str, config: dict[str, Any]) -> str | None:
    return label(where, mapping(where, config.get("agent"), "agent").get("model_name"), "model_name")


def arm_of(where: str, result: dict[str, Any], config: dict[str, Any], facts: Facts) -> str | None:
    """The agent and model that a trial names; its facts are kept."""
    agent = mapping(where, config.get("agent"), "agent")
    told = mapping(where, result.get("agent_info"), "agent_info")
    kwargs = mapping(where, agent.get("kwargs"), "kwargs")
    called = (
        label(where, agent.get("name"), "name")
        or label(where, told.get("name"), "name")
        or label(where, agent.get("import_path"), "import_path")
    )
    model = model_of(where, config)
    arm = "/".join(part for part in (called, model) if part) or None
    version = label(where, told.get("version"), "version")
    limits = [f"{key} {agent[key]:g}" for key in ("override_timeout_sec", "max_timeout_sec") if finite(agent.get(key))]
    times = finite(config.get("timeout_multiplier"))
    temperature = finite(kwargs.get("temperature"))
    job = label(where, config.get("job_id"), "job_id")
    facts.add(
        arm,
        name=called,
        version=None if version == "unknown" else version,
        harness="harbor",
        oracle="harbor verifier",
        time_budget=None if times is None else ", ".join([f"the tasks' own x {times:g}", *limits]),
        model=model,
        temperature=None if temperature is None else f"{temperature:g}",
        run=job and f"{job} {arm}",  # one job may run several agents
    )
    return arm


def served_models(folder: Path) -> str | None:
    """The models that a trajectory names in its steps; None where it names none, or isn't readable."""
    try:
        path = folder / "agent" / "trajectory.json"
        if (folder / "agent").is_symlink() or not plain(path):
            return None
        steps = json_object(path, MAX_TRAJECTORY_BYTES, "a trajectory")[0].get("steps")
    except InputError:
        return None
    named = {s["model_name"] for s in steps or () if isinstance(s, dict) and isinstance(s.get("model_name"), str)}
    return clean(" and ".join(sorted(named))) if isinstance(steps, list) and named else None
