"""Registration with real git, real processes and a time-stamping authority of the tests' own."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from stages.arms import Journal
from stages.contract import layout
from stages.contract.registry import read_chain
from tests.support.mini import REPO, copy_stage_files, make_study, stage, write

ENV = {
    **{k: v for k, v in os.environ.items() if not k.startswith(("GIT_", "DVC_"))},
    **{"GIT_AUTHOR_NAME": "t", "GIT_AUTHOR_EMAIL": "t@example.invalid"},
    **{"GIT_COMMITTER_NAME": "t", "GIT_COMMITTER_EMAIL": "t@example.invalid"},
    **{"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_SYSTEM": os.devnull, "PYTHONPATH": str(REPO)},
}
DEMANDED = {"require_registration": "self_dated", "trial_budget": 1}
TSA = """
[tsa]
default_tsa = me
[me]
serial = {folder}/serial
crypto_device = builtin
signer_cert = {folder}/tsa.pem
signer_key = {folder}/tsa.key
signer_digest = sha256
default_policy = 1.2.3.4.1
digests = sha256
accuracy = secs:1
ess_cert_id_alg = sha256
"""


def sh(root: Path, *words: str, check: bool = True, env: dict[str, str] | None = None) -> str:
    done = subprocess.run(words, cwd=root, env={**ENV, **(env or {})}, capture_output=True, text=True, check=False)
    assert not check or done.returncode == 0, f"{words}: {done.stdout}\n{done.stderr}"
    return done.stdout + done.stderr


def weighbridge(root: Path, *words: str, env: dict[str, str] | None = None) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "stages", *words],
        cwd=root, env={**ENV, **(env or {})}, capture_output=True, text=True, check=False,
    )  # fmt: skip


def refused(root: Path, *words: str, env: dict[str, str] | None = None) -> str:
    """What a command that must end with exit 2 says, in one line, with the registry as it was."""
    path = root / layout.REGISTRY
    before = path.read_bytes() if path.exists() else None
    done = weighbridge(root, *words, env=env)
    assert done.returncode == 2, done.stdout + done.stderr
    assert len(done.stderr.strip().splitlines()) == 1
    assert (path.read_bytes() if path.exists() else None) == before
    return done.stderr


def under_git(root: Path) -> None:
    write(root / ".gitignore", ".trials/\n__pycache__/\n*.parquet\n")
    sh(root, "git", "init", "-q")
    sh(root, "git", "add", "-A")
    sh(root, "git", "commit", "-qm", "a study")


@pytest.fixture(scope="module")
def frozen_study(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = make_study(tmp_path_factory.mktemp("registered") / "study", items=2, placebos=1, protocol=DEMANDED)
    stage(root, "freeze", "preflight")
    under_git(root)
    return root


@pytest.fixture
def fresh(frozen_study: Path, tmp_path: Path) -> Path:
    """A frozen study under git, of which nothing ran."""
    root = tmp_path / "study"
    shutil.copytree(frozen_study, root)
    return root


@pytest.fixture(scope="module")
def finished(frozen_study: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A study that was registered, ran, and whose result was registered."""
    root = tmp_path_factory.mktemp("finished") / "study"
    shutil.copytree(frozen_study, root)
    assert weighbridge(root, "register").returncode == 0
    stage(root, "run", "score", "exclude", "report")
    return root


def edit_params(root: Path, change: Callable[[dict[str, Any]], object]) -> None:
    import yaml

    made = yaml.safe_load((root / "params.yaml").read_text())
    change(made)
    write(root / "params.yaml", yaml.safe_dump(made, sort_keys=False))


def test_a_study_is_registered_once_and_only_that_file_is_committed(fresh: Path) -> None:
    write(fresh / "notes.txt", "mine\n")
    sh(fresh, "git", "add", "notes.txt")
    done = weighbridge(fresh, "register")
    assert done.returncode == 0, done.stderr
    assert "registry.jsonl:1 registered appended and committed" in done.stdout
    assert sh(fresh, "git", "show", "--name-only", "--format=", "HEAD").split() == ["data/registry.jsonl"]
    assert sh(fresh, "git", "status", "--short").split() == ["A", "notes.txt"]
    again = weighbridge(fresh, "register", "--json")
    assert again.returncode == 0
    assert json.loads(again.stdout)["new"] is False
    assert len(read_chain((fresh / layout.REGISTRY).read_bytes())) == 1


