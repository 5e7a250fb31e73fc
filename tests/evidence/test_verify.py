"""Verify: the same decision from the same bytes, on a project, a folder, a bundle; and what it says of edited ones."""

from __future__ import annotations

import json
import os
import random
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from stages.contract import bundled, layout
from stages.contract.digest import canonical, pretty
from stages.contract.errors import WeighbridgeError
from stages.evidence.signing import Signer
from stages.evidence.verify import Verified, verify
from tests.support.bundles import (
    edit_json,
    edit_rows,
    keypair,
    make_bundle,
    members,
    rehash,
    rezip,
    said_digests,
)
from tests.support.sample import sampled

Command = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture(scope="module")
def bundled_study(ran: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_bundle(ran, tmp_path_factory.mktemp("bundle") / "study.zip")


@pytest.fixture(scope="module")
def signed(ran: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Signer]:
    """A signed bundle, and who signed it."""
    folder = tmp_path_factory.mktemp("signed")
    key, line = keypair(folder, "ann")
    (folder / "allowed").write_text(line)
    return make_bundle(ran, folder / "study.zip", key=key), Signer("ann@example.org", folder / "allowed")


def weighbridge(*words: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "stages", *words], cwd=cwd, capture_output=True, text=True, check=False
    )


def names_of(found: Verified) -> list[str]:
    return [line for check in found.checks for line in check.differs]


def test_a_folder_and_its_bundle_give_the_decision(ran: Path, bundled_study: Path) -> None:
    stored = json.loads((ran / layout.DECISION).read_bytes())
    for path in (ran, bundled_study):
        found = verify(path)
        assert names_of(found) == []
        assert found.decision == stored
        assert found.line() == (
            f"verified: these bytes give {stored['decision']} ({stored['reason']}); self-consistent, not authenticated"
        )
        assert any("authorship" in line for line in found.left_open)


def test_a_bundle_of_the_same_study_has_the_same_bytes(ran: Path, bundled_study: Path, tmp_path: Path) -> None:
    assert make_bundle(ran, tmp_path / "again.zip").read_bytes() == bundled_study.read_bytes()


def test_the_command_line(ran: Path, bundled_study: Path, study: Path, tmp_path: Path) -> None:
    done = weighbridge("verify", str(bundled_study), cwd=tmp_path)
    assert done.returncode == 0
    assert done.stdout.splitlines()[-1].startswith("verified: these bytes give withhold (")
    assert weighbridge("verify", str(bundled_study), "--require-publish", cwd=tmp_path).returncode == 3
    said = json.loads(weighbridge("verify", "--json", cwd=ran).stdout)
    assert said["result"] == "verified"
    assert {check["result"] for check in said["checks"]} == {"ok"}
    edit_rows(study, layout.LEDGER, lambda rows: rows[0].update(passed=1 - rows[0]["passed"]))
    rehash(study)
    done = weighbridge("verify", cwd=study)
    assert done.returncode == 1
    assert done.stdout.splitlines()[-1].startswith("differs: data/ledger/ledger.parquet: item-0, candidate, 0: passed")
    assert weighbridge("verify", "nowhere", cwd=tmp_path).returncode == 2
    assert weighbridge("verify", "--signer", "ann", cwd=ran).returncode == 2


def test_what_is_not_there_is_unreadable(study: Path) -> None:
    (study / layout.LEDGER).unlink()
    found = verify(study)  # the bill says that it should be there
    assert found.exit_code == 1
    assert "data/ledger/ledger.parquet: isn't there" in names_of(found)
    (study / layout.BILL).unlink()
    with pytest.raises(WeighbridgeError, match=r"bill\.json"):
        verify(study)


@pytest.mark.parametrize("at", [0, 3, 200, -1, -5, -300])
def test_a_table_that_cannot_be_read_any_more_differs_from_the_bill(study: Path, at: int) -> None:
    data = bytearray((study / layout.LEDGER).read_bytes())
    data[at] ^= 255
    (study / layout.LEDGER).write_bytes(bytes(data))
    found = verify(study)
    assert found.exit_code == 1
    assert str(found.differs).startswith("data/ledger/ledger.parquet: sha256")


