"""One trial, for real: what an agent may do, and what becomes of it."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path
from typing import Any

import pytest

from stages.arms import Finished, Setting, run_trial
from stages.contract import layout
from stages.contract.study import entries, read_frozen, read_manifest, read_plan
from stages.sandbox import Isolation, find
from tests.support.mini import make_study, stage, write


@pytest.fixture(scope="module")
def frozen(tmp_path_factory: pytest.TempPathFactory) -> Path:
    changes: dict[str, Any] = {"protocol": {"time_budget_s": 3, "trial_budget": 1}}
    root = make_study(tmp_path_factory.mktemp("trial") / "s", items=1, placebos=0, **changes)
    stage(root, "freeze")
    return root


def attempt(root: Path, agent: str, isolation: Isolation | None = None) -> Finished:
    """Run the candidate's trial of item-0 with this program as its agent."""
    write(root / "data/agents/able/agent.py", agent)
    plan, manifest = read_plan(root), read_manifest(root)
    files = entries(read_frozen(root, plan, layout.TREES))
    setting = Setting(
        root=root,
        plan=plan,
        manifest=manifest,
        isolation=isolation or find(),
        trees={"item-0": files[("item-0", "workspace")]},
        statements={"item-0": files[("item-0", "statement")][0].content},
        versions={},
        plan_sha256=plan.sha256(),
        manifest_sha256=manifest.sha256(),
    )
    return run_trial(setting, "candidate", "item-0", 0, 0, 0, 0)


def test_the_patch_is_whatever_differs_text_or_not(frozen: Path) -> None:
    done = attempt(
        frozen,
        "import os, pathlib\n"
        "p = pathlib.Path('m_item_0.py'); p.write_text(p.read_text().replace('a - b', 'a + b')); p.chmod(0o755)\n"
        "pathlib.Path('blob.bin').write_bytes(bytes(range(256)))\n"
        "os.remove('tests/test_add.py')\n"
        "os.symlink('m_item_0.py', 'alias.py')\n"
        "pathlib.Path('.gitignore').write_text('*\\n')\n"
        "os.mkfifo('pipe')\n",
    )
    found = {c.path: (c.op, c.mode_after) for c in done.changes}
    assert found == {
        "m_item_0.py": ("modify", "100755"),
        "blob.bin": ("add", "100644"),
        "tests/test_add.py": ("delete", None),
        "alias.py": ("add", "120000"),
        ".gitignore": ("add", "100644"),
        "pipe": ("special", "special:fifo"),
    }
    assert next(c for c in done.changes if c.path == "blob.bin").content == bytes(range(256))


def test_the_exit_code_is_recorded_and_does_not_decide(frozen: Path) -> None:
    done = attempt(frozen, "import sys; print('out'); print('err', file=sys.stderr); sys.exit(41)")
    assert (done.row["ended"], done.row["exit_code"]) == ("completed", 41)
    assert done.streams["stdout"] == (4, b"out\n")
    assert done.streams["stderr"] == (4, b"err\n")
    assert done.changes == []


def test_the_time_budget_holds_for_the_whole_process_tree(frozen: Path) -> None:
    done = attempt(
        frozen,
        "import subprocess, sys, time\n"
        "subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(60)'], start_new_session=True)\n"
        "open('before.txt', 'w').write('x')\n"
        "time.sleep(60)\n",
    )
    assert done.row["ended"] == "timeout"
    assert 2.5 < done.row["wall_s"] < 20
    assert [c.path for c in done.changes] == ["before.txt"]


def test_a_patch_too_large_to_keep_is_aborted_and_not_lost(frozen: Path) -> None:
    done = attempt(frozen, "for n in range(5):\n    open(f'big{n}', 'wb').write(b'x' * 8_000_000)\n")
    assert done.row["ended"] == "aborted"
    assert done.row["reason"].startswith("patch_too_large")
    assert done.changes == []


def test_the_agent_gets_statement_interface_and_seed_and_nothing_of_ours(
    frozen: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SECRET_OF_THE_RUNNER", "x")
    done = attempt(
        frozen,
        "import json, os, subprocess\n"
        "log = subprocess.run(['git', 'log', '--all', '--format=%H %s %ad'], capture_output=True, text=True).stdout\n"
        "print(json.dumps({'env': dict(os.environ), 'log': log, 'files': sorted(os.listdir('.')),\n"
        "  'statement': open(os.environ['WEIGHBRIDGE_STATEMENT_FILE']).read(),\n"
        "  'interface': json.load(open(os.environ['WEIGHBRIDGE_INTERFACE_FILE']))}))\n",
    )
    told = json.loads(done.streams["stdout"][1])
    assert told["statement"] == told["env"]["WEIGHBRIDGE_STATEMENT"]
    assert told["interface"]["function"] == "add"
    assert told["env"]["WEIGHBRIDGE_SEED"] == done.row["seed"]
    assert "SECRET_OF_THE_RUNNER" not in told["env"]
    assert told["files"] == [".git", "m_item_0.py", "tests"]
    assert len(told["log"].strip().splitlines()) == 1
    assert "item-0" not in json.dumps({k: v for k, v in told["env"].items() if "STATEMENT" not in k})


def test_a_harness_fault_is_retried_to_the_ceiling_and_then_lost(frozen: Path) -> None:
    isolation = find()
    if isolation.tier == "none":
        pytest.skip("no sandbox here that could fail")
    broken = dataclasses.replace(isolation, bwrap="/bin/false")
    done = attempt(frozen, "print('never')", broken)
    assert (done.row["ended"], done.row["attempts"]) == ("lost", 2)
    assert "harness fault" in done.row["reason"]
    assert [json.loads(s)["attempt"] for s in done.stamps] == [1, 2]
    assert [json.loads(s)["retries"] for s in done.stamps] == [0, 1]