def test_a_registered_study_says_so_and_verifies(finished: Path) -> None:
    decision = json.loads((finished / layout.DECISION).read_bytes())
    assert decision["registration"] == "self_dated"
    assert "registration_missing" not in decision["reasons"]
    entry = decision["lineage"]["registry"]
    assert (entry["line"], entry["entries"], entry["witness"]) == (1, 1, None)
    assert entry["commit"] == sh(finished, "git", "rev-parse", "HEAD").strip()
    assert "self-dated" in (finished / layout.REPORT_MD).read_text()
    done = weighbridge(finished, "verify")
    assert done.returncode == 0, done.stdout
    assert "registration ok           self_dated" in done.stdout
    said = weighbridge(finished, "register", "--result")
    assert "registry.jsonl:2 result appended and committed" in said.stdout
    assert weighbridge(finished, "verify").returncode == 0  # what is appended later breaks nothing
    assert "stands already" in weighbridge(finished, "register", "--result").stdout


@pytest.mark.heavy
def test_an_unregistered_study_is_withheld_where_the_protocol_demands_it(fresh: Path) -> None:
    stage(fresh, "run", "score", "exclude", "report")
    decision = json.loads((fresh / layout.DECISION).read_bytes())
    assert "registration_missing" in decision["reasons"]
    assert "started" in refused(fresh, "register")  # it is too late now


def test_an_entry_that_is_not_committed_counts_for_nothing(fresh: Path) -> None:
    assert weighbridge(fresh, "register").returncode == 0
    sh(fresh, "git", "reset", "-q", "--soft", "HEAD~1")
    done = stage(fresh, "run")
    assert "isn't committed, so it doesn't count" in done.stderr
    assert json.loads((fresh / layout.CAMPAIGN).read_bytes())["registration"] == "none"


def test_what_cannot_be_registered(fresh: Path, tmp_path: Path) -> None:
    edit_params(fresh, lambda d: d["run"].update(workers=1))
    assert "params.yaml: isn't as committed" in refused(fresh, "register")
    sh(fresh, "git", "checkout", "-q", "params.yaml")
    write(fresh / "data/pack/tasks/item-0/workspace/new.py", "x = 1\n")
    assert "new.py: isn't as committed" in refused(fresh, "register")
    (fresh / "data/pack/tasks/item-0/workspace/new.py").unlink()
    edit_params(fresh, lambda d: d["protocol"].update(alpha="0.04"))
    sh(fresh, "git", "commit", "-qam", "another alpha")
    assert "freeze again" in refused(fresh, "register")
    sh(fresh, "git", "revert", "-n", "HEAD")
    sh(fresh, "git", "commit", "-qm", "back")
    none = {"GIT_AUTHOR_NAME": "", "GIT_COMMITTER_NAME": "", "GIT_AUTHOR_EMAIL": "", "GIT_COMMITTER_EMAIL": ""}
    assert "git" in refused(fresh, "register", env={**none, "HOME": str(tmp_path)})
    assert "isn't registered" in refused(fresh, "register", "--withdraw")
    assert "one of them" in refused(fresh, "register", "--withdraw", "--result")
    assert "only one of them" in refused(fresh, "register", "--token", "params.yaml")
    write(fresh / layout.REGISTRY, "{}\n")
    assert "registry.jsonl:1" in refused(fresh, "register")
    shutil.rmtree(fresh / ".git")
    assert "git repository" in refused(fresh, "register")
    (fresh / layout.MANIFEST).unlink()
    assert "manifest.json" in refused(fresh, "register")


@pytest.mark.heavy
def test_withdrawn_is_no_look_and_registered_is_one(fresh: Path) -> None:
    for number, (change, withdrawn) in enumerate([("a", False), ("b", True)], start=1):
        edit_params(fresh, lambda d, change=change: d["protocol"].update(campaign=change))  # type: ignore[misc]
        stage(fresh, "freeze")
        sh(fresh, "git", "commit", "-qam", change)
        assert weighbridge(fresh, "register").returncode == 0
        if withdrawn:
            assert weighbridge(fresh, "register", "--withdraw").returncode == 0
        assert len(read_chain((fresh / layout.REGISTRY).read_bytes())) == number + withdrawn
    edit_params(fresh, lambda d: d["protocol"].update(campaign="c"))
    stage(fresh, "freeze", "preflight", "run")
    campaign = json.loads((fresh / layout.CAMPAIGN).read_bytes())
    assert campaign["look"] == 2
    assert [one["campaign"] for one in campaign["earlier_looks"]] == ["a"]
    assert campaign["lineage"]["reused"]["count"] == 3


