"""One line of OpenHands' output.jsonl as a trial: patch, outcome where the line has one, what ended it, costs."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from stages.contract.errors import InputError
from stages.ingest.lines import finite
from stages.ingest.swebench_text import first_line, flag, is_infrastructure, item_id, joined, patch_bytes, text_of

_LIMITS = (
    ("iterations", re.compile(r"(?i)max(?:imum)?[ _]iterations?|iteration limit|MaxIterationsReached")),
    ("budget", re.compile(r"(?i)max(?:imum)? (?:task )?budget|budget (?:limit|exceeded)|MaxBudgetReached")),
    ("context", re.compile(r"(?i)context window (?:limit|exceeded)|ContextWindowExceed|maximum context length")),
)
_TIME = re.compile(
    r"EvalTimeoutException|(?i:timeout while processing|(?:instance|function|run|agent)[^.:]{0,60} timed out)"
)


@dataclass(frozen=True)
class Trial:
    """One line. `status`, `why`: the tests' own outcome. `error`: what ended the agent. `facts` as in Reading."""

    item: str
    source: int
    line: int
    patch: bytes | None
    status: str | None
    why: str
    error: str
    evaluation: bool  # a line of the evaluation alone: no word of the agent's run
    columns: Mapping[str, Any] = field(default_factory=dict)
    facts: Mapping[str, str] = field(default_factory=dict)
    stratum: str | None = None


def trial(where: str, row: Mapping[str, Any], source: int, line: int, strata: str | None) -> Trial:
    """Read one line. Raises InputError."""
    if "instance_id" not in row:
        raise InputError(where, "has no instance_id", "a line of OpenHands' output.jsonl")
    result = _object(where, row, "test_result")
    if not {"test_result", "git_patch", "metrics", "history", "error", "report"} & set(row):
        raise InputError(where, "has neither test_result nor git_patch", "a line of OpenHands' output.jsonl")
    status, why = _outcome(where, row, result)
    error = row.get("error")
    if error is not None and not isinstance(error, str):
        raise InputError(f"{where}: error", "isn't text", "text or null")
    metadata = _object(where, row, "metadata")
    instance = _object(where, row, "instance")
    patch = patch_bytes(where, result.get("git_patch", result.get("model_patch", row.get("git_patch"))))
    return Trial(
        item_id(where, row["instance_id"]),
        source,
        line,
        patch,
        status,
        why,
        (error or "").strip(),
        isinstance(result.get("report"), dict) and row.get("metrics") is None and row.get("history") is None,
        _costs(where, _object(where, row, "metrics")) | {"requested_model": text_of(_llm(metadata).get("model"))},
        _facts(metadata),
        text_of(instance.get(strata, row.get(strata))) if strata else None,
    )


def _object(where: str, row: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    value = row.get(name)
    if value is None:
        return {}
    if not isinstance(value, dict):
        raise InputError(f"{where}: {name}", "is no object", "an object or null")
    return value


def _outcome(where: str, row: Mapping[str, Any], result: Mapping[str, Any]) -> tuple[str | None, str]:
    for holder in (_object(where, row, "report"), _object(where, result, "report"), result, row):
        if "resolved" not in holder:
            continue
        resolved = flag(where, "resolved", holder["resolved"])
        if resolved:
            return "passed", ""
        for name, status, why in (
            ("empty_generation", "failed", "empty patch"),
            ("failed_apply_patch", "failed", "the patch didn't apply"),
            ("test_timeout", "timeout", "test_timeout: the tests ran out of time"),
            ("error_eval", "aborted", "error_eval: the evaluation ended in an error"),
        ):
            if flag(where, name, holder.get(name)):
                return status, why
        if resolved is False:
            return "failed", ""
    return None, ""


def ended(one: Trial, status: str | None, why: str, declared: tuple[str, ...]) -> dict[str, Any]:
    """Columns `status`, `reason`, `late_pass` of a trial with the tests' outcome and what ended the agent."""
    late = False
    said = first_line(one.error)
    if not one.error:
        said = ""
        if status == "aborted" and is_infrastructure(why, declared):
            status = "lost"
    elif is_infrastructure(one.error, declared):
        status = "lost"
    elif limit := next((name for name, shape in _LIMITS if shape.search(one.error[:65_536])), None):
        status, said = status or "aborted", f"limit of {limit}: {said}"
    elif _TIME.search(one.error[:65_536]):
        late, status = status == "passed", "timeout"
    else:
        status = "aborted"
    if status is None:
        why = why or "no outcome in the log"
    return {"status": status, "reason": joined([said, why]), "late_pass": late}


def _costs(where: str, metrics: Mapping[str, Any]) -> dict[str, Any]:
    """Cost and tokens; a cost of 0 without any priced call isn't known."""
    made: dict[str, Any] = {}
    cost = metrics.get("accumulated_cost")
    if cost is not None:
        number = finite(cost)
        if number is None or number < 0:
            raise InputError(f"{where}: accumulated_cost", "is no number of at least 0", "a number or null")
        made["cost_usd"] = number if number or metrics.get("costs") else None
    usage = _object(where, metrics, "accumulated_token_usage")
    for name, to in (("prompt_tokens", "input_tokens"), ("completion_tokens", "output_tokens")):
        count = usage.get(name)
        if count is not None and (isinstance(count, bool) or not isinstance(count, int) or count < 0):
            raise InputError(f"{where}: {name}", "is no whole number of at least 0", "a count or null")
        made[to] = count
    return made


def _llm(metadata: Mapping[str, Any]) -> Mapping[str, Any]:
    found = metadata.get("llm_config", metadata.get("llm"))
    return found if isinstance(found, dict) else {}


def _facts(metadata: Mapping[str, Any]) -> dict[str, str]:
    llm = _llm(metadata)
    temperature = finite(llm.get("temperature"))
    commit = text_of(metadata.get("git_commit"))
    folder = metadata.get("eval_output_dir")
    said = {
        "name": text_of(metadata.get("agent_class")),
        "version": commit,
        "harness": f"OpenHands {commit}" if commit else None,
        "model": text_of(llm.get("model")),
        "temperature": None if temperature is None else f"{temperature:g}",
        "run": text_of(re.split(r"[\\/]", folder.rstrip("/\\"))[-1]) if isinstance(folder, str) else None,
    }
    return {name: value for name, value in said.items() if value}
