"""Reads logs in tests: what came out, and where the real ones are."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from stages.contract.errors import WeighbridgeError
from stages.ingest.model import Format, Notes, Options, Reading

SECRET = "sk-ant-api03-AbCdEfGhIjKlMnOpQrStUvWx0123456789"


def real(name: str) -> Path:
    """A folder of real logs beside the project; skips where there is none."""
    named = os.environ.get("WEIGHBRIDGE_LOGS")
    places = [Path(named)] if named else [p / "shared/data" for p in Path(__file__).resolve().parents]
    found = next((place / name for place in places if place.is_dir()), None)
    if found is None or not found.exists():
        pytest.skip("no real logs beside the project (WEIGHBRIDGE_LOGS names their folder)")
    return found


def read(form: Format, paths: Path | Sequence[Path], **options: Any) -> tuple[list[dict[str, Any]], Reading, Notes]:
    """(rows, reading, notes) of logs."""
    notes = Notes()
    if "threshold" in options:
        options["threshold"] = Fraction(options["threshold"])
    reading = form.read([paths] if isinstance(paths, Path) else list(paths), Options(**options), notes)
    return reading.rows.to_pylist(), reading, notes


def kinds(notes: Notes) -> list[str]:
    """Names of the findings, in order."""
    return [finding.kind for finding in notes.findings]


def refused(form: Format, path: Path, **options: Any) -> str:
    """The one line that a log is refused with."""
    with pytest.raises(WeighbridgeError) as caught:
        read(form, path, **options)
    said = str(caught.value)
    assert "\n" not in said
    assert caught.value.exit_code == 2
    assert len(said) < 1500
    return said


def survives(form: Format, path: Path, **options: Any) -> None:
    """A log that is damaged gives a reading or a refusal, nothing else."""
    try:
        _, reading, notes = read(form, path, **options)
    except WeighbridgeError as error:
        said = str(error)
    else:
        said = "".join(
            [str(dict(reading.facts)), *(f"{f.where} {f.found} {' '.join(f.items)}" for f in notes.findings)]
        )
    assert "\n" not in said
    said.encode()


def holds_no(reading: Reading, notes: Notes, *secrets: str) -> None:
    """Nothing that leaves the log holds one of these texts."""
    out = json.dumps([reading.rows.to_pylist(), dict(reading.facts), [str(f) for f in notes.findings]], default=str)
    for secret in secrets:
        assert secret not in out


ODD = (None, True, -1, 0.5, 10**30, float("nan"), "x" * 600, "a\ud800\x00", [], [1], {"a": {}})


def variants(value: Any) -> Iterator[Any]:
    """A JSON value with each of its parts, one after the other, replaced by each odd value, or left out."""
    yield from ODD
    if isinstance(value, dict):
        for key, below in value.items():
            yield {k: v for k, v in value.items() if k != key}
            for odd in variants(below):
                yield value | {key: odd}
    elif isinstance(value, list):
        for at, below in enumerate(value):
            for odd in variants(below):
                yield [*value[:at], odd, *value[at + 1 :]]
