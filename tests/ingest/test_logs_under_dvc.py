"""Logs under DVC: `dvc repro` gives the judged decision, has nothing to do twice, and shows figures in `dvc exp show`."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from stages.contract.importing import LogParams
from stages.contract.types import validate
from stages.evidence.importing import TEMPLATES, ingest
from tests.support.logs import both, write_rows

ROOT = Path(__file__).resolve().parents[2]


def call(where: Path, *words: str) -> str:
    bin_ = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    env = {**os.environ, "PYTHONPATH": str(ROOT), "PATH": bin_, "DVC_NO_ANALYTICS": "1"}
    done = subprocess.run(words, cwd=where, env=env, capture_output=True, text=True, check=False, timeout=300)
    assert done.returncode == 0, f"{words}: {done.stdout}{done.stderr}"
    return done.stdout


@pytest.mark.heavy
def test_a_judged_study_goes_on_under_dvc(tmp_path: Path) -> None:
    write_rows(tmp_path / "rows.jsonl", both([(1, 0)] * 14 + [(1, 1)] * 8))
    (tmp_path / "p.yaml").write_text("protocol: {min_detectable_effect: 0.07}\n")
    call(tmp_path, "git", "init", "-q")
    call(tmp_path, "dvc", "init", "-q")
    call(tmp_path, "weighbridge", "judge", "rows.jsonl", "--protocol", "p.yaml", "--out", "study")
    study = tmp_path / "study"
    decision = (study / "reports/decision.json").read_bytes()
    params = yaml.safe_load((study / "params.yaml").read_text())
    assert params["protocol"] == {"min_detectable_effect": "0.07"}
    call(study, "dvc", "repro", "-q")
    assert (study / "reports/decision.json").read_bytes() == decision
    call(tmp_path, "git", "add", "-A")
    call(tmp_path, "git", "-c", "user.name=t", "-c", "user.email=t@example.org", "commit", "-qm", "study")
    assert "up to date" in call(study, "dvc", "repro")
    shown = json.loads(call(study, "dvc", "exp", "show", "--json"))[0]["data"]["metrics"]
    (figures,) = [one["data"] for one in shown.values()]
    assert figures["withheld"]["delta"] == json.loads(decision)["summary"]["delta"]
    assert figures["decision"] == "withhold"
    write_rows(tmp_path / "rows.jsonl", both([(1, 0)] * 13 + [(1, 1)] * 9))
    call(study, "dvc", "repro", "-q")
    assert json.loads((study / "reports/decision.json").read_bytes())["win_rate"]["wins"] == 13


def test_the_ready_template_is_a_pipeline_that_runs(tmp_path: Path) -> None:
    for name in ("dvc.yaml", "params.yaml"):
        (tmp_path / name).write_bytes((TEMPLATES / "logs" / name).read_bytes())
    validate(LogParams, yaml.safe_load((tmp_path / "params.yaml").read_text()), "the template")
    rows = both([(1, 0)] * 20)
    for arm in ("candidate", "control"):
        own = [{k: v for k, v in r.items() if k != "arm"} for r in rows if r["arm"] == arm]
        write_rows(tmp_path / "logs" / f"{arm}.jsonl", own)
    text = (tmp_path / "params.yaml").read_text()
    (tmp_path / "params.yaml").write_text(
        text.replace("logs/candidate]", "logs/candidate.jsonl]").replace("logs/control]", "logs/control.jsonl]")
    )
    assert ingest(tmp_path) == {"trials": 40, "scored": 40}
    outs = {
        str(next(iter(out)) if isinstance(out, dict) else out)
        for out in yaml.safe_load((tmp_path / "dvc.yaml").read_text())["stages"]["ingest"]["outs"]
    }
    made = {p.relative_to(tmp_path).as_posix() for p in (tmp_path / "data").rglob("*") if p.is_file()}
    assert outs == made


def test_a_bad_log_leaves_the_study_as_it_was(tmp_path: Path) -> None:
    write_rows(tmp_path / "logs.jsonl", both([(1, 0)] * 20))
    (tmp_path / "params.yaml").write_text("import: {logs: [logs.jsonl]}\n")
    ingest(tmp_path)
    before = {p: p.read_bytes() for p in (tmp_path / "data").rglob("*") if p.is_file()}
    with (tmp_path / "logs.jsonl").open("a") as stream:
        stream.write('{"item_id": "x", "arm": "candidate", "passed": 7}\nno\n{}\n')
    with pytest.raises(Exception, match=r"line 42|line 41"):
        ingest(tmp_path)
    assert before == {p: p.read_bytes() for p in (tmp_path / "data").rglob("*") if p.is_file()}