def test_deep_judges_every_patch_anew(study: Path) -> None:
    # A whole story that agrees with itself: one verdict turned, ledger and all after it derived from that.
    def turn(rows: list[dict[str, Any]]) -> None:
        for row in rows:
            if (row["item_id"], row["arm"], row["repeat"]) == ("item-0", "control", 0):
                outcomes = dict.fromkeys(json.loads(row["outcomes"]), "passed")
                row.update(verdict="pass", reason="2 tests passed", outcomes=canonical(outcomes).decode())

    edit_rows(study, layout.VERDICTS, turn)
    edit_rows(
        study,
        layout.LEDGER,
        lambda rows: [
            row.update(
                status="passed",
                passed=1,
                verdict="pass",
                verdict_reason="2 tests passed",
                inside_contract="pass",
                recheck=row["recheck"] and "pass",
            )
            for row in rows
            if (row["item_id"], row["arm"], row["repeat"]) == ("item-0", "control", 0)
        ],
    )
    for name in ("exclude", "report"):
        assert weighbridge(name, cwd=study).returncode == 0
    assert names_of(verify(study)) == []  # which is what self-consistent means
    deep = verify(study, deep=True)
    assert deep.exit_code == 1
    assert any("item-0, control, 0" in line and "verdict" in line for line in names_of(deep))
    assert all("item-0, control, 0" in line for line in names_of(deep))  # all others are as they were
    assert {check.name: check.result for check in deep.checks}["freeze"] == "ok"


def test_without_hidden_says_what_it_cannot_check(ran: Path, tmp_path: Path) -> None:
    path = make_bundle(ran, tmp_path / "open.zip", without_hidden=True)
    assert layout.HIDDEN.as_posix() not in members(path)
    secret = b"test_zero"  # stands in oracles only, and in the names of tests that verdicts hold
    assert all(secret not in data for name, data in members(path).items() if "trees" in name)
    found = verify(path, deep=True)
    assert found.exit_code == 0
    said = " ".join(found.left_open)
    assert "oracles and solutions were left out" in said
    assert "no patch could be judged anew" in said


def test_signatures_are_told_apart(signed: tuple[Path, Signer], bundled_study: Path, tmp_path: Path) -> None:
    path, ann = signed
    found = verify(path, signer=ann)
    assert found.signed_by == "ann@example.org"
    assert found.line().endswith("; signed by ann@example.org")
    assert found.left_open == []
    assert "self-consistent, not authenticated" in verify(path).line()
    _, line = keypair(tmp_path, "bob")
    (tmp_path / "allowed").write_text(line)
    assert "foreign-signed" in verify(path, signer=Signer("bob@example.org", tmp_path / "allowed")).line()
    assert "unsigned: expected a signature" in verify(bundled_study, signer=ann).line()
    files = members(path)
    said = json.loads(files[bundled.STATEMENT.as_posix()])
    said["predicate"]["decision"] = "publish"
    files[bundled.STATEMENT.as_posix()] = pretty(said)
    altered = verify(rezip(files, tmp_path / "f", tmp_path / "altered.zip"), signer=ann)
    assert any("altered" in line for line in names_of(altered))


def _flips(path: Path, count: int) -> list[tuple[str, int, int]]:
    draw = random.Random(20)
    files = members(path)
    names = sorted(files)
    found = [(name, draw.randrange(len(files[name])), 1 << draw.randrange(8)) for name in names if files[name]]
    while len(found) < count:
        name = draw.choice(names)
        if files[name]:
            found.append((name, draw.randrange(len(files[name])), 1 << draw.randrange(8)))
    return found


def _tried(path: Path, signer: Signer | None) -> str | None:
    """What verify says against it, or None where it finds nothing."""
    try:
        found = verify(path, signer=signer)
    except WeighbridgeError as error:
        return str(error)
    return found.differs


def check_flips(path: Path, signer: Signer, folder: Path, count: int, *, fits: bool) -> None:
    """Flip a bit of any file, `count` times; `fits`: the bundle's own list follows the edit."""
    files = members(path)
    for name, at, bit in _flips(path, count):
        data = bytearray(files[name])
        data[at] ^= bit
        edited = {**files, name: bytes(data)}
        if fits and name != bundled.BUNDLE.as_posix():
            edited = said_digests(edited, folder / "d")
        said = _tried(rezip(edited, folder / "f", folder / "edited.zip"), signer)
        assert said is not None, (name, at, bit)
        assert len(said.splitlines()) == 1


def check_raw_flips(path: Path, signer: Signer, folder: Path, count: int) -> None:
    """Flip a bit of the archive itself, wherever it falls."""
    raw, draw = bytearray(path.read_bytes()), random.Random(4)
    for _ in range(count):
        at = draw.randrange(len(raw))
        raw[at] ^= 1
        (folder / "raw.zip").write_bytes(bytes(raw))
        assert _tried(folder / "raw.zip", signer) is not None, at
        raw[at] ^= 1


