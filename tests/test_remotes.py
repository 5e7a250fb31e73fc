"""Evidence that travels by remotes: a folder and S3, pulled by a second clone that has no agent, journal or cache."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from stages.contract import layout
from tests.support.mini import PIPELINE, REPO, make_study, stage, write
from tests.test_dvc_life import commit, sh, start_study

BUCKET = "evidence"
KEYS = {"AWS_ACCESS_KEY_ID": "test", "AWS_SECRET_ACCESS_KEY": "test", "AWS_DEFAULT_REGION": "us-east-1"}


@pytest.fixture(scope="module")
def s3(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a real S3 server on loopback, with one bucket."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    log = (tmp_path_factory.mktemp("s3") / "log").open("w")
    words = [str(Path(sys.executable).with_name("moto_server")), "-H", "127.0.0.1", "-p", str(port)]
    server = subprocess.Popen(words, stdout=log, stderr=log)
    address = f"http://127.0.0.1:{port}"
    try:
        for _ in range(200):
            try:
                with urllib.request.urlopen(address, timeout=5):
                    break
            except OSError:
                time.sleep(0.1)
        bucket(address).create()
        yield address
    finally:
        server.kill()
        server.wait()
        log.close()


@pytest.fixture(scope="module")
def pushed(s3: str, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A committed study of arms that cost money, whose artefacts lie in S3, and nowhere else but in its own cache."""
    paid = {"candidate": {"paid": True}, "control": {"paid": True}}
    root = make_study(
        tmp_path_factory.mktemp("pushed") / "study", items=2, placebos=1, arms=paid, protocol={"trial_budget": 1}
    )
    stage(root, *PIPELINE, env={"WEIGHBRIDGE_SPEND": "yes"})
    start_study(root)
    sh(root, "dvc", "commit", "-f", "-q")
    sh(root, "dvc", "remote", "add", "-d", "s3", f"s3://{BUCKET}/weighbridge")
    sh(root, "dvc", "remote", "modify", "s3", "endpointurl", s3)
    sh(root, "dvc", "remote", "modify", "s3", "verify", "true")
    sh(root, "dvc", "push", **KEYS)
    commit(root, "its decision")
    return root


def cloned(pushed: Path, folder: Path) -> Path:
    """A second clone, in which every agent would fail."""
    clone = folder / "clone"
    sh(folder, "git", "clone", "-q", str(pushed), str(clone))
    for agent in (clone / "data/agents").rglob("agent.py"):
        write(agent, "raise SystemExit('an agent was started')\n")
    return clone


def verified(root: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "stages", "verify"], cwd=root, capture_output=True, text=True, check=False,
        env={**os.environ, "PYTHONPATH": str(REPO)},
    )  # fmt: skip


def bucket(s3: str) -> Any:
    """The provider's own client, for what stands behind DVC's back."""
    import boto3

    return boto3.resource(
        "s3", endpoint_url=s3, region_name="us-east-1", aws_access_key_id="test", aws_secret_access_key="test"
    ).Bucket(BUCKET)


def test_a_clone_pulls_from_s3_verifies_and_reproduces_without_an_agent(pushed: Path, tmp_path: Path) -> None:
    clone = cloned(pushed, tmp_path)
    done = verified(clone)
    assert done.returncode in (1, 2)
    assert "isn't there" in done.stdout + done.stderr  # tables aren't pulled yet
    sh(clone, "dvc", "pull", **KEYS)
    done = verified(clone)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "verified: these bytes give withhold" in done.stdout
    before = (clone / layout.DECISION).read_bytes()
    assert "up to date" in sh(clone, "dvc", "repro")
    for name in ("exclude", "report"):
        sh(clone, "dvc", "repro", "-f", "-s", name)
    assert (clone / layout.DECISION).read_bytes() == before
    assert not (clone / ".trials/journal.sqlite").exists()
    said = sh(clone, "dvc", "repro", "-f", "-s", "run", check=False)  # only asked for by name does it come to an agent
    assert "WEIGHBRIDGE_SPEND=yes" in said
    assert json.loads(before)["slice_id"] == json.loads((pushed / layout.DECISION).read_bytes())["slice_id"]


def test_an_object_that_changed_in_s3_is_refused_by_name(pushed: Path, s3: str, tmp_path: Path) -> None:
    clone = cloned(pushed, tmp_path)
    sh(clone, "dvc", "pull", **KEYS)
    good = {p: p.read_bytes() for p in (clone / "data").rglob("*.parquet")}
    lock = (clone / "dvc.lock").read_text().splitlines()
    at = next(i for i, line in enumerate(lock) if "data/ledger/ledger.parquet" in line)
    md5 = next(line.split()[-1] for line in lock[at:] if "md5:" in line)
    held = next(one for one in bucket(s3).objects.all() if one.key.endswith(f"{md5[:2]}/{md5[2:]}"))
    sound = held.get()["Body"].read()
    broken = bytearray(sound)
    broken[len(broken) // 2] ^= 1
    try:
        held.put(Body=bytes(broken))
        (tmp_path / "b").mkdir()
        second = cloned(pushed, tmp_path / "b")
        said = sh(second, "dvc", "pull", check=False, **KEYS)
        assert "corrupted" in said or "failed" in said.lower()
        assert md5 in said or "ledger.parquet" in said
        assert not (second / layout.LEDGER).exists()
        assert verified(second).returncode in (1, 2)
        sh(clone, "dvc", "pull", **KEYS)  # the first clone's good state stays
        assert {p: p.read_bytes() for p in good} == good
        assert verified(clone).returncode == 0
    finally:
        held.put(Body=sound)


def test_an_object_that_changed_in_the_cache_is_named_by_verify(pushed: Path, tmp_path: Path) -> None:
    clone = cloned(pushed, tmp_path)
    sh(clone, "dvc", "pull", **KEYS)
    victim = clone / layout.LEDGER
    data = bytearray(victim.read_bytes())
    data[len(data) // 2] ^= 1
    victim.unlink()  # it may be a link to the cache
    victim.write_bytes(bytes(data))
    done = verified(clone)
    assert done.returncode == 1
    assert done.stdout.splitlines()[-1].startswith("differs: data/ledger/ledger.parquet: sha256")
    sh(clone, "dvc", "checkout", "-f")
    assert verified(clone).returncode == 0


def test_another_repository_gets_and_imports_the_frozen_pack(pushed: Path, tmp_path: Path) -> None:
    sh(tmp_path, "dvc", "get", str(pushed), layout.TREES.as_posix(), "-o", "got.parquet", **KEYS)
    assert (tmp_path / "got.parquet").read_bytes() == (pushed / layout.TREES).read_bytes()
    other = tmp_path / "other"
    other.mkdir()
    sh(other, "git", "init", "-q")
    sh(other, "dvc", "init", "-q")
    sh(other, "dvc", "import", str(pushed), "data/pack", "-o", "pack", **KEYS)
    assert (other / "pack/pack.yaml").read_bytes() == (pushed / "data/pack/pack.yaml").read_bytes()
    assert "rev_lock" in (other / "pack.dvc").read_text()


def test_the_pipeline_names_its_artifacts() -> None:
    import yaml

    made = yaml.safe_load((REPO / "dvc.yaml").read_text())["artifacts"]
    assert {name: entry["path"] for name, entry in made.items()} == {
        "pack": "data/pack",
        "ledger": layout.LEDGER.as_posix(),
        "decision": layout.DECISION.as_posix(),
    }
