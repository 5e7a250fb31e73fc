"""The same files give the same bytes, whoever runs the stages, where, and how often."""

from __future__ import annotations

import hashlib
import json
import os
from pathlib import Path

import pytest
import yaml

from stages.contract import layout
from stages.contract.errors import InputError
from stages.exclude import exclude
from stages.freeze import freeze
from stages.report import report
from tests.support.mini import stage

MADE = [
    layout.PAIRS,
    layout.EXCLUSIONS,
    layout.DECISION,
    layout.METRICS,
    layout.REPORT_MD,
    layout.BILL,
    layout.RUN_BILL,
]
ELSEWHERE = [
    {"PYTHONHASHSEED": "0", "TZ": "Pacific/Kiritimati", "LC_ALL": "C"},
    {"PYTHONHASHSEED": "1", "TZ": "America/Caracas", "LC_ALL": "tr_TR.UTF-8", "LANG": "tr_TR.UTF-8"},
]


def digests(root: Path) -> dict[str, str]:
    return {str(name): hashlib.sha256((root / name).read_bytes()).hexdigest() for name in MADE}


@pytest.mark.parametrize("env", ELSEWHERE, ids=["seed 0", "seed 1"])
def test_exclude_and_report_forced_again_write_the_same_bytes(study: Path, env: dict[str, str]) -> None:
    before = digests(study)
    for name in MADE:
        (study / name).unlink()
    stage(study, "exclude", "report", env=env)
    assert digests(study) == before


def test_the_run_bill_is_for_sha256sum(study: Path) -> None:
    assert (
        os.spawnvpe(
            os.P_WAIT, "sh", ["sh", "-c", f"cd {study} && sha256sum --quiet -c reports/run_bill.txt"], {**os.environ}
        )
        == 0
    )


def test_a_real_study_too_small_to_publish_says_so(study: Path) -> None:
    decision = json.loads((study / layout.DECISION).read_text())
    assert decision["decision"] == "withhold"
    assert {"too_few_clean_tasks", "stratum_too_small"} <= set(decision["reasons"])
    assert decision["counts"]["placebos_run"] == 8
    assert decision["counts"]["placebos_passed"] == 0


def test_an_event_added_after_the_run_is_refused_with_the_row_that_asked(study: Path) -> None:
    event = {"rule": "candidate_failed", "item_id": "item-0", "time": "2026-03-01T08:00:00Z"}
    with (study / layout.EVENTS).open("a") as stream:
        stream.write(json.dumps(event) + "\n")
    exclude(study)
    decision = report(study)
    assert decision["reason"] == "posthoc_exclusion"
    assert "candidate&#95;failed" in (study / layout.REPORT_MD).read_text()


def test_a_manifest_edited_by_hand_is_refused_in_one_line_and_nothing_is_written(study: Path) -> None:
    before = digests(study)
    manifest = json.loads((study / layout.MANIFEST).read_text())
    manifest["protocol"]["min_kept_items"] = 2
    (study / layout.MANIFEST).write_text(json.dumps(manifest))
    done = stage(study, "exclude", check=False)
    assert (done.returncode, done.stderr.count("\n")) == (2, 1), done.stderr
    assert "slice_id" in done.stderr
    with pytest.raises(InputError, match="slice_id"):
        report(study)
    assert digests(study) == before


def test_the_protocol_edited_and_frozen_again_is_found_out_without_a_new_trial(study: Path) -> None:
    params = yaml.safe_load((study / layout.PARAMS).read_text())
    params["protocol"]["min_detectable_effect"] = 0.01
    (study / layout.PARAMS).write_text(yaml.safe_dump(params))
    trials = (study / layout.TRIALS).read_bytes()
    freeze(study)
    exclude(study)
    decision = report(study)
    assert decision["reason"] == "protocol_changed_after_run"
    assert "min_detectable_effect 0.05 → 0.01" in decision["reason_details"]["protocol_changed_after_run"]
    assert (study / layout.TRIALS).read_bytes() == trials
    assert "withheld" in json.loads((study / layout.METRICS).read_text())
