"""Both tiers, the better one only where this machine has it."""

from __future__ import annotations

from pathlib import Path

import pytest

from stages.sandbox import Isolation, find


@pytest.fixture(scope="session")
def namespaces() -> Isolation:
    found = find()
    if found.tier == "none":
        pytest.skip(f"no namespaces on this machine: {found.why}")
    return found


@pytest.fixture(params=["namespaces", "none"])
def isolation(request: pytest.FixtureRequest) -> Isolation:
    if request.param == "none":
        return Isolation("none")
    tier: Isolation = request.getfixturevalue("namespaces")
    return tier


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    folder = tmp_path / "workspace"
    folder.mkdir()
    return folder
