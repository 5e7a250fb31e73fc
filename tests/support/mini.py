"""A small real study: six items in two strata, two agents that really edit files, everything made afresh in a folder."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import yaml

AGENT = '''\
"""Replaces a wrong operator by the right one, more or less often; sometimes leaves a note."""
import hashlib, os, pathlib, sys

SKILL = {skill}

if "--version" in sys.argv:
    print("{name} 1.0.0")
    raise SystemExit
luck = int(hashlib.sha256(os.environ["WEIGHBRIDGE_SEED"].encode()).hexdigest(), 16) % 100
for path in sorted(pathlib.Path(".").glob("*.py")):
    text = path.read_text()
    if luck < SKILL:
        path.write_text(text.replace("a - b", "a + b"))
    elif luck % 2:
        pathlib.Path("NOTES.txt").write_text("no idea\\n")
'''


def task(item_id: str, stratum: str, module: str, *, placebo: bool = False) -> dict[str, Any]:
    """`task.yaml` of a mini task."""
    return {
        "id": item_id,
        "rev": "1",
        "stratum": stratum,
        "interface": {"module": module, "function": "add", "signature": "(a: int, b: int) -> int"},
        "allow": {"imports": [], "env": [], "files_write": [f"{module}.py"]},
        "oracle": {"kind": "pytest", "path": "oracle", "timeout_s": 30},
        "placebo": placebo,
        "canaries": [f"canary-{item_id}"],
    }


def write(path: Path, text: str) -> None:
    """Write a text file, with its folder."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def write_task(pack: Path, item_id: str, stratum: str, *, placebo: bool = False) -> Path:
    """One task folder: `add` subtracts; the oracle wants it to add, or the impossible of a placebo."""
    folder, module = pack / "tasks" / item_id, "m_" + item_id.replace("-", "_")
    write(folder / "task.yaml", yaml.safe_dump(task(item_id, stratum, module, placebo=placebo)))
    write(folder / "statement.md", f"`add` of {module} gives the difference; it should give the sum.\n")
    body = "def add(a: int, b: int) -> int:\n    return a {} b\n"
    write(folder / "workspace" / f"{module}.py", body.format("-"))
    write(
        folder / "workspace/tests/test_add.py",
        f"from {module} import add\n\n\ndef test_add():\n    assert add(1, 1) == 2\n",
    )
    if placebo:
        oracle = "    value = add(1, 2)\n    assert type(value) is int\n    assert value % 2 == 0 and value % 2 == 1\n"
    else:
        oracle = f"    # canary-{item_id}\n    assert add(1, 2) == 3\n\n\ndef test_zero():\n    assert add(0, 0) == 0\n"
        write(folder / "solution" / f"{module}.py", body.format("+"))
        write(folder / "wrong/constant" / f"{module}.py", "def add(a: int, b: int) -> int:\n    return 3\n")
    write(folder / "oracle/test_oracle.py", f"from {module} import add\n\n\ndef test_sum():\n{oracle}")
    return folder


def params(**changes: Any) -> dict[str, Any]:
    """Parameters of the mini study; `changes` are merged into its sections."""
    made: dict[str, Any] = {
        "study": {"mode": "benchmark"},
        "pack": {"path": "data/pack"},
        "protocol": {
            "trial_budget": 2,
            "time_budget_s": 20,
            "min_kept_items": 20,
            "min_stratum_items": 5,
            "min_detectable_effect": 0.05,
            "max_surviving_mutants": None,
        },
        "arms": {},
        "oracle": {"boundary": "auto", "recheck": 0.1},
        "run": {"workers": 2, "isolation": "auto", "allow_no_isolation": True},
    }
    for arm, name in (("candidate", "able"), ("control", "poor")):
        made["arms"][arm] = {
            "name": name,
            "version": "1.0.0",
            "command": ["python3", "{install}/agent.py"],
            "version_command": ["python3", "{install}/agent.py", "--version"],
            "install_paths": [f"data/agents/{name}"],
            "seed": 7,
            "temperature": 0,
        }
    for section, values in changes.items():
        for key, value in values.items():
            if isinstance(value, dict) and isinstance(made[section].get(key), dict):
                made[section][key] = {**made[section][key], **value}
            else:
                made[section][key] = value
    return made


def write_params(root: Path, **changes: Any) -> None:
    """Write params.yaml."""
    write(root / "params.yaml", yaml.safe_dump(params(**changes), sort_keys=False))


def make_study(
    root: Path, items: int = 4, placebos: int = 2, skills: tuple[int, int] = (80, 30), **changes: Any
) -> Path:
    """A whole study folder, without git or DVC."""
    pack = root / "data/pack"
    write(pack / "pack.yaml", 'id: mini\nrevision: "1"\n')
    for number in range(items):
        write_task(pack, f"item-{number}", ("left", "right")[number % 2])
    for number in range(placebos):
        write_task(pack, f"placebo-{number}", ("left", "right")[number % 2], placebo=True)
    for name, skill in zip(("able", "poor"), skills, strict=True):
        write(root / f"data/agents/{name}/agent.py", AGENT.format(skill=skill, name=name))
    write(root / "data/exclusions.jsonl", '{"schema": "weighbridge.exclusions/1"}\n')
    write(root / "data/rehearsals.jsonl", '{"schema": "weighbridge.rehearsals/1"}\n')
    write_params(root, **changes)
    return root


def stage(
    root: Path, *names: str, env: dict[str, str] | None = None, check: bool = True
) -> subprocess.CompletedProcess[str]:
    """Run stages by the command line, as DVC does."""
    import os

    done = None
    for name in names:
        done = subprocess.run(
            [sys.executable, "-m", "stages", *name.split()],
            cwd=root,
            env={**os.environ, **(env or {})},
            capture_output=True,
            text=True,
            check=False,
        )
        if check and done.returncode:
            raise AssertionError(f"{name}: exit {done.returncode}\n{done.stdout}\n{done.stderr}")
    assert done is not None
    return done


PIPELINE = ("freeze", "preflight", "run", "score", "exclude", "report")
REPO = Path(__file__).resolve().parents[2]


def copy_stage_files(root: Path) -> None:
    """The pipeline's own files, for a study that DVC runs: dvc.yaml, the code that it lists, handwritten ignores."""
    shutil.copytree(REPO / "stages", root / "stages", ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("dvc.yaml", ".dvcignore"):
        shutil.copy(REPO / name, root / name)
    for folder in ("frozen", "preflight", "trials", "ledger", "kept"):
        write(root / "data" / folder / ".gitignore", (REPO / "data" / folder / ".gitignore").read_text())
