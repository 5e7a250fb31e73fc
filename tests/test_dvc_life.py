"""The study under real DVC and git: repro, experiments, remotes, a second clone."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from stages.contract import layout
from tests.support.mini import REPO, copy_stage_files, write

OUTSIDE = {key: value for key, value in os.environ.items() if not key.startswith(("DVC_", "GIT_"))}
ENV = {
    **OUTSIDE,
    "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
    "GIT_AUTHOR_NAME": "t",
    "GIT_AUTHOR_EMAIL": "t@example.invalid",
    "GIT_COMMITTER_NAME": "t",
    "GIT_COMMITTER_EMAIL": "t@example.invalid",
    "GIT_CONFIG_GLOBAL": os.devnull,
    "DVC_NO_ANALYTICS": "1",
}


def sh(root: Path, *words: str, check: bool = True, **env: str) -> str:
    """Run a command in a study; returns all that it printed."""
    done = subprocess.run(words, cwd=root, env={**ENV, **env}, capture_output=True, text=True, check=False)
    assert not check or done.returncode == 0, f"{words}: {done.stdout}\n{done.stderr}"
    return done.stdout + done.stderr


def commit(root: Path, message: str) -> None:
    sh(root, "git", "add", "-A")
    sh(root, "git", "commit", "-qm", message)


def start_study(root: Path) -> None:
    """Put a study under git and DVC, with the pipeline's own files, and commit it."""
    copy_stage_files(root)
    write(root / ".gitignore", ".trials/\n__pycache__/\n")
    sh(root, "git", "init", "-q")
    sh(root, "dvc", "init", "-q")
    shutil.copy(REPO / ".dvc/config", root / ".dvc/config")
    commit(root, "a study")


