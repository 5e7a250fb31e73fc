"""A task's wheels are installed offline, once, and refused where they don't fit this interpreter."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Literal

import pytest
import yaml

from stages.contract import layout, parquet, tables
from stages.contract.errors import UsageError
from stages.contract.trees import Entry
from stages.oracle import Observation, observe
from stages.sandbox import Isolation, environment, packages, run
from tests.support.mini import make_study, stage, write
from tests.support.wheels import wheel

PYTHON = f"{sys.version_info.major}.{sys.version_info.minor}"


def test_wheels_are_installed_without_a_network_and_found_by_path(
    isolation: Isolation, tmp_path: Path, workspace: Path
) -> None:
    made = dict([wheel("inner", {"inner/__init__.py": "VALUE = 6\n"}), wheel("outer", {"outer.py": "import inner\n"})])
    folder = environment.install(PYTHON, made, tmp_path / "store", isolation, "task a")
    seen = isolation.place(folder, environment.INSIDE)
    code = "import outer; print(outer.inner.VALUE * 7)\ntry: open(outer.__file__, 'a'); print('written')\nexcept OSError: print('kept')"
    done = run(
        ["python3", "-c", code],
        isolation=isolation,
        workspace=workspace,
        read_only=[(folder, environment.INSIDE)] if isolation.tier != "none" else [],
        env={"PYTHONPATH": packages(seen)},
        timeout_s=20,
    )
    assert done.stdout.split()[0] == b"42", done.stderr
    if isolation.tier != "none":
        assert done.stdout.split()[1] == b"kept"


def test_the_same_wheels_are_installed_once(tmp_path: Path, namespaces: Isolation) -> None:
    made = dict([wheel("inner", {"inner.py": ""})])
    first = environment.install(PYTHON, made, tmp_path, namespaces, "task a")
    stamp = (first / "lib/inner.py").stat().st_mtime_ns
    assert environment.install(PYTHON, made, tmp_path, namespaces, "task b") == first
    assert (first / "lib/inner.py").stat().st_mtime_ns == stamp
    other = environment.install(PYTHON, dict([wheel("inner", {"inner.py": "x = 1\n"})]), tmp_path, namespaces, "c")
    assert other != first
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted([first.name, other.name])


def test_another_interpreter_is_refused_in_one_line(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"task a: environment\.python: 3\.99; expected 3\."):
        environment.install("3.99", {}, tmp_path, Isolation("none"), "task a")


@pytest.mark.parametrize(
    "made",
    [
        wheel("inner", {"inner.py": ""}, tag="cp27-cp27m-win32"),
        ("inner-1.0-py3-none-any.whl", b"no archive"),
    ],
)
def test_wheels_that_cannot_be_installed_here_are_refused(
    tmp_path: Path, namespaces: Isolation, made: tuple[str, bytes]
) -> None:
    with pytest.raises(UsageError, match=r"task a: environment\.wheels"):
        environment.install(PYTHON, dict([made]), tmp_path, namespaces, "task a")
    assert list(tmp_path.iterdir()) == []


ORACLE = """
import inner
from used import doubled


def test_the_frozen_version_is_used():
    assert inner.VERSION == "0.1 of the pack"
    assert doubled(21) == inner.ANSWER


def test_nothing_else_that_is_installed_here_is():
    for name in ("numpy", "yaml"):
        try:
            __import__(name)
        except ImportError:
            continue
        raise AssertionError(name)
