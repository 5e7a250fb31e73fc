"""The bench: what is observed again, what is taken from the store, and which trials are drawn for a second look."""

from __future__ import annotations

import dataclasses
import shutil
from fractions import Fraction
from pathlib import Path

import pytest
import yaml

from stages.contract.errors import WeighbridgeError
from stages.contract.plan import BESIDE
from stages.contract.protocol import OracleParams
from stages.contract.study import read_plan
from stages.contract.trees import Change
from stages.freeze import freeze
from stages.oracle import Bench
from stages.sandbox import Isolation, find
from tests.support.mini import make_study, write


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A frozen study of one item whose oracle fails the first time and passes from then on, and counts its runs."""
    folder = tmp_path_factory.mktemp("bench")
    root, count = make_study(folder / "study", items=1, placebos=0), folder / "count"
    task = root / "data/pack/tasks/item-0"
    words = yaml.safe_load((task / "task.yaml").read_text(encoding="utf-8"))
    words["oracle"] = {"kind": "command", "command": ["sh", "check.sh"], "path": "oracle", "timeout_s": 30}
    write(task / "task.yaml", yaml.safe_dump(words))
    write(task / "oracle/check.sh", f"echo x >> {count}\nexit $(( $(wc -l < {count}) == 1 ))\n")
    freeze(root)
    return root


def bench(root: Path, recheck: Fraction = Fraction(1, 10)) -> Bench:
    return Bench.open(root, read_plan(root), Isolation("none"), {}, OracleParams(recheck=recheck))


def test_the_same_content_is_observed_once_and_a_recheck_is_observed_for_itself(root: Path) -> None:
    count = root.parent / "count"
    judge = bench(root)
    assert [judge.verdict("item-0", []).verdict for _ in range(2)] == ["fail", "fail"]
    assert len(count.read_text().splitlines()) == 1
    assert [judge.verdict("item-0", [], attempt=1).verdict for _ in range(2)] == ["pass", "pass"]
    assert len(count.read_text().splitlines()) == 2
    note = Change("NOTES.txt", "add", None, "100644", None, None, b"x")
    assert bench(root).verdict("item-0", [note]).verdict == "pass"
    assert len(count.read_text().splitlines()) == 3


def test_as_many_trials_are_rechecked_as_were_asked_for(root: Path) -> None:
    def drawn(share: Fraction) -> set[tuple[str, int]]:
        judge = bench(root, share)
        places = ((arm, n) for arm in ("candidate", "control") for n in range(1000))
        return {(arm, n) for arm, n in places if judge.rechecked("item-0", arm, n)}

    assert drawn(Fraction(0)) == set()
    assert len(drawn(Fraction(1))) == 2000
    tenth = drawn(Fraction(1, 10))
    assert 140 < len(tenth) < 260  # 200 are expected; four and a half standard deviations to either side
    assert {arm for arm, _ in tenth} == {"candidate", "control"}
    assert drawn(Fraction(1, 10)) == tenth
    assert tenth < drawn(Fraction(1, 2))


def test_a_sandbox_that_cannot_be_made_is_no_verdict_and_is_not_stored(root: Path) -> None:
    note = Change("OTHER.txt", "add", None, "100644", None, None, b"x")
    broken = dataclasses.replace(bench(root), isolation=Isolation("namespaces", bwrap="/bin/false"))
    for _ in range(2):
        with pytest.raises(WeighbridgeError, match="item-0"):
            broken.verdict("item-0", [note])


STUB = "def pages(n: int) -> object:\n    return iter([])\n"
SOLUTION = (
    "asked = []\n\n\nclass _Pages:\n    def __init__(self, n: int) -> None:\n        self.n, self.at = n, 0\n\n"
    "    def __iter__(self) -> object:\n        return self\n\n    def __next__(self) -> int:\n"
    "        if self.at == self.n:\n            raise StopIteration\n        asked.append(self.at)\n"
    "        self.at += 1\n        return self.at\n\n\ndef pages(n: int) -> object:\n    return _Pages(n)\n"
)
LAZY = "asked = []\n\n\ndef pages(n: int) -> object:\n    for at in range(n):\n        asked.append(at)\n        yield at + 1\n"
TESTS = (
    "import mod\nfrom mod import pages\n\n\ndef test_is_lazy():\n    found = pages(3)\n    assert next(found) == 1\n"
    "    assert mod.asked == [0]\n    assert list(found) == [2, 3]\n"
)


def test_what_crossed_flattened_and_fails_is_looked_at_beside_the_tests_and_marked_so(tmp_path: Path) -> None:
    root = make_study(tmp_path / "study", items=1, placebos=0)
    task = root / "data/pack/tasks/item-0"
    words = yaml.safe_load((task / "task.yaml").read_text(encoding="utf-8"))
    words["interface"] = {"module": "mod", "function": "pages", "signature": "(n: int) -> object"}
    words["allow"] = {"imports": [], "env": [], "files_write": ["mod.py"]}
    write(task / "task.yaml", yaml.safe_dump(words))
    write(task / "statement.md", "`pages` of mod gives no page.\n")
    for path in [p for name in ("workspace", "solution", "oracle", "wrong") for p in (task / name).rglob("*.py")]:
        path.unlink()
    for name, text in (("workspace/mod.py", STUB), ("solution/mod.py", SOLUTION), ("oracle/test_it.py", TESTS)):
        write(task / name, text)
    shutil.rmtree(task / "wrong")
    freeze(root)
    known = {"item-0": {"boundary": "process", "expected": ["test_it.py::test_is_lazy"], "events": []}}
    judge = Bench.open(root, read_plan(root), find(), known, OracleParams())

    def verdict(text: str) -> tuple[str, str, list[str]]:
        change = Change("mod.py", "modify", "100644", "100644", None, None, text.encode())
        seen = judge.verdict("item-0", [change])
        return seen.verdict, seen.reason, [event for event in seen.events if event.startswith("beside:")]

    assert verdict(SOLUTION) == ("pass", "1 tests passed", [])
    assert verdict(LAZY) == ("pass", f"1 tests passed{BESIDE}", ["beside:flattened"])
    assert verdict(LAZY.replace("at + 1", "at")) == ("fail", "1 of 1 tests failed", [])
