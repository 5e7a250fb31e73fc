"""Verdicts are kept by content, once, whoever writes them."""

from __future__ import annotations

import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from stages.contract.errors import InputError
from stages.oracle import ORACLE_VERSION, Observation, VerdictStore, store

PASS = Observation("pass", "2 tests passed", {"t": "passed", "ü": "passed"}, ("frames:x",), 0.5, 0.25, 1024, output="…")
FAIL = Observation("fail", "1 of 2 tests failed", {"t": "failed"})


def test_what_is_put_is_what_is_got(tmp_path: Path) -> None:
    kept = VerdictStore(tmp_path / "deep" / "verdicts.sqlite")
    assert kept.get("tree", "oracle", "settings") is None
    assert kept.put("tree", "oracle", "settings", PASS) == PASS
    assert VerdictStore(tmp_path / "deep" / "verdicts.sqlite").get("tree", "oracle", "settings") == PASS
    for key in (("other", "oracle", "settings"), ("tree", "other", "settings"), ("tree", "oracle", "other")):
        assert kept.get(*key) is None


def test_the_first_observation_stays_and_a_recheck_stands_beside_it(tmp_path: Path) -> None:
    kept = VerdictStore(tmp_path / "v.sqlite")
    kept.put("t", "o", "s", PASS)
    assert kept.put("t", "o", "s", FAIL) == PASS
    assert kept.put("t", "o", "s", FAIL, attempt=1) == FAIL
    assert kept.get("t", "o", "s") == PASS


def test_a_harness_fault_is_not_kept(tmp_path: Path) -> None:
    kept = VerdictStore(tmp_path / "v.sqlite")
    kept.put("t", "o", "s", Observation("broken", "sandbox", harness_fault=True))
    assert kept.get("t", "o", "s") is None


def test_verdicts_of_other_rules_are_not_reused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    kept = VerdictStore(tmp_path / "v.sqlite")
    kept.put("t", "o", "s", PASS)
    monkeypatch.setattr(store, "ORACLE_VERSION", ORACLE_VERSION + 1)
    assert kept.get("t", "o", "s") is None


def test_threads_and_processes_can_write_at_once(tmp_path: Path) -> None:
    path = tmp_path / "v.sqlite"
    kept = VerdictStore(path)
    code = (
        "import sys\nfrom pathlib import Path\nfrom stages.oracle import Observation, VerdictStore\n"
        "kept = VerdictStore(Path(sys.argv[1]))\n"
        "for n in range(50): kept.put(str(n), 'o', 's', Observation('fail', sys.argv[2]))"
    )
    others = [
        subprocess.Popen([sys.executable, "-c", code, str(path), str(n)], cwd=Path(__file__).parents[2])
        for n in range(2)
    ]
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda n: kept.put(str(n), "o", "s", PASS), range(50)))
    assert [other.wait() for other in others] == [0, 0]
    assert all(kept.get(str(n), "o", "s") is not None for n in range(50))


def test_a_file_that_is_no_store_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "v.sqlite").write_bytes(b"not a database, but long enough to be looked at as if it were one" * 20)
    with pytest.raises(InputError) as caught:
        VerdictStore(tmp_path / "v.sqlite")
    assert "\n" not in str(caught.value)