def test_eight_at_once_leave_one_whole_chain(fresh: Path) -> None:
    """Each from a copy of the study of its own that shares the registry, as queued experiments share a repository."""
    code = """
import sys
from pathlib import Path
from stages.contract.plan import Manifest, Plan
from stages.contract.registry import make_entry
from stages.contract.study import read_manifest, read_plan
from stages.evidence import registering as r
root = Path("."); plan, manifest = read_plan(root), read_manifest(root)
manifest = manifest.model_copy(update={"mde80": float(sys.argv[1])})
with r._registry(root) as (repo, lines):
    entry = make_entry(plan, manifest, 1, lines[-1].sha256 if lines else None)
    r._append(root, repo, lines, entry, f"Register {sys.argv[1]}")
"""
    words = [sys.executable, "-c", code]
    running = [
        subprocess.Popen([*words, f"0.{n}1"], cwd=fresh, env=ENV, stderr=subprocess.PIPE, text=True) for n in range(8)
    ]
    said = [process.communicate(timeout=120)[1] for process in running]
    assert [process.returncode for process in running] == [0] * 8, said
    lines = read_chain((fresh / layout.REGISTRY).read_bytes())
    assert len(lines) == 8
    assert len({line.entry.manifest_sha256 for line in lines if line.entry.kind == "registered"}) == 8
    assert sh(fresh, "git", "status", "--short") == ""
    assert sh(fresh, "git", "rev-list", "--count", "HEAD").strip() == "9"


def test_a_removed_rewritten_or_forked_registry_is_named_by_verify(finished: Path, tmp_path: Path) -> None:
    def copy(name: str) -> Path:
        root = tmp_path / name
        shutil.copytree(finished, root)
        sh(
            root,
            "git",
            "reset",
            "-q",
            "--hard",
            json.loads((root / layout.CAMPAIGN).read_bytes())["registry"]["commit"],
        )
        return root

    def differs(root: Path) -> str:
        done = weighbridge(root, "verify")
        assert done.returncode == 1, done.stdout
        return done.stdout

    gone = copy("gone")
    path = gone / layout.REGISTRY
    path.write_bytes(b"")
    sh(gone, "git", "commit", "-qam", "oops")
    assert "the campaign saw 1" in differs(gone)
    rewritten = copy("rewritten")
    path = rewritten / layout.REGISTRY
    path.write_bytes(path.read_bytes().replace(b'"look":1', b'"look":2'))
    said = differs(rewritten)
    assert "as the campaign saw it" in said or "removed or rewritten" in said  # by whether a line follows it
    restored = copy("restored")
    path, held = restored / layout.REGISTRY, (restored / layout.REGISTRY).read_bytes()
    path.unlink()
    sh(restored, "git", "commit", "-qam", "gone for a while")
    path.write_bytes(held)
    sh(restored, "git", "add", "data/registry.jsonl")
    sh(restored, "git", "commit", "-qm", "and back")
    assert "removed from line 1 on, by commit" in differs(restored)
    late = copy("late")
    sh(late, "git", "commit", "-q", "--amend", "-m", "Later", "--date", "2030-01-01T00:00:00Z",
       env={"GIT_COMMITTER_DATE": "2030-01-01T00:00:00Z"})  # fmt: skip
    assert "as the campaign saw it" in differs(late)


def test_a_record_edited_to_hide_a_look_is_named(finished: Path, tmp_path: Path) -> None:
    root = tmp_path / "study"
    shutil.copytree(finished, root)
    made = json.loads((root / layout.CAMPAIGN).read_bytes())
    made |= {"registration": "none"}
    (root / layout.CAMPAIGN).write_text(json.dumps(made))
    done = weighbridge(root, "report")
    assert done.returncode == 2
    assert "registration" in done.stderr


