"""Public logs judged whole, as far as they lie beside the project: every planned trial is accounted for.

The numbers were counted apart from the readers: samples of the made logs by `json.loads` of each unpacked member
(errors, NaN scores, (id, epoch) without an outcome), SWE-bench Pro by set operations on its JSON objects.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from stages.contract.importing import ImportParams
from stages.evidence.importing import judge
from tests.support.logs import adds_up, found


def _folder() -> Path | None:
    named = os.environ.get("WEIGHBRIDGE_LOGS")
    places = [Path(named)] if named else [p / "shared/data" for p in Path(__file__).resolve().parents]
    return next((place for place in places if (place / "inspect_made").is_dir()), None)


FOLDER = _folder()
pytestmark = pytest.mark.skipif(FOLDER is None, reason="no public logs here (WEIGHBRIDGE_LOGS names their folder)")
CLEAN, ERRORS, RETRIES, LIMITS, NAN = "JtoFQa3", "VKTgjqz", "geYU8Ze", "8ssCzMn", "CdH4uEq"


def made(name: str) -> str:
    assert FOLDER is not None
    (path,) = (FOLDER / "inspect_made").glob(f"*_{name}*")
    return str(path)


def decided(folder: Path, candidate: str, control: str, **more: Any) -> dict[str, Any]:
    return judge(folder / "out", ImportParams(candidate=[candidate], control=[control], **more), {}, "test")


@pytest.mark.parametrize(
    ("candidate", "control", "scored", "partners", "thin", "missing", "passes"),
    [
        # 24 items x 3 epochs x 2 arms = 144. Nothing lacks an outcome but 16 NaN scores, over 13 items; of three of
        # those items one pair is left, which is too few of three: 3 trials of either arm.
        (CLEAN, ERRORS, 144, 0, 0, 0, (50, 44)),
        (RETRIES, LIMITS, 144, 0, 0, 0, (44, 44)),
        (RETRIES, NAN, 106, 16, 6, 16, None),
        (NAN, CLEAN, 106, 16, 6, 16, None),
    ],
)
def test_made_inspect_logs_add_up(
    tmp_path: Path,
    candidate: str,
    control: str,
    scored: int,
    partners: int,
    thin: int,
    missing: int,
    passes: tuple[int, int] | None,
) -> None:
    d = decided(tmp_path, made(candidate), made(control))
    counts = {"planned": 144, "scored": scored, "excluded": partners + thin, "missing": missing}
    assert d["counts"] | counts == d["counts"]
    assert adds_up(d)
    assert sum(d["exclusions"].get("pair_partner", {}).get(arm, 0) for arm in ("candidate", "control")) == partners
    if passes:
        assert tuple(d["arms"][arm]["passes"] for arm in ("candidate", "control")) == passes
    assert d["decision"] == "withhold"
    assert ("trials_missing" in d["reasons"]) == bool(missing)


def test_errors_stay_in_the_denominator(tmp_path: Path) -> None:
    d = decided(tmp_path, made(ERRORS), made(CLEAN))
    assert (d["arms"]["candidate"]["trials"], d["arms"]["candidate"]["aborts"]) == (72, 8)
    assert found(d)["total_disagrees"] == (1, True)  # the log's own rate leaves the 8 errors out


def test_two_agents_with_other_ids_meet_on_their_common_ones(tmp_path: Path) -> None:
    assert FOLDER is not None
    one, two = (FOLDER / "swebench/pro/traj" / n / "eval_results.json" for n in ("gpt-4o-paper", "gptoss-paper"))
    held = [json.loads(p.read_text()) for p in (one, two)]
    common = held[0].keys() & held[1].keys()
    d = decided(tmp_path, str(one), str(two))
    assert d["counts"]["planned"] == 2 * len(common)
    assert found(d)["items_in_one_arm"][0] == len(held[0].keys() ^ held[1].keys())
    assert d["win_rate"]["wins"] == sum(held[0][i] and not held[1][i] for i in common)
    assert d["win_rate"]["losses"] == sum(held[1][i] and not held[0][i] for i in common)


def test_an_interrupted_promptfoo_run_is_named(tmp_path: Path) -> None:
    assert FOLDER is not None
    (path,) = [p for p in sorted((FOLDER / "promptfoo_made").glob("*.json*")) if p.stat().st_size > 10_000]
    names = {"candidate_name": "arm-a", "control_name": "arm-b"}
    params = ImportParams(logs=[str(path)], **names)  # type: ignore[arg-type]
    d = judge(tmp_path / "out", params, {}, "test")
    assert {"unfinished_run", "cached_repeats"} <= found(d).keys()
    assert adds_up(d)
