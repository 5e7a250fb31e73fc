"""Where a study stands, and the comment that a bot posts."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import yaml

from stages.contract import layout
from stages.evidence.commenting import comment_on
from stages.evidence.status import status
from stages.freeze import freeze
from stages.render.comment import MARK
from tests.support.mini import REPO, make_study


def test_it_goes_from_nothing_to_a_decision(tmp_path: Path, study: Path) -> None:
    root = make_study(tmp_path / "new", arms={"candidate": {"paid": True}})
    assert status(root)["next"] == "freeze"
    freeze(root)
    found = status(root)
    assert found["next"] == "preflight"
    arm = found["trials"]["arms"]["candidate"]
    assert (arm["planned"], arm["finished"], arm["left"], arm["paid"]) == (12, 0, 12, True)
    assert (arm["left_s_at_most"], arm["left_s_about"]) == (120.0, None)
    found = status(study)
    assert found["next"] is None
    assert found["trials"]["arms"]["control"]["left"] == 0
    assert found["decision"]["decision"] == "withhold"
    assert not (tmp_path / "new/.trials").exists()


def test_a_clone_without_journal_knows_its_trials_and_what_isnt_pulled(study: Path) -> None:
    shutil.rmtree(study / ".trials")
    assert status(study)["trials"]["arms"]["candidate"]["finished"] == 12
    (study / layout.TRIALS).unlink()
    found = status(study)
    assert found["unpulled"] == [layout.TRIALS.as_posix()]
    assert found["next"] == "dvc pull"
    assert found["trials"]["arms"]["candidate"]["finished"] == 0


def test_a_half_finished_campaign_says_what_is_left(study: Path) -> None:
    import sqlite3

    (study / layout.TRIALS).unlink()
    with sqlite3.connect(study / ".trials/journal.sqlite") as db:
        db.execute("DELETE FROM trials WHERE arm = 'candidate' AND repeat = 1")
    arm = status(study)["trials"]["arms"]["candidate"]
    assert (arm["finished"], arm["left"]) == (6, 6)
    assert 0 < arm["left_s_about"] < arm["left_s_at_most"]


def test_a_comment_says_what_verify_finds(ran: Path, study: Path) -> None:
    said, code = comment_on(ran, check=True)
    decision = json.loads((ran / layout.DECISION).read_bytes())
    assert code == 0
    assert said.startswith(f"{MARK}\n### Withheld: `{decision['reason']}`")
    assert "self-consistent" in said
    assert said.count("<details>") == said.count("</details>") == 2
    report = study / layout.REPORT_MD
    report.write_text(report.read_text() + "better\n")
    said, code = comment_on(study, check=True)
    assert code == 1
    assert "differs: reports/report.md" in said
    assert comment_on(study, check=False)[1] == 0


def test_commands_end_as_they_say(study: Path) -> None:
    def run(*words: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-m", "stages", *words], cwd=study, capture_output=True, text=True, check=False
        )

    assert "decision     withhold" in run("status").stdout
    assert json.loads(run("status", "--json").stdout)["next"] is None
    assert run("comment").returncode == 0
    (study / layout.LEDGER).unlink()
    assert run("comment").returncode == 1
    assert run("comment", "nowhere").returncode == 2


def test_the_workflow_checks_and_comments() -> None:
    made = yaml.safe_load((REPO / ".github/workflows/weighbridge.yml").read_text())
    steps = [step.get("run", "") for step in made["jobs"]["verify"]["steps"]]
    assert [s for s in steps if s.startswith("weighbridge")] == ["weighbridge comment > comment.md"]
    assert any("gh pr comment" in s for s in steps)