@pytest.fixture(scope="module")
def authority(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Keys and certificates of a time-stamping authority: root.pem, tsa.pem, and its settings."""
    if shutil.which("openssl") is None:
        pytest.skip("needs openssl, which plays the time-stamping authority")
    folder = tmp_path_factory.mktemp("authority")
    write(folder / "tsa.cnf", TSA.format(folder=folder))
    write(folder / "serial", "01\n")
    write(folder / "ext", "extendedKeyUsage=critical,timeStamping\nkeyUsage=critical,digitalSignature\n")
    new = ("openssl", "req", "-newkey", "rsa:2048", "-nodes")
    sh(folder, *new, "-x509", "-days", "3650", "-subj", "/CN=Root", "-keyout", "root.key", "-out", "root.pem")
    sh(folder, *new, "-subj", "/CN=TSA", "-keyout", "tsa.key", "-out", "tsa.csr")
    signs = ("-CA", "root.pem", "-CAkey", "root.key", "-CAcreateserial", "-days", "3650", "-extfile", "ext")
    sh(folder, "openssl", "x509", "-req", "-in", "tsa.csr", *signs, "-out", "tsa.pem")
    return folder


def stamped(authority: Path, request: Path) -> Path:
    out = request.with_suffix(".tsr")
    sh(authority, "openssl", "ts", "-reply", "-config", "tsa.cnf", "-queryfile", str(request), "-out", str(out))
    return out


@pytest.mark.heavy
def test_an_authority_witnesses_a_registration(fresh: Path, authority: Path, tmp_path: Path) -> None:
    root_pem, asked = str(authority / "root.pem"), tmp_path / "ask.tsq"
    assert weighbridge(fresh, "register", "--request", str(asked)).returncode == 0
    assert not (fresh / layout.REGISTRY).exists()
    answer = stamped(authority, asked)
    write(tmp_path / "other.tsr", "no response")
    other = authority.parent / "other.pem"
    sh(authority, "openssl", "req", "-newkey", "rsa:2048", "-nodes", "-x509", "-days", "9", "-subj", "/CN=Other",
       "-keyout", "other.key", "-out", str(other))  # fmt: skip
    assert "can't be read" in refused(fresh, "register", "--token", str(tmp_path / "other.tsr"), "--tsa", root_pem)
    assert "isn't a witness" in refused(fresh, "register", "--token", str(answer), "--tsa", str(other))
    assert "certificates as PEM" in refused(fresh, "register", "--token", str(answer), "--tsa", str(asked))
    assert weighbridge(fresh, "register", "--token", str(answer), "--tsa", root_pem).returncode == 0
    stage(fresh, "run", "score", "exclude", "report")
    decision = json.loads((fresh / layout.DECISION).read_bytes())
    assert decision["registration"] == "witnessed"
    assert decision["lineage"]["registry"]["witness"]["at"] <= decision["started_at"]
    plain = weighbridge(fresh, "verify")
    assert plain.returncode == 0, plain.stdout
    assert "--tsa checks it under yours" in plain.stdout
    mine = weighbridge(fresh, "verify", "--tsa", root_pem)
    assert mine.returncode == 0, mine.stdout
    assert "by your own root" in mine.stdout
    foreign = weighbridge(fresh, "verify", "--tsa", str(other))
    assert foreign.returncode == 1
    assert "isn't a witness" in foreign.stdout


def test_a_stamp_over_another_entry_is_refused(fresh: Path, authority: Path, tmp_path: Path) -> None:
    asked = tmp_path / "ask.tsq"
    assert weighbridge(fresh, "register", "--request", str(asked)).returncode == 0
    answer = stamped(authority, asked)
    edit_params(fresh, lambda d: d["protocol"].update(campaign="2"))
    stage(fresh, "freeze")
    sh(fresh, "git", "commit", "-qam", "another campaign")
    said = refused(fresh, "register", "--token", str(answer), "--tsa", str(authority / "root.pem"))
    assert "isn't a witness of this entry" in said


@pytest.mark.heavy
def test_two_experiments_queued_at_once_leave_registry_and_journal_whole(fresh: Path) -> None:
    """Two workers of DVC's queue run two studies of one repository, of which one was registered."""
    copy_stage_files(fresh)
    shutil.rmtree(fresh / ".git")
    for name in ("data/frozen", "data/preflight"):
        for path in (fresh / name).glob("*.*"):
            if path.suffix in (".parquet", ".json"):
                path.unlink()
    sh(fresh, "git", "init", "-q")
    dvc = str(Path(sys.executable).with_name("dvc"))
    path = {"PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"}
    sh(fresh, dvc, "init", "-q")
    shutil.copy(REPO / ".dvc/config", fresh / ".dvc/config")
    write(fresh / ".gitignore", ".trials/\n__pycache__/\n")
    sh(fresh, "git", "add", "-A")
    sh(fresh, "git", "commit", "-qm", "a study")
    sh(fresh, dvc, "repro", "freeze", "preflight", env=path)
    sh(fresh, "git", "add", "-A")
    sh(fresh, "git", "commit", "-qm", "frozen")
    assert weighbridge(fresh, "register").returncode == 0
    before = (fresh / layout.REGISTRY).read_bytes()
    for name, changes in (("first", []), ("second", ["-S", "arms.candidate.name=second"])):
        sh(fresh, dvc, "exp", "run", "--queue", "-n", name, *changes, env=path)
    sh(fresh, dvc, "queue", "start", "-j", "2", env=path)
    for _ in range(240):
        told = sh(fresh, dvc, "queue", "status", env=path)
        if "Running" not in told and "Queued" not in told:
            break
        time.sleep(1)
    assert told.count("Success") == 2, told
    assert (fresh / layout.REGISTRY).read_bytes() == before
    found = {}
    for name in ("first", "second"):
        sh(fresh, dvc, "exp", "apply", name, env=path)
        found[name] = json.loads((fresh / layout.DECISION).read_bytes())
        sh(fresh, "git", "checkout", "-q", "-f", "HEAD")
    assert found["first"]["registration"] == "self_dated"
    assert found["second"]["registration"] == "none"
    journal = Journal(fresh / ".trials")
    assert len(journal.campaigns()) == 2
    journal.close()
