"""The printed JSON Schemas, held against real files by a validator that isn't ours."""

from __future__ import annotations

import json
import warnings
from decimal import Decimal
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml

from stages.contract import layout, parquet, tables
from stages.contract.errors import UsageError
from stages.contract.schemas import MODELS, json_schema
from stages.contract.types import plain
from stages.contract.yamlfile import read_yaml
from stages.session.dialects import read_call
from tests.session.exchanges import exchange
from tests.support import mini

REPO = mini.REPO


def _json(value: Any) -> Any:
    """Parsed YAML as JSON has it."""
    return json.loads(json.dumps(value, default=lambda d: float(d) if isinstance(d, Decimal) else str(d)))


def real_files(name: str, ran: Path) -> list[Any]:
    """Real files or objects of that kind."""
    if name == "task":
        tasks = sorted((REPO / "data/pack/tasks").glob("*/task.yaml"))
        return [_json(read_yaml(path)) for path in [*tasks, *ran.glob("data/pack/tasks/*/task.yaml")]]
    if name == "pack":
        return [_json(read_yaml(root / "data/pack/pack.yaml")) for root in (REPO, ran)]
    if name in ("params", "protocol", "arms"):
        both = [_json(read_yaml(root / layout.PARAMS)) for root in (REPO, ran)]
        return both if name == "params" else [value[name] for value in both]
    if name == "stamp":
        stamps = parquet.read(ran / layout.STAMPS, tables.STAMPS).column("stamp").to_pylist()
        return [json.loads(stamp) for stamp in stamps]
    if name == "call":  # no trial of a local program has one
        return [plain(read_call(exchange(), 1))]
    path = {"plan": layout.PLAN, "manifest": layout.MANIFEST, "decision": layout.DECISION}[name]
    return [json.loads((ran / path).read_bytes())]


@pytest.mark.parametrize("name", sorted(MODELS))
def test_a_real_file_is_valid_and_one_with_a_strange_key_isnt(name: str, ran: Path) -> None:
    schema = json_schema(name)
    jsonschema.Draft202012Validator.check_schema(schema)
    validator = jsonschema.Draft202012Validator(schema)
    files = real_files(name, ran)
    assert files
    for value in files:
        validator.validate(value)
        assert not validator.is_valid({**value, "strange": 1})
        for key in schema.get("required", []):
            assert not validator.is_valid({k: v for k, v in value.items() if k != key})


@pytest.mark.parametrize("name", sorted(MODELS))
def test_a_schema_is_plain_json_made_without_a_warning(name: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        schema = json_schema(name)
    assert json.loads(json.dumps(schema, allow_nan=False)) == schema
    assert schema["$id"] == f"weighbridge.{name}/1"


def test_a_schema_that_there_isnt_is_refused_with_the_nearest() -> None:
    with pytest.raises(UsageError, match="did you mean manifest"):
        json_schema("manifesto")


def test_the_schema_refuses_what_the_model_refuses() -> None:
    value = yaml.safe_load(yaml.safe_dump(mini.task("item", "left", "m")))
    validator = jsonschema.Draft202012Validator(json_schema("task"))
    validator.validate(value)
    for change in ({"id": "a/b"}, {"rev": 1}, {"placebo": "yes"}, {"allow": {"files_write": []}}, {"stratum": None}):
        assert not validator.is_valid({**value, **change})


def test_bounds_of_numbers_are_in_the_schema() -> None:
    budget = json_schema("protocol")["properties"]["trial_budget"]
    assert (budget["minimum"], budget["maximum"]) == (1, 1000)
    assert not {"ge", "le", "gt", "lt"} & set(budget)
