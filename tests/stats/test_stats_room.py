"""The room's walls: what it may import, what it exports, that it has no hidden state."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

from stages import stats


def test_the_room_imports_no_other_room_and_no_files() -> None:
    allowed = {"numpy", "scipy", "stages", *sys.stdlib_module_names} - {
        "os",
        "pathlib",
        "io",
        "random",
        "json",
    }
    for path in Path(str(stats.__file__)).parent.glob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            names = [a.name for a in node.names] if isinstance(node, ast.Import) else []
            names += [str(node.module)] if isinstance(node, ast.ImportFrom) else []
            for name in names:
                assert name.split(".")[0] in allowed, (path.name, name)
                assert not name.startswith("stages") or name.startswith("stages.stats"), (path.name, name)


def test_importing_the_room_does_not_import_scipy() -> None:
    code = "import sys, stages.stats; assert not {'scipy', 'numpy', 'pandas'} & set(sys.modules)"
    subprocess.run([sys.executable, "-c", code], check=True)


def test_every_public_name_resolves() -> None:
    for name in stats.__all__:
        assert getattr(stats, name) is not None
    with pytest.raises(AttributeError):
        _ = stats.no_such_name


def test_results_do_not_depend_on_hash_order_or_threads() -> None:
    code = (
        "from fractions import Fraction as F; from stages import stats\n"
        "c = ['abcdefg'[i * 5 % 7] for i in range(40)]\n"
        "a = stats.stratum('x', [F(i % 7 - 2, 1 + i % 5) for i in range(40)], c)\n"
        "b = stats.stratum('y', [F(i % 3 - 1, 1 + i % 11) for i in range(33)])\n"
        "d = stats.design({b, a})\n"
        "print(repr(stats.bootstrap_interval(d, F(1, 25))), repr(stats.sign_flip(d)))\n"
    )
    found = {
        subprocess.run(
            [sys.executable, "-c", code],
            env={"PYTHONHASHSEED": seed, "OMP_NUM_THREADS": threads, "PATH": ""},
            cwd=Path(str(stats.__file__)).parents[2],
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed, threads in (("1", "1"), ("2", "2"), ("77", "2"))
    }
    assert len(found) == 1
