"""JSON Schemas of the contract, made from the models."""

from __future__ import annotations

import difflib
from typing import Any

from pydantic import BaseModel

from stages.contract.arm import Arms
from stages.contract.decision import Decision
from stages.contract.errors import UsageError
from stages.contract.plan import Manifest, Plan
from stages.contract.protocol import Params, Protocol
from stages.contract.stamp import Call, Stamp
from stages.contract.stampwords import described
from stages.contract.task import Pack, Task

MODELS: dict[str, type[BaseModel]] = {
    "task": Task,
    "pack": Pack,
    "params": Params,
    "protocol": Protocol,
    "arms": Arms,
    "stamp": Stamp,
    "call": Call,
    "plan": Plan,
    "manifest": Manifest,
    "decision": Decision,
}


def json_schema(name: str) -> dict[str, Any]:
    """The schema of that name. Raises UsageError."""
    if name not in MODELS:
        near = difflib.get_close_matches(name, MODELS, n=1)
        raise UsageError("schema", f"no schema {name!r}", ", ".join(MODELS), f"did you mean {near[0]}?" if near else "")
    made = _bounded(MODELS[name].model_json_schema(by_alias=True))
    if name in ("stamp", "call"):
        made = described(name.capitalize(), made)
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", "$id": f"weighbridge.{name}/1", **made}


_BOUNDS = {"ge": "minimum", "le": "maximum", "gt": "exclusiveMinimum", "lt": "exclusiveMaximum"}


def _bounded(value: Any) -> Any:
    """The schema with bounds by their names in JSON Schema; pydantic leaves its own beside a validator of ours."""
    if isinstance(value, list):
        return [_bounded(one) for one in value]
    if not isinstance(value, dict):
        return value
    number = value.get("type") in ("integer", "number")
    return {_BOUNDS.get(key, key) if number else key: _bounded(one) for key, one in value.items()}
