"""`weighbridge init`: a study in a folder of its own, which the installed package alone runs."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from io import StringIO
from pathlib import Path
from typing import Any

from stages.contract import layout
from stages.contract.errors import InputError, UsageError, one_line
from stages.contract.rehearsals import HEADER as REHEARSALS
from stages.gate.events import HEADER as EVENTS
from stages.packs import read_pack

TEMPLATES = Path(__file__).parents[1] / "templates"
SOURCE = Path(__file__).parents[2]
OUTPUTS = ("frozen", "preflight", "trials", "ledger", "kept")
IGNORED = ".venv/\n.trials/\n__pycache__/\n"
IDLE = '''"""A stand-in for an agent: it says its version and changes nothing. Put your own in its place."""

import sys

if "--version" in sys.argv:
    print("{version}")
'''
CONFIG = {"core.analytics": "false", "core.check_update": "false"}


@dataclass(frozen=True)
class Arm:
    """One arm as it was asked for; without a command a stand-in that changes nothing."""

    name: str
    command: list[str] | None = None
    version: str = "0"


@dataclass(frozen=True)
class Start:
    """What is written. Exactly one of `example`, `pack` and `from_logs`."""

    example: bool = False
    pack: Path | None = None
    from_logs: bool = False
    candidate: Arm = Arm("candidate")
    control: Arm = Arm("control")
    repeats: int | None = None
    budget_s: int | None = None


def start(folder: Path, asked: Start) -> list[str]:
    """Write a study into a folder that is new or empty; return what to do next, a line each. Raises UsageError."""
    if sum((asked.example, asked.pack is not None, asked.from_logs)) != 1:
        raise UsageError("init", "several of --example, --pack, --from-logs, or none", "exactly one of them")
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise UsageError(folder, "isn't an empty folder", "a new one", "name another")
    if asked.pack is not None:
        read_pack(asked.pack)
    folder.mkdir(parents=True, exist_ok=True)
    _write(folder, ".gitignore", IGNORED)
    _write(folder, ".dvcignore", "__pycache__\n*.pyc\n.venv\n.trials\n")
    if asked.from_logs:
        for name in ("dvc.yaml", "params.yaml"):
            shutil.copyfile(TEMPLATES / "logs" / name, folder / name)
        (folder / "logs").mkdir()
        following = ["put logs below logs/, name them in params.yaml", "dvc repro"]
    else:
        _study(folder, asked)
        following = ["dvc repro"]
        if asked.pack is not None and (asked.candidate.command is None or asked.control.command is None):
            following.insert(0, "name your agents in params.yaml (arms): the stand-ins change nothing")
    _write(folder, "README.md", _readme(asked))
    _under_git(folder)
    return [f"cd {folder}", *following]


def _study(folder: Path, asked: Start) -> None:
    pack, agents = _example("pack"), _example("agents")
    shutil.copytree(pack if asked.pack is None else asked.pack, folder / "data/pack", symlinks=True)
    if asked.example:
        shutil.copytree(agents, folder / "data/agents", ignore=shutil.ignore_patterns("__pycache__"))
    else:
        for arm in (asked.candidate, asked.control):
            if arm.command is None:
                _write(folder, f"data/agents/{arm.name}/agent.py", IDLE.format(version=arm.version))
    _write(folder, layout.EVENTS.as_posix(), EVENTS + "\n")
    _write(folder, layout.REHEARSALS.as_posix(), REHEARSALS + "\n")
    for name in OUTPUTS:
        _write(folder, f"data/{name}/.gitignore", "*.parquet\n")
    _write(folder, "dvc.yaml", _pipeline())
    _write(folder, "params.yaml", _params(asked))


def _example(name: str) -> Path:
    """The example's files: within the installed package, or of the source tree that this is run from."""
    inside = TEMPLATES / "example" / name
    return inside if inside.is_dir() else SOURCE / "data" / name


def _own(name: str) -> str:
    inside = TEMPLATES / "study" / name
    return (inside if inside.is_file() else SOURCE / name).read_text(encoding="utf-8")