def test_a_flipped_byte_of_any_file_is_named(signed: tuple[Path, Signer], tmp_path: Path) -> None:
    check_flips(*signed, tmp_path, 1, fits=True)
    check_raw_flips(*signed, tmp_path, 10)


@pytest.mark.heavy
def test_hundreds_of_flipped_bytes_are_named(signed: tuple[Path, Signer], tmp_path: Path) -> None:
    check_flips(*signed, tmp_path, 300, fits=False)
    check_flips(*signed, tmp_path, 300, fits=True)
    check_raw_flips(*signed, tmp_path, 300)


def _first(change: Callable[[dict[str, Any]], object]) -> Callable[[list[dict[str, Any]]], object]:
    return lambda rows: change(rows[0])


def _swap(rows: list[dict[str, Any]], column: str) -> None:
    rows[0][column], rows[-1][column] = rows[-1][column], rows[0][column]


def _restamp(rows: list[dict[str, Any]]) -> None:
    said = json.loads(rows[0]["stamp"])
    said["queue_ms"] = 12345.0
    rows[0]["stamp"] = canonical(said).decode()


def _rows(name: Path, change: Callable[[list[dict[str, Any]]], object]) -> Callable[[Path], object]:
    return lambda root: edit_rows(root, name, change)


def _json(name: Path, change: Callable[[dict[str, Any]], object]) -> Callable[[Path], object]:
    return lambda root: edit_json(root, name, change)


def _line(name: Path, text: str) -> Callable[[Path], object]:
    return lambda root: (root / name).write_text((root / name).read_text() + text + "\n")


EVENT = '{"rule": "leaked_solution", "item_id": "item-0", "time": "2026-01-01T00:00:00Z", "evidence": "x"}'
GONE = {
    **{"number": 1, "rule": "queue_exceeded", "scope": "trial", "item_id": "item-0", "arm": "control", "repeat": 0},
    **{"time": None, "evidence": "queue_ms 9", "accepted": True, "refused_why": None},
}
EDITS: dict[str, Callable[[Path], object]] = {
    "an outcome of the ledger": _rows(layout.LEDGER, _first(lambda r: r.update(passed=1 - r["passed"]))),
    "a status of the ledger": _rows(layout.LEDGER, _first(lambda r: r.update(status="timeout"))),
    "a verdict": _rows(layout.VERDICTS, _first(lambda r: r.update(verdict="broken"))),
    "outcomes of a pass": _rows(layout.VERDICTS, lambda rows: [r.update(outcomes="{}") for r in rows]),
    "a recheck taken out": _rows(layout.VERDICTS, lambda rows: rows.remove(next(r for r in rows if r["kind"] == "recheck"))),
    "a trial dropped from the trials": _rows(layout.TRIALS, lambda rows: rows.pop()),
    "a trial dropped from the ledger": _rows(layout.LEDGER, lambda rows: rows.pop()),
    "a stratum of the ledger": _rows(layout.LEDGER, _first(lambda r: r.update(stratum="right"))),
    "a stratum of the items": _rows(layout.ITEMS, _first(lambda r: r.update(stratum="right"))),
    "a stratum of the plan": _json(layout.PLAN, lambda d: d["items"][0].update(stratum="right")),
    "the envelope": _json(layout.MANIFEST, lambda d: d["protocol"]["envelope"].update(max_queue_ms="90000")),
    "alpha": _json(layout.MANIFEST, lambda d: d["protocol"].update(alpha="0.04")),
    "weights": _json(layout.MANIFEST, lambda d: d["protocol"].update(weights="proportional")),
    "the mde": _json(layout.MANIFEST, lambda d: d.update(mde80=0.01)),
    "an arm": _json(layout.MANIFEST, lambda d: d["arms"]["candidate"].update(version="9")),
    "the schedule": _json(layout.PLAN, lambda d: d["schedule"].reverse()),
    "a stamp": _rows(layout.STAMPS, _restamp),
    "a stamp of the ledger": _rows(layout.LEDGER, lambda rows: _swap(rows, "stamps")),
    "a patch": _rows(layout.PATCHES, _first(lambda r: r.update(content=b"x"))),
    "a patch dropped": _rows(layout.PATCHES, lambda rows: rows.pop()),
    "a transcript": _rows(layout.TRANSCRIPTS, _first(lambda r: r.update(content=b"other"))),
    "a trial's arm": _rows(layout.TRIALS, _first(lambda r: r.update(arm_version="2"))),
    "a trial's place": _rows(layout.TRIALS, _first(lambda r: r.update(position=1 - r["position"]))),
    "a trial's seed": _rows(layout.TRIALS, _first(lambda r: r.update(seed="1"))),
    "a start before the campaign": _rows(layout.TRIALS, _first(lambda r: r.update(started_at="2020-01-01T00:00:00.000000Z"))),
    "a workspace": _rows(layout.TREES, _first(lambda r: r.update(content=b"x"))),
    "an oracle": _rows(layout.HIDDEN, _first(lambda r: r.update(content=b"x"))),
    "a violation": _rows(layout.LEDGER, _first(lambda r: r.update(violations=r["violations"] + 1))),
    "a finding": _rows(layout.FINDINGS, lambda rows: rows.clear()),
    "a kept pair": _rows(layout.PAIRS, _first(lambda r: r.update(kept=not r["kept"]))),
    "a pair's order": _rows(layout.PAIRS, lambda rows: [r.update(first="candidate") for r in rows]),
    "an exclusion of the table": _rows(layout.EXCLUSIONS, lambda rows: rows.append(dict(GONE))),
    "an exclusion put in": _line(layout.EVENTS, EVENT),
    "the look": _json(layout.CAMPAIGN, lambda d: d.update(look=2)),
    "the campaign's slice": _json(layout.CAMPAIGN, lambda d: d.update(slice_id="0" * 64)),
    "isolation": _rows(layout.LEDGER, lambda rows: [r.update(isolation="none") for r in rows]),
    "the delta": _json(layout.DECISION, lambda d: d.update(would_publish=not d["would_publish"])),
    "the decision": _json(layout.DECISION, lambda d: d.update(decision="publish", reason="publish_blocked_delta_only")),
    "the metrics": _json(layout.METRICS, lambda d: d.update(extra=1)),
    "the report": _line(layout.REPORT_MD, "The candidate is better."),
    "what a pass must hold": _json(layout.ADMITTED, lambda d: d["items"]["item-1"].update(expected=[])),
    "the boundary of an oracle": _json(layout.ADMITTED, lambda d: d["items"]["item-1"].update(boundary="inprocess")),
    "a check of preflight": _rows(layout.CHECKS, _first(lambda r: r.update(rule="leaked_solution", ok=False))),
    "admission": _json(layout.ADMITTED, lambda d: d["items"]["item-0"].update(admitted=False, rule="leaked_solution")),
}  # fmt: skip


