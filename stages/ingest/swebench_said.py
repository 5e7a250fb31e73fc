"""Predictions and outcomes of single instances, as files of SWE-bench's family hold them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from stages.contract.errors import InputError
from stages.ingest.lines import finite
from stages.ingest.swebench_log import Log, Seen, tests_disagree, verdict_of
from stages.ingest.swebench_text import flag, item_id, patch_bytes, text_of


def listed(path: Path, value: Sequence[Any], source: int, log: Log) -> None:
    """A list of predictions. Raises InputError."""
    for number, row in enumerate(value, 1):
        if not isinstance(row, dict):
            raise InputError(f"{path}: [{number - 1}]", "no object", "a prediction of SWE-bench")
        prediction(f"{path}: [{number - 1}]", row, source, number, log)
    if not value:
        raise InputError(path, "is an empty list", "predictions of SWE-bench")


def instances(path: Path, value: Mapping[str, Any], source: int, log: Log, run: str | None, line: int) -> None:
    """{instance: true | false | {"resolved": …, "cost": …}}: reports, details, eval_results. Raises InputError."""
    if not value:
        raise InputError(path, "names no instance", "instance ids and their outcomes")
    wrong = []
    for number, (key, said) in enumerate(value.items(), line):
        where = f"{path}: {key}"
        item = item_id(where, key)
        extra: dict[str, Any] = {}
        if isinstance(said, dict) and "resolved" in said:
            status, reason = verdict_of(where, said)
            cost = finite(said.get("cost"))
            extra = {"cost_usd": cost} if cost is not None and cost >= 0 else {}
            if differs := tests_disagree(said):
                wrong.append((item, differs))
        elif said is None or isinstance(said, bool):
            status = None if said is None else "passed" if said else "failed"
            reason = "the outcome is null" if said is None else ""
        else:
            raise InputError(where, "is no outcome", "true, false, or an object with `resolved`")
        log.say(Seen(item, source, number, run, None, status, reason, extra=extra))
    if wrong:
        log.notes.add("total_disagrees", path.name, wrong[0][1], len(wrong), [item for item, _ in wrong])


_NAMES = {"instanceId": "instance_id", "modelPatch": "model_patch"}


def prediction(where: str, row: Mapping[str, Any], source: int, line: int, log: Log) -> None:
    """A prediction: instance_id, model_patch, model_name_or_path. Raises InputError.

    Also a row of vexp-swe-bench (instanceId, modelPatch), which holds the verdict, cost, tokens and duration too.
    """
    said = {_NAMES.get(k, k): v for k, v in row.items()}
    if "instance_id" not in said or "model_patch" not in said:
        raise InputError(where, "has no instance_id or no model_patch", "a prediction of SWE-bench")
    item = item_id(where, said["instance_id"])
    if name := text_of(said.get("model_name_or_path")):
        log.models[name.replace("/", "__")] = None
    extra: dict[str, Any] = {}
    if log.strata and log.strata not in ("model_patch", "modelPatch"):
        extra["stratum"] = text_of(row.get(log.strata))
    if "instanceId" in row:
        extra |= _measured(where, row)
        log.fact("model", text_of(row.get("model")))
        log.fact("name", text_of(row.get("agent")))
    log.predictions.append(Seen(item, source, line, patch=patch_bytes(where, said["model_patch"]), extra=extra))
    if "resolved" in row:
        resolved = flag(where, "resolved", row["resolved"])
        status = None if resolved is None else "passed" if resolved else "failed"
        log.say(Seen(item, source, line, status=status, reason="`resolved` is null" if resolved is None else ""))


def _measured(where: str, row: Mapping[str, Any]) -> dict[str, Any]:
    """Columns of a row of vexp-swe-bench; tokens of input hold those that were read from, or put into, a cache."""
    made: dict[str, Any] = {"requested_model": text_of(row.get("model"))}
    for name, to, scale in (("durationMs", "wall_s", 1000.0), ("costUsd", "cost_usd", 1.0)):
        if (value := row.get(name)) is None:
            continue
        number = finite(value)
        if number is None or number < 0:
            raise InputError(where, f"{name} is no number of at least 0", "a finite number >= 0, or null")
        made[to] = number / scale
    counts = [row.get(k) for k in ("inputTokens", "cacheReadTokens", "cacheCreationTokens", "outputTokens")]
    if not all(c is None or (isinstance(c, int) and not isinstance(c, bool) and c >= 0) for c in counts):
        raise InputError(where, "a count of tokens is no whole number of at least 0", "a whole number, or null")
    if counts[0] is not None:
        made["input_tokens"] = sum(c or 0 for c in counts[:3])
    made["output_tokens"] = counts[3]
    return made
