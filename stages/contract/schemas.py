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
from stages.contract.stamp import Stamp
from stages.contract.task import Pack, Task

MODELS: dict[str, type[BaseModel]] = {
    "task": Task,
    "pack": Pack,
    "params": Params,
    "protocol": Protocol,
    "arms": Arms,
    "stamp": Stamp,
    "plan": Plan,
    "manifest": Manifest,
    "decision": Decision,
}


def json_schema(name: str) -> dict[str, Any]:
    """The schema of that name. Raises UsageError."""
    if name not in MODELS:
        near = difflib.get_close_matches(name, MODELS, n=1)
        raise UsageError("schema", f"no schema {name!r}", ", ".join(MODELS), f"did you mean {near[0]}?" if near else "")
    made = MODELS[name].model_json_schema(by_alias=True)
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", "$id": f"weighbridge.{name}/1", **made}