"""
USED = "import inner\n\n\ndef doubled(value):\n    assert inner.VERSION\n    return value * 2\n"


@pytest.mark.parametrize("boundary", ["inprocess", "process"])
def test_oracle_and_code_see_the_frozen_wheels_and_nothing_that_this_machine_has_besides(
    namespaces: Isolation, tmp_path: Path, boundary: Literal["inprocess", "process"]
) -> None:
    made = dict([wheel("inner", {"inner.py": "VERSION = '0.1 of the pack'\nANSWER = 42\n"})])
    folder = environment.install(PYTHON, made, tmp_path, namespaces, "task a")
    oracle = [Entry("test_it.py", "100644", ORACLE.encode())]

    def look(code: str, place: Path | None) -> Observation:
        return observe(
            [Entry("used.py", "100644", code.encode())],
            oracle,
            kind="pytest",
            timeout_s=60,
            expected=None,
            isolation=namespaces,
            boundary=boundary,
            environment=place,
        )

    seen = look(USED, folder)
    assert (seen.verdict, seen.reason) == ("pass", "2 tests passed"), seen.output
    assert look(USED.replace("* 2", "* 3"), folder).verdict == "fail"
    assert look(USED, None).verdict == "broken"


def test_a_command_oracle_finds_the_wheels_too(namespaces: Isolation, tmp_path: Path) -> None:
    made = dict([wheel("inner", {"inner.py": "ANSWER = 42\n"})])
    folder = environment.install(PYTHON, made, tmp_path, namespaces, "task a")
    seen = observe(
        [Entry("used.py", "100644", b"")],
        [Entry("judge.py", "100644", b"import inner\nraise SystemExit(inner.ANSWER != 42)\n")],
        kind="command",
        command=["python3", "judge.py"],
        timeout_s=20,
        expected=None,
        isolation=namespaces,
        environment=folder,
    )
    assert seen.verdict == "pass", seen.output


@pytest.mark.heavy
def test_an_agent_is_told_where_its_tasks_wheels_are(namespaces: Isolation, tmp_path: Path) -> None:
    """Through the real stages: an agent that copies a value out of the wheel solves the task, and is scored with it."""
    assert namespaces.tier == "namespaces"
    root = make_study(tmp_path / "s", items=2, placebos=1, protocol={"trial_budget": 1})
    name, content = wheel("inner", {"inner.py": "def plus(a, b):\n    return a + b\n"})
    task = root / "data/pack/tasks/item-0/task.yaml"
    value = yaml.safe_load(task.read_text(encoding="utf-8"))
    value["environment"] = {"python": PYTHON, "wheels": [f"wheels/{name}"]}
    value["allow"]["imports"] = ["inner"]
    write(task, yaml.safe_dump(value))
    write(root / "data/pack/tasks/item-0/solution/m_item_0.py", "from inner import plus as add  # noqa: F401\n")
    (root / "data/pack/wheels").mkdir()
    (root / "data/pack/wheels" / name).write_bytes(content)
    agent = """
import os, pathlib, subprocess, sys
if "--version" in sys.argv:
    print("able 1.0.0")
    raise SystemExit
place = os.environ["WEIGHBRIDGE_ENVIRONMENT"]
if place:
    code = "import inner; print(inner.plus(20, 22))"
    said = subprocess.run([sys.executable, "-c", code], env={"PYTHONPATH": place + "/lib"}, capture_output=True)
    assert said.stdout == b"42\\n", said.stderr
    pathlib.Path("m_item_0.py").write_text("from inner import plus as add\\n")
"""
    write(root / "data/agents/able/agent.py", agent)
    stage(root, "freeze", "preflight", "run", "score")
    shell = root / "shell"
    write(shell, '#!/bin/sh\nls "$WEIGHBRIDGE_ENVIRONMENT/lib/inner.py"\n')
    shell.chmod(0o755)
    said = stage(root, "trial item-0 candidate 0 --shell", env={"SHELL": str(shell)}).stdout
    assert Path(said.splitlines()[-1]).is_absolute(), said
    rows = parquet.read(root / layout.LEDGER, tables.LEDGER).to_pylist()
    status = {(row["item_id"], row["arm"]): row["status"] for row in rows}
    assert status["item-0", "candidate"] == "passed"
    assert status["item-1", "candidate"] == "failed"
    assert next(r for r in rows if (r["item_id"], r["arm"]) == ("item-0", "candidate"))["invented_imports"] == 0
