"""Logs of another harness as a study: `ingest` in the place of freeze to score, `judge` all the way to a decision."""

from __future__ import annotations

import os
from collections.abc import Mapping
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

from stages.contract import layout
from stages.contract.digest import pretty
from stages.contract.errors import InputError, UsageError
from stages.contract.files import Outputs, replace_bytes
from stages.contract.importing import ImportParams, LogParams
from stages.contract.protocol import Study
from stages.contract.text import read_json
from stages.contract.types import plain, validate
from stages.contract.yamlfile import read_yaml

TEMPLATES = Path(__file__).parents[1] / "templates"


def ingest(root: Path) -> dict[str, int]:
    """Read the logs that `params.yaml` names into manifest, items, trials and ledger; return how many rows there are.

    Pure: the same logs give the same bytes. Raises InputError, and then nothing is written.
    """
    params = validate(LogParams, read_yaml(root / layout.PARAMS), layout.PARAMS)
    return write_study(root, root, params.import_, params.study, params.protocol, f"{layout.PARAMS}: protocol")


def write_study(
    root: Path, logs: Path, params: ImportParams, study: Study, protocol: Mapping[str, Any], where: object
) -> dict[str, int]:
    """Write the files of a study below `root` that is read from logs below `logs`."""
    import pyarrow as pa

    from stages.ingest.build import build

    built = build(logs, params, study, protocol, where)
    out = Outputs(root)
    out.bytes(layout.MANIFEST, pretty(built.manifest.dump()))
    out.table(layout.ITEMS, built.items)
    out.table(layout.TRIALS, built.trials)
    out.table(layout.LEDGER, built.ledger)
    out.table(layout.FINDINGS, built.findings)
    out.bytes(layout.INGEST, pretty(built.read))
    out.commit()
    rows = dict(built.read["rows"])
    del built, out
    pa.default_memory_pool().release_unused()  # a million rows are read again by the next stage
    return rows


def read_protocol(path: Path | None) -> dict[str, Any]:
    """The `protocol:` block of a file, or a file that is nothing but one. Raises InputError."""
    if path is None:
        return {}
    value = read_yaml(path) if path.suffix in (".yaml", ".yml") else read_json(path)
    if isinstance(value, dict) and "protocol" in value:
        value = value["protocol"]
    if not isinstance(value, dict):
        raise InputError(path, "no mapping", "the protocol block of params.yaml")
    return value


def judge(root: Path, params: ImportParams, protocol: Mapping[str, Any], where: object) -> dict[str, Any]:
    """Read logs into a study below `root` and decide; `root/decision.json` is the decision once more."""
    from stages.exclude import exclude
    from stages.report import report

    write_study(root, Path(), params, Study(), protocol, where)
    exclude(root)
    decision = report(root)
    replace_bytes(root / "decision.json", pretty(decision))
    _write_pipeline(root, params, protocol)
    return decision


def _write_pipeline(root: Path, params: ImportParams, protocol: Mapping[str, Any]) -> None:
    """The parameters that give this study again, and a `dvc.yaml` for it, with the logs as its dependencies."""
    import yaml

    paths = {key: [_from(root, path) for path in getattr(params, key)] for key in ("logs", "candidate", "control")}
    block: dict[str, Any] = {**plain(params), **paths}
    beside = [name for name in (params.strata, params.allow) if name is not None and Path(name).is_file()]
    for key in ("strata", "allow"):
        if block[key] in beside:
            block[key] = _from(root, block[key])
    given = {"study": {"mode": "benchmark"}, "import": block, "protocol": _texts(protocol)}
    replace_bytes(root / layout.PARAMS, yaml.safe_dump(given, sort_keys=False, allow_unicode=True).encode())
    pipeline = yaml.safe_load((TEMPLATES / "logs/dvc.yaml").read_bytes())
    pipeline["stages"]["ingest"]["deps"] = [
        *(p for own in paths.values() for p in own),
        *(_from(root, b) for b in beside),
    ]
    replace_bytes(root / "dvc.yaml", yaml.safe_dump(pipeline, sort_keys=False, allow_unicode=True).encode())


def _from(root: Path, path: str) -> str:
    return Path(os.path.relpath(path, root)).as_posix()


def _texts(value: Any) -> Any:
    """Exact decimals as their text, which a protocol reads again as they were."""
    if isinstance(value, Mapping):
        return {str(key): _texts(one) for key, one in value.items()}
    if isinstance(value, list):
        return [_texts(one) for one in value]
    return str(value) if isinstance(value, Decimal | Fraction) else value


def draw_ladder(made: dict[str, Any], path: Path) -> None:
    """Draw a ladder into an SVG file. Raises UsageError."""
    from stages.render.figure import svg
    from stages.render.ladder import ladder_spec

    if path.suffix != ".svg" or path.is_dir() or not path.parent.is_dir():
        raise UsageError("--figure", path, "a name that ends in .svg, in a folder that is there")
    replace_bytes(path, svg(ladder_spec(made)).encode())