@pytest.mark.parametrize("what", sampled(EDITS, 3))
def test_an_edit_whose_digests_were_made_right_again_is_named(what: str, study: Path, tmp_path: Path) -> None:
    EDITS[what](study)
    rehash(study)
    said = _tried(study, None)
    assert said is not None
    assert len(said.splitlines()) == 1
    try:
        path = make_bundle(study, tmp_path / "edited.zip")
    except WeighbridgeError:
        return  # not even a bundle can be made of it
    assert _tried(path, None) is not None


def test_rows_in_another_order_are_the_same_rows(study: Path) -> None:
    import pyarrow.parquet as pq

    made = pq.read_table(study / layout.LEDGER)
    pq.write_table(made.take(list(reversed(range(made.num_rows)))), study / layout.LEDGER, use_dictionary=False)
    found = verify(study)
    assert found.exit_code == 1  # other bytes than the bill's
    assert "data/ledger/ledger.parquet" in str(found.differs)
    rehash(study)
    assert names_of(verify(study)) == []


def test_a_signature_is_of_the_edited_study_no_more(signed: tuple[Path, Signer], study: Path, tmp_path: Path) -> None:
    """The whole chain made right again, up to the signature, which its maker can't make."""
    path, ann = signed
    edit_json(study, layout.CAMPAIGN, lambda d: d.update(started_at="2020-01-01T00:00:00Z"))
    assert weighbridge("report", cwd=study).returncode == 0
    edited = members(make_bundle(study, tmp_path / "e.zip"))
    assert names_of(verify(tmp_path / "e.zip")) == []  # nothing tells, unsigned
    for name in (bundled.STATEMENT.as_posix(), bundled.SIGNATURE.as_posix()):
        edited[name] = members(path)[name]
    said = _tried(rezip(edited, tmp_path / "f", tmp_path / "forged.zip"), ann)
    assert "altered after it was signed" in str(said)


def test_a_project_in_another_place_gives_the_same(ran: Path, tmp_path: Path) -> None:
    shutil.copytree(ran, tmp_path / "copy", ignore=shutil.ignore_patterns(".trials"))
    env = {"DVC_ROOT": str(tmp_path), "LC_ALL": "C", "TZ": "Asia/Tokyo", "PYTHONHASHSEED": "7"}
    done = subprocess.run(
        [sys.executable, "-m", "stages", "verify", str(tmp_path / "copy")],
        env={**os.environ, **env}, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout
