"""The two repair agents of the example study, run as the study runs them: one process, one workspace, one seed."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

AGENTS = Path(__file__).resolve().parents[2] / "data" / "agents"
NAMES = ("wide", "narrow")

STATEMENT = (
    "`total` leaves out the last price. It should add all prices up, and `fits` allows exactly the limit, too.\n"
)
CODE = '''"""Prices."""


def total(prices):
    """The sum of all prices."""
    result = 0
    for index in range(len(prices) - 1):
        result += prices[index]   # in cents
    return result


def fits(prices, limit):
    """Whether the sum is within the limit."""
    return sum(prices) < limit
'''
TESTS = """from tillroll.prices import fits, total


def test_total():
    assert total([3, 4, 5]) == 12


def test_fits_at_the_limit():
    assert fits([3, 4], 7)


def test_does_not_fit():
    assert not fits([3, 40], 7)
"""


def workspace(root: Path, files: dict[str, str]) -> Path:
    """Write files below `root`."""
    for path, text in files.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text, encoding="utf-8")
    return root


def toy(root: Path) -> Path:
    """A package with two small mistakes, each shown by a visible test."""
    return workspace(root, {"tillroll/__init__.py": "", "tillroll/prices.py": CODE, "tests/test_prices.py": TESTS})


def run(name: str, tree: Path, seed: int = 1, statement: str = STATEMENT) -> subprocess.CompletedProcess[str]:
    """Run one agent on a workspace with the environment of a trial."""
    environ = {
        "PATH": os.environ["PATH"],
        "WEIGHBRIDGE_STATEMENT": statement,
        "WEIGHBRIDGE_WORKSPACE": str(tree),
        "WEIGHBRIDGE_SEED": str(seed),
    }
    command = [sys.executable, str(AGENTS / name / "agent.py")]
    return subprocess.run(command, cwd=tree, env=environ, capture_output=True, text=True, timeout=60, check=False)


def tree_bytes(root: Path) -> dict[str, bytes]:
    """Every file below a folder."""
    return {path.relative_to(root).as_posix(): path.read_bytes() for path in root.rglob("*") if path.is_file()}


def passes(tree: Path) -> bool:
    """Whether the visible tests pass under pytest."""
    command = [
        sys.executable,
        "-B",
        "-m",
        "pytest",
        "-q",
        "-p",
        "no:cacheprovider",
        "-c",
        os.devnull,
        "--rootdir",
        ".",
    ]
    environ = {"PATH": os.environ["PATH"], "PYTHONPATH": str(tree)}
    return subprocess.run(command, cwd=tree, env=environ, capture_output=True, check=False).returncode == 0


@pytest.mark.parametrize("name", NAMES)
def test_an_agent_tells_its_version(name: str) -> None:
    command = [sys.executable, str(AGENTS / name / "agent.py"), "--version"]
    assert subprocess.run(command, capture_output=True, text=True, check=True).stdout == f"{name} 1.0.0\n"


@pytest.mark.parametrize("name", NAMES)
def test_two_small_mistakes_are_repaired_and_all_other_text_is_kept(name: str, tmp_path: Path) -> None:
    tree = toy(tmp_path)
    before = tree_bytes(tree)
    done = run(name, tree)
    assert done.returncode == 0
    assert passes(tree)
    after = tree_bytes(tree)
    changed = {path for path in after if before.get(path) != after[path] and not path.endswith(".bak")}
    assert changed == {"tillroll/prices.py"}
    assert after["tillroll/prices.py"].startswith(b'"""Prices."""\n\n\ndef total(')
    assert not any("__pycache__" in path for path in after)


@pytest.mark.parametrize("name", NAMES)
def test_the_same_seed_gives_the_same_bytes(name: str, tmp_path: Path) -> None:
    results = []
    for repeat in ("a", "b"):
        tree = toy(tmp_path / repeat)
        log = run(name, tree, seed=2**64 - 1).stdout
        results.append((log, tree_bytes(tree)))
    assert results[0] == results[1]


def test_other_seeds_try_in_another_order(tmp_path: Path) -> None:
    logs = {run("wide", toy(tmp_path / str(seed)), seed=seed).stdout for seed in range(4)}
    assert len(logs) > 1


@pytest.mark.parametrize("name", NAMES)
def test_names_are_changed_by_the_table_of_the_statement_in_callers_only(name: str, tmp_path: Path) -> None:
    tree = workspace(
        tmp_path,
        {
            "tollgate/__init__.py": "",
            "tollgate/gate.py": "def lift(gate):\n    return gate + 1\n",
            "tollgate/booth.py": "from tollgate import gate as gates\n\n\ndef serve(n):\n    return gates.raise_bar(n)\n",
            "tests/test_booth.py": "from tollgate.booth import serve\n\n\ndef test_serve():\n    assert serve(1) == 2\n",
        },
    )
    done = run(name, tree, statement="| old | new |\n| --- | --- |\n| `raise_bar(gate)` | `lift(gate)` |\n")
    assert done.returncode == 0
    assert "gates.lift(n)" in (tree / "tollgate/booth.py").read_text()
    assert (tree / "tollgate/gate.py").read_text() == "def lift(gate):\n    return gate + 1\n"


@pytest.mark.parametrize("name", NAMES)
def test_code_that_cannot_be_repaired_stays_as_it_was(name: str, tmp_path: Path) -> None:
    files = {
        "oddbox/__init__.py": "def even(n):\n    return n % 2 == 0\n",
        "tests/test_odd.py": "import oddbox\n\n\ndef test_odd():\n    assert oddbox.even(2) is True is False\n",
    }
    tree = workspace(tmp_path, files)
    assert run(name, tree).returncode == 0
    after = tree_bytes(tree)
    after.pop("NOTES.md", None)
    assert after == {path: text.encode() for path, text in files.items()}


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(
    "files",
    [
        {},
        {"README.md": "nothing to run here\n"},
        {
            "broken/__init__.py": "def (:\n",
            "tests/test_broken.py": "import broken\n\ndef test_it():\n    assert broken\n",
        },
        {"tests/test_syntax.py": "def test_it(:\n"},
        {
            "huge.py": "x = 1\n" * 60_000,
            "tests/test_huge.py": "import huge\n\ndef test_it():\n    assert huge.x == 2\n",
        },
        {
            "endless.py": "while True:\n    pass\n",
            "tests/test_e.py": "import endless\n\ndef test_it():\n    assert endless\n",
        },
    ],
    ids=["empty", "no code", "broken code", "broken tests", "huge", "endless"],
)
def test_an_odd_workspace_ends_cleanly_and_without_an_edit(name: str, files: dict[str, str], tmp_path: Path) -> None:
    tree = workspace(tmp_path, files)
    before = tree_bytes(tree)
    done = run(name, tree)
    assert (done.returncode, done.stderr) == (0, "")
    after = tree_bytes(tree)
    after.pop("NOTES.md", None)
    assert after == before


def test_endless_candidates_are_stopped(tmp_path: Path) -> None:
    code = "def steps(n):\n    count = 0\n    while n > 0:\n        n -= 2\n        count += 1\n    return count\n"
    test = "from stairs import steps\n\n\ndef test_steps():\n    assert steps(5) == 5\n"
    tree = workspace(tmp_path, {"stairs/__init__.py": code, "tests/test_stairs.py": test})
    assert run("wide", tree).returncode == 0
    assert passes(tree)


@pytest.mark.parametrize("package", ["common", "names"])
def test_a_package_may_be_named_like_a_part_of_the_agent(package: str, tmp_path: Path) -> None:
    files = {
        f"{package}/__init__.py": "def last(items):\n    return items[len(items)]\n",
        "tests/test_last.py": f"from {package} import last\n\n\ndef test_last():\n    assert last([1, 2]) == 2\n",
    }
    tree = workspace(tmp_path, files)
    assert run("wide", tree).returncode == 0
    assert passes(tree)