@pytest.fixture(scope="module")
def lived(ran: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A committed study whose stages DVC knows as run, pushed to a remote in the repository."""
    root = tmp_path_factory.mktemp("lived") / "study"
    shutil.copytree(ran, root)
    start_study(root)
    sh(root, "dvc", "commit", "-f", "-q")
    sh(root, "dvc", "push")
    commit(root, "its decision")
    return root


def decision(root: Path) -> dict[str, object]:
    return dict(json.loads((root / layout.DECISION).read_bytes()))


def test_repro_again_has_nothing_to_do(lived: Path) -> None:
    assert "up to date" in sh(lived, "dvc", "repro")
    assert sh(lived, "git", "status", "--short") == ""


@pytest.mark.heavy
def test_a_second_clone_reproduces_the_decision_without_an_agent(lived: Path, tmp_path: Path) -> None:
    mirror = tmp_path / "remote"
    sh(lived, "dvc", "remote", "add", "-f", "--local", "mirror", str(mirror))
    sh(lived, "dvc", "push", "-r", "mirror")
    clone = tmp_path / "clone"
    sh(tmp_path, "git", "clone", "-q", str(lived), str(clone))
    shutil.rmtree(clone / "data/remote", ignore_errors=True)
    shutil.rmtree(clone / "data/agents")  # no agent is left that could run
    sh(clone, "dvc", "remote", "add", "--local", "mirror", str(mirror))
    sh(clone, "dvc", "pull", "-r", "mirror")
    sh(clone, "sha256sum", "-c", "--quiet", "reports/run_bill.txt")
    before = (clone / layout.DECISION).read_bytes()
    assert "up to date" in sh(clone, "dvc", "repro")
    for name in ("exclude", "report"):
        sh(clone, "dvc", "repro", "-f", "-s", name)
    assert (clone / layout.DECISION).read_bytes() == before
    assert not (clone / ".trials/journal.sqlite").exists()


@pytest.mark.heavy
def test_forced_again_dvc_finds_the_same_bytes(lived: Path) -> None:
    lock = (lived / "dvc.lock").read_bytes()
    for name in ("freeze", "score", "exclude", "report"):
        sh(lived, "dvc", "repro", "-f", "-s", name)
        assert (lived / "dvc.lock").read_bytes() == lock, name
    assert sh(lived, "git", "status", "--short") == ""


@pytest.mark.heavy
def test_a_protocol_edit_after_the_fact_costs_no_agent_and_is_withheld(lived: Path, tmp_path: Path) -> None:
    root = tmp_path / "s"
    shutil.copytree(lived, root, symlinks=True)
    said = sh(root, "dvc", "exp", "run", "-S", "protocol.min_detectable_effect=0.2", "-n", "edit")
    assert "Stage 'run' didn't change" in said
    found = decision(root)
    assert found["reason"] == "protocol_changed_after_run"
    shown = sh(root, "dvc", "exp", "show", "--csv", "--hide-queued")
    assert "withheld.delta" in shown.splitlines()[0]
    assert "protocol_changed_after_run" in shown


@pytest.mark.heavy
def test_another_candidate_runs_its_own_trials_in_a_temporary_copy(lived: Path, tmp_path: Path) -> None:
    root = tmp_path / "s"
    shutil.copytree(lived, root, symlinks=True)
    changes = ["-S", "arms.candidate.name=second", "-S", "arms.candidate.seed=8"]
    sh(root, "dvc", "exp", "run", "--temp", *changes, "-n", "second")
    sh(root, "dvc", "exp", "apply", "second")
    found = decision(root)
    assert found["candidate"] == {"name": "second", "version": "1.0.0"}
    assert "family_exceeded" in found["reasons"]  # type: ignore[operator]
    assert found["looks"]["candidates"] == ["able", "second"]  # type: ignore[index]


def test_a_failing_stage_says_how_to_get_its_outputs_back(lived: Path, tmp_path: Path) -> None:
    root = tmp_path / "s"
    shutil.copytree(lived, root, symlinks=True)
    write(root / layout.EVENTS, "no json\n")
    done = sh(root, "dvc", "repro", check=False)
    assert "data/exclusions.jsonl:1" in done
    assert "dvc checkout" in done
    sh(root, "git", "checkout", "-q", "data/exclusions.jsonl")
    sh(root, "git", "checkout", "-q", "reports", check=False)
    sh(root, "dvc", "checkout")
    assert "up to date" in sh(root, "dvc", "repro")


def test_a_corrupted_remote_is_refused(lived: Path, tmp_path: Path) -> None:
    clone = tmp_path / "clone"
    sh(tmp_path, "git", "clone", "-q", str(lived), str(clone))
    victim = max((p for p in (clone / "data/remote").rglob("*") if p.is_file()), key=lambda p: p.stat().st_size)
    victim.chmod(0o644)
    data = bytearray(victim.read_bytes())
    data[len(data) // 2] ^= 1
    victim.write_bytes(bytes(data))
    said = sh(clone, "dvc", "pull", check=False)
    assert "corrupted" in said.lower() or "error" in said.lower()


def test_a_clone_of_this_repository_pulls_and_has_nothing_to_do(tmp_path: Path) -> None:
    if not (REPO / ".git").exists():
        pytest.skip("not a git checkout, so there is nothing to clone")
    clone = tmp_path / "clone"
    sh(tmp_path, "git", "clone", "-q", str(REPO), str(clone))
    sh(clone, "dvc", "pull")
    sh(clone, "sha256sum", "-c", "--quiet", "reports/run_bill.txt")
    assert "up to date" in sh(clone, "dvc", "repro")
    before = (clone / layout.DECISION).read_bytes()
    for name in ("exclude", "report"):
        sh(clone, "dvc", "repro", "-f", "-s", name)
    assert (clone / layout.DECISION).read_bytes() == before
    assert sh(clone, "git", "status", "--short") == ""
    found = decision(clone)
    counts, strata = found["counts"], found["strata"]
    assert isinstance(counts, dict)
    assert isinstance(strata, dict)
    assert counts["items_kept"] >= 30
    assert all(row["items"] >= 8 for row in strata.values())
