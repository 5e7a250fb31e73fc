"""The house keeps its shape: imports run one way, modules stay short, nothing strays to the top level."""

from __future__ import annotations

import ast
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
ROOMS = {"packs", "sandbox", "arms", "session", "oracle", "assumptions", "stats", "gate", "render", "ingest"}
STAGES = {"freeze", "preflight", "run", "score", "exclude", "report"}
DOORS = {
    ("arms", "sandbox"),
    ("arms", "session"),
    ("oracle", "sandbox"),
    ("packs", "sandbox"),
    ("gate", "stats"),
    ("gate", "session"),
    ("ingest", "session"),
    ("ingest", "assumptions"),
}
RANK = {"contract": 0, **dict.fromkeys(ROOMS, 1), **dict.fromkeys(STAGES, 2), "evidence": 3, "cli": 4, "__main__": 5}
MODULES = sorted((ROOT / "stages").rglob("*.py"))
TOP = {"dvc.yaml", "params.yaml", "pyproject.toml", "stages", "data", "reports", "tests", "README.md"}
TOP |= {"dvc.lock", "uv.lock", "LICENSE", "CHANGELOG.md"}


def place(path: Path) -> str:
    parts = path.relative_to(ROOT / "stages").with_suffix("").parts
    return parts[0]


def imported(path: Path) -> set[str]:
    """Parts of our package that a module imports, anywhere in it."""
    found = set()
    for node in ast.walk(ast.parse(path.read_bytes())):
        names = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module:
            names = [node.module] if node.module != "stages" else [f"stages.{alias.name}" for alias in node.names]
        found |= {name.split(".")[1] for name in names if name.startswith("stages.")}
    return found - {"__version__"}


@pytest.mark.parametrize("path", MODULES, ids=lambda p: str(p.relative_to(ROOT)))
def test_imports_run_one_way_and_through_the_doors(path: Path) -> None:
    here = place(path)
    if here == "__init__":
        assert not imported(path)
        return
    for there in imported(path) - {here}:
        if here in ROOMS and there in ROOMS:
            assert (here, there) in DOORS, f"{here} reaches into {there}"
        else:
            assert RANK[there] < RANK[here], f"{here} imports {there}"


def test_contract_stats_and_render_import_no_room() -> None:
    for path in MODULES:
        if place(path) in ("contract", "stats", "render"):
            assert not imported(path) & (ROOMS - {place(path)}), path


@pytest.mark.parametrize("path", MODULES, ids=lambda p: str(p.relative_to(ROOT)))
def test_modules_are_short(path: Path) -> None:
    lines = len(path.read_text(encoding="utf-8").splitlines())
    assert lines <= 400, "two things in one module"
    if place(path) in STAGES:
        assert lines <= 140, "a stage module is a paragraph"


def test_nothing_else_lies_at_the_top() -> None:
    listed = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True).stdout.split(
        "\n"
    )
    top = {name.split("/")[0] for name in listed if name}
    assert {name for name in top if not name.startswith(".")} <= TOP


def test_no_unsafe_loader_and_no_shell() -> None:
    for path in MODULES:
        for node in ast.walk(ast.parse(path.read_bytes())):
            if isinstance(node, ast.Import | ast.ImportFrom):
                names = [a.name for a in node.names] + [getattr(node, "module", None) or ""]
                assert not {"pickle", "shelve", "dill"} & {n.split(".")[0] for n in names}, path
            if isinstance(node, ast.keyword) and node.arg == "shell":
                assert isinstance(node.value, ast.Constant), path
                assert node.value.value is False, path
