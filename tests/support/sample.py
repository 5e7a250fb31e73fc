"""A sample of many alike cases for every run; the others are heavy evidence (`pytest -m heavy`)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest


def sampled(cases: Iterable[Any], every: int, ids: Iterable[str] | None = None) -> list[Any]:
    """Parameters of a test: one in `every` as it is, the rest marked heavy."""
    listed = list(cases)
    named = [str(case) for case in listed] if ids is None else list(ids)
    return [
        pytest.param(case, id=name, marks=() if number % every == 0 else pytest.mark.heavy)
        for number, (case, name) in enumerate(zip(listed, named, strict=True))
    ]
