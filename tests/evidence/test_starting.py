"""`weighbridge init`: what it writes is a study that freezes as it is; the built wheel alone runs the example."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from stages.contract import layout
from stages.contract.errors import WeighbridgeError
from stages.contract.study import read_params
from stages.evidence.starting import Arm, Start, start
from stages.freeze import freeze
from tests.support.mini import REPO, make_study

SH = {key: value for key, value in os.environ.items() if not key.startswith(("DVC_", "GIT_", "PYTHONPATH", "VIRTUAL"))}


@pytest.fixture(scope="module")
def example(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("init") / "demo"
    assert start(root, Start(example=True)) == [f"cd {root}", "dvc repro"]
    return root


def test_the_example_is_the_repositorys_own_study(example: Path) -> None:
    assert (example / "params.yaml").read_text() == (REPO / "params.yaml").read_text()
    manifest = freeze(example)
    assert manifest.slice_id == json.loads((REPO / layout.MANIFEST).read_bytes())["slice_id"]


def test_its_pipeline_is_ours_without_our_sources(example: Path) -> None:
    made, ours = (yaml.safe_load((root / "dvc.yaml").read_text()) for root in (example, REPO))
    assert made.keys() == ours.keys()
    assert made["stages"].keys() == ours["stages"].keys()
    for name, stage in made["stages"].items():
        own = ours["stages"][name]
        assert stage["cmd"] == f"weighbridge {name}"
        assert stage["outs"] == own["outs"]
        kept = [dep for dep in own.get("deps", []) if not dep.startswith("stages/")]
        assert stage.get("deps", []) == kept
    done = subprocess.run(
        [sys.executable, "-m", "dvc", "status", "--json"],
        cwd=example,
        env=SH,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    config = (example / ".dvc/config").read_text()
    assert "analytics = false" in config


def test_a_pack_of_ones_own_with_and_without_agents(tmp_path: Path) -> None:
    mini = make_study(tmp_path / "mini")
    root = tmp_path / "own"
    said = start(
        root, Start(pack=mini / "data/pack", candidate=Arm("mine", ["python3", "x.py"]), repeats=1, budget_s=9)
    )
    assert any("stand-ins" in line for line in said)
    params = read_params(root)
    assert (params.arms.candidate.name, params.arms.candidate.command) == ("mine", ["python3", "x.py"])
    assert params.arms.control.install_paths == ["data/agents/control"]
    assert (params.protocol.trial_budget, params.protocol.time_budget_s) == (1, 9)
    assert params.run.allow_no_isolation is False
    freeze(root)
    agent = root / "data/agents/control/agent.py"
    told = subprocess.run([sys.executable, str(agent), "--version"], capture_output=True, text=True, check=True).stdout
    assert told.strip() == params.arms.control.version


def test_logs(tmp_path: Path) -> None:
    assert start(tmp_path / "logs", Start(from_logs=True))[-1] == "dvc repro"
    assert (tmp_path / "logs/logs").is_dir()
    assert "ingest" in yaml.safe_load((tmp_path / "logs/dvc.yaml").read_text())["stages"]


def test_within_a_repository_it_is_a_folder_of_that(tmp_path: Path) -> None:
    subprocess.run(["git", "init", "-q", str(tmp_path)], env=SH, check=True)
    start(tmp_path / "below/study", Start(from_logs=True))
    assert not (tmp_path / "below/study/.git").exists()
    assert (tmp_path / "below/study/.dvc/config").is_file()


@pytest.mark.parametrize("asked", [Start(), Start(example=True, from_logs=True), Start(pack=Path("nowhere"))])
def test_what_cannot_be_begun_leaves_nothing(tmp_path: Path, asked: Start) -> None:
    with pytest.raises(WeighbridgeError):
        start(tmp_path / "study", asked)
    assert not (tmp_path / "study").exists()


def test_a_folder_with_something_in_it_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "mine.txt").write_text("x")
    with pytest.raises(WeighbridgeError, match="empty"):
        start(tmp_path, Start(example=True))
    assert [p.name for p in tmp_path.iterdir()] == ["mine.txt"]


@pytest.mark.heavy
def test_the_built_wheel_alone_runs_the_example_and_then_another_agent(tmp_path: Path) -> None:
    uv = shutil.which("uv") or str(Path(sys.executable).with_name("uv"))

    def sh(*words: str, cwd: Path = tmp_path) -> str:
        done = subprocess.run(words, cwd=cwd, env=env, capture_output=True, text=True, check=False)
        assert done.returncode == 0, f"{words}: {done.stdout[-2000:]}\n{done.stderr[-2000:]}"
        return done.stdout + done.stderr

    env = {**SH, "PATH": f"{tmp_path / 'venv/bin'}{os.pathsep}{SH['PATH']}", "HOME": str(tmp_path)}
    sh(uv, "build", "--wheel", "-q", "-o", str(tmp_path / "dist"), str(REPO))
    (wheel,) = (tmp_path / "dist").glob("*.whl")
    sh(uv, "venv", "-q", "--python", sys.executable, str(tmp_path / "venv"))
    sh(uv, "pip", "install", "-q", "--python", str(tmp_path / "venv/bin/python"), str(wheel))
    sh("weighbridge", "init", "demo", "--example")
    demo = tmp_path / "demo"
    sh("dvc", "repro", cwd=demo)
    decision = json.loads((demo / layout.DECISION).read_bytes())
    assert decision["counts"]["scored"] == 234
    assert "verified" in sh("weighbridge", "verify", cwd=demo)
    text = (demo / "params.yaml").read_text()
    (demo / "params.yaml").write_text(
        text.replace("data/agents/wide,", "data/agents/narrow,").replace("name: wide", "name: other")
    )
    sh("dvc", "repro", cwd=demo)
    again = json.loads((demo / layout.DECISION).read_bytes())
    assert again["candidate"]["name"] == "other"
    assert again["looks"]["candidates"] == ["other", "wide"]