def _yaml() -> Any:
    from ruamel.yaml import YAML  # keeps the comments, by which a person finds his way

    made = YAML()
    made.width, made.preserve_quotes = 120, True
    made.representer.add_representer(type(None), lambda to, _: to.represent_scalar("tag:yaml.org,2002:null", "null"))
    made.indent(mapping=2, sequence=4, offset=2)
    return made


def _dumped(value: Any) -> str:
    sink = StringIO()
    _yaml().dump(value, sink)
    return sink.getvalue()


def _pipeline() -> str:
    """The pipeline with the installed package's commands, which hang on no source file."""
    made = _yaml().load(_own("dvc.yaml").replace("python -m stages", "weighbridge"))
    for stage in made["stages"].values():
        deps = stage.get("deps", [])
        for name in [name for name in deps if str(name).startswith("stages/")]:
            deps.remove(name)
    return _dumped(made)


def _params(asked: Start) -> str:
    made = _yaml().load(_own("params.yaml"))
    if asked.repeats is not None:
        made["protocol"]["trial_budget"] = asked.repeats
    if asked.budget_s is not None:
        made["protocol"]["time_budget_s"] = asked.budget_s
    if asked.example:
        return _dumped(made)
    disclosure = {"operator": "who ran this", "funder": "who paid", "relation_to_arms": "none, or which"}
    for key in list(made["study"]["disclosure"]):
        made["study"]["disclosure"][key] = disclosure.get(key, "")
    made["pack"]["selection"] = "how the tasks came to be chosen"
    made["run"]["allow_no_isolation"] = False
    for side, arm in (("candidate", asked.candidate), ("control", asked.control)):
        for key, value in _arm(arm).items():
            made["arms"][side][key] = value
    return _dumped(made)


def _arm(arm: Arm) -> Mapping[str, Any]:
    if arm.command is not None:
        return {
            **{"name": arm.name, "version": arm.version, "command": arm.command},
            **{"version_command": None, "install_paths": []},
        }
    return {
        **{"name": arm.name, "version": arm.version, "command": ["python3", "{install}/agent.py"]},
        "version_command": ["python3", "{install}/agent.py", "--version"],
        "install_paths": [f"data/agents/{arm.name}"],
    }


def _under_git(folder: Path) -> None:
    """A git repository of its own unless it lies in one, and DVC in it."""
    git = shutil.which("git")
    if git is None:
        raise UsageError("git", "isn't on PATH", "git, which DVC and registration need", "install it")
    inside = subprocess.run([git, "-C", str(folder), "rev-parse"], capture_output=True, check=False).returncode == 0
    if not inside:
        _run([git, "init", "-q", str(folder)], folder)
    top = subprocess.run(
        [git, "-C", str(folder), "rev-parse", "--show-prefix"], capture_output=True, text=True, check=False
    )
    below = ["--subdir"] if top.stdout.strip() else []
    dvc = [sys.executable, "-m", "dvc"]
    _run([*dvc, "init", "-q", *below], folder)
    for key, value in CONFIG.items():
        _run([*dvc, "config", key, value], folder)


def _run(words: list[str], folder: Path) -> None:
    env = {**os.environ, "DVC_NO_ANALYTICS": "1"}
    done = subprocess.run(words, cwd=folder, env=env, capture_output=True, text=True, check=False)
    if done.returncode:
        said = (done.stderr or done.stdout).strip().splitlines()
        raise InputError(" ".join(words[-3:]), one_line(said[-1] if said else done.returncode), "to end well")


def _write(folder: Path, name: str, text: str) -> None:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def _readme(asked: Start) -> str:
    what = "logs of another harness" if asked.from_logs else "two agents on a frozen task pack"
    return f"""# A comparison under weighbridge

A paired comparison of {what}, decided by `weighbridge`: `params.yaml` says what was agreed, `dvc.yaml` what is run.

To check the decision, with no agent and no key:

```sh
pip install weighbridge
dvc pull && weighbridge verify && dvc repro
```

`verify` says which decision these bytes give, or the first row and field that differs; `dvc repro` then has nothing to
do. `reports/report.html` is for reading, `reports/decision.json` is the decision, `reports/bill.json` lists every file.

To run it anew: `dvc repro` in an empty clone runs the agents for real. An edit of pack, protocol or arms gives another
study; register a frozen study before its first trial with `weighbridge register`.
"""
