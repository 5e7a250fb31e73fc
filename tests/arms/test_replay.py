"""Predictions replayed as arms: applied by git, judged as any patch is, and never published."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from stages.arms import Finished, Setting, start_trial
from stages.contract import layout, limits, parquet, tables
from stages.contract.errors import InputError, UsageError
from stages.contract.predictions import Predictions
from stages.contract.schemas import json_schema
from stages.contract.study import entries, read_frozen, read_manifest, read_plan
from stages.contract.trees import LINK
from stages.evidence.debug import debug_trial
from stages.evidence.inner import inner_study, read_outer
from stages.evidence.rehearsal import aa_params
from stages.exclude import exclude
from stages.freeze import freeze
from stages.preflight import preflight
from stages.report import report
from stages.run import run
from stages.sandbox import find
from stages.score import score
from tests.arms.test_campaign import admit_all, journal, trials
from tests.support.bundles import verifies
from tests.support.mini import REPO
from tests.support.replays import OURS, THEIRS, binary, diff, jsonl, make_replay, new_file, rows

UNFIT = diff("item-9")

# What each trial leaves, and by hand what it must come to: `+` is right, `3` passes one of two tests of the oracle.
CANDIDATE = [
    ("item-0", 0, diff("item-0")),
    ("item-0", 1, diff("item-0")),
    ("item-1", 0, diff("item-1", "3")),
    ("item-1", 1, ""),
    ("item-2", 0, UNFIT),
    ("django__django-1", 0, diff("item-0")),
]
CONTROL = [
    ("item-0", 0, None),
    ("item-0", 1, diff("item-0")),
    ("item-1", 0, diff("item-1")),
    ("item-1", 1, diff("item-1")),
    ("item-2", 0, diff("item-2")),
    ("item-2", 1, diff("item-2")),
]
OUTCOMES = {
    "candidate": ["passed", "passed", "failed", "failed", "aborted", None],
    "control": ["failed", "passed", "passed", "passed", "passed", "passed"],
}


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, Any], list[str]]:
    """A study of two files of predictions, from freeze to report; the arms in sequence."""
    root = tmp_path_factory.mktemp("replay") / "study"
    make_replay(root, jsonl(rows(CANDIDATE)), json.dumps(rows(CONTROL)), 3, 1, trial_budget=2)
    said: list[str] = []
    freeze(root)
    preflight(root, said.append)
    run(root, said.append)
    score(root, said.append)
    exclude(root)
    report(root)
    return root, verifies(root), said


def test_every_outcome_is_as_by_hand(whole: tuple[Path, dict[str, Any], list[str]]) -> None:
    root, decision, _ = whole
    ledger = parquet.read(root / layout.LEDGER, tables.LEDGER).to_pylist()
    found = {(r["item_id"], r["arm"], r["repeat"]): r["status"] for r in ledger if not r["placebo"]}
    keys = [(f"item-{n // 2}", n % 2) for n in range(6)]
    assert found == {
        (item, arm, repeat): status
        for arm, outcomes in OUTCOMES.items()
        for (item, repeat), status in zip(keys, outcomes, strict=True)
        if status is not None
    }
    assert {r["status"] for r in ledger if r["placebo"]} == {"failed"}
    assert sum(r["placebo"] for r in ledger) == 2 * 2
    # Kept are all pairs but that of the missing trial. Items: (1 + 0)/2, (-1 - 1)/2, -1; strata: (1/2 - 1)/2 and -1.
    assert decision["counts"] | {"placebos_run": 4, "placebos_passed": 0, "pairs_kept": 5} == decision["counts"]
    assert (decision["counts"]["planned"], decision["counts"]["missing"], decision["counts"]["excluded"]) == (12, 1, 1)
    assert decision["summary"]["delta"] == -0.625


def test_it_is_retrospective_without_session_evidence_and_nothing_else_of_how_it_ran(
    whole: tuple[Path, dict[str, Any], list[str]],
) -> None:
    root, decision, _ = whole
    process = ["trials_missing", "no_session_evidence", "retrospective"]
    assert decision["reasons"][:3] == process
    assert not {"not_interleaved", "arms_unequal", "not_isolated", "runner_changed"} & set(decision["reasons"])
    assert parquet.read(root / layout.STAMPS, tables.STAMPS).num_rows == 0
    excluded = parquet.read(root / layout.EXCLUSIONS, tables.EXCLUSIONS).to_pylist()
    assert [(r["rule"], r["item_id"], r["arm"]) for r in excluded] == [("pair_partner", "item-2", "control")]


def test_decision_and_report_say_what_was_replayed(whole: tuple[Path, dict[str, Any], list[str]]) -> None:
    root, decision, said = whole
    held = read_plan(root).arms.candidate.patches_sha256
    assert decision["candidate"]["replayed"] == {"patches": THEIRS, "sha256": held}
    jsonschema.validate(decision, json_schema("decision"))
    for name, path in (("plan", layout.PLAN), ("manifest", layout.MANIFEST)):
        jsonschema.validate(json.loads((root / path).read_bytes()), json_schema(name))
    assert f"trials of candidate were **replayed** from {THEIRS}" in (root / layout.REPORT_MD).read_text()
    assert f"arm candidate: 1 ids in {THEIRS} aren't in the pack: django__django-1" in said
    assert "arm candidate: 1 trials have no prediction and stay missing: item-2" in said


def test_a_patch_that_doesnt_apply_is_aborted_with_gits_own_word(
    whole: tuple[Path, dict[str, Any], list[str]],
) -> None:
    row = trials(whole[0])["item-2", "candidate", 0]
    assert (row["ended"], row["patch_files"]) == ("aborted", 0)
    assert row["reason"] == "patch_does_not_apply: m_item_9.py: No such file or directory"


def test_a_second_run_starts_nothing_and_a_changed_file_is_named(
    whole: tuple[Path, dict[str, Any], list[str]],
) -> None:
    root = whole[0]
    before, claims = trials(root), journal(root, "SELECT count(*) FROM claims")
    run(root, lambda _: None)
    assert trials(root) == before
    assert journal(root, "SELECT count(*) FROM claims") == claims
    text = (root / OURS).read_text()
    try:
        (root / OURS).write_text(text + "\n")
        with pytest.raises(
            InputError, match=rf"^{OURS}: sha256 [0-9a-f]{{16}}; expected [0-9a-f]{{16}}, as it was fixed"
        ):
            run(root, lambda _: None)
    finally:
        (root / OURS).write_text(text)


def test_a_replayed_trial_can_be_entered_by_hand(whole: tuple[Path, dict[str, Any], list[str]]) -> None:
    said: list[str] = []
    assert debug_trial(whole[0], "item-0", "candidate", 0, shell_only=False, say=said.append) == 0
    assert said[0].startswith("ended completed, exit code 0")
    assert said[1] == "  modify m_item_0.py"
    assert said[-1].startswith("verdict pass")
    with pytest.raises(UsageError, match="has no prediction of it"):
        debug_trial(whole[0], "item-2", "candidate", 1, shell_only=False, say=said.append)


def test_patches_cant_be_rehearsed(whole: tuple[Path, dict[str, Any], list[str]]) -> None:
    outer = read_outer(whole[0])
    with pytest.raises(InputError, match=r"arms\.candidate: patches, which are what they are"):
        inner_study(outer, "aa", aa_params(outer.params, 1), outer.plan.items)


def test_one_replayed_arm_beside_an_agent_that_ran_is_unequal(tmp_path: Path) -> None:
    found = jsonl(rows([("item-0", diff("item-0")), ("item-1", diff("item-1"))]))
    root = make_replay(tmp_path / "s", found, None, items=2, placebos=1, replace_excluded=1)
    freeze(root)
    admit_all(root)
    run(root, lambda _: None)
    stamps = parquet.read(root / layout.STAMPS, tables.STAMPS).to_pylist()
    assert [(s["item_id"], s["arm"]) for s in stamps] == [(i, "control") for i in ("item-0", "item-1", "placebo-0")]
    assert {row["replaced"] for row in trials(root).values()} == {0}
    score(root, lambda _: None)
    exclude(root)
    decision = report(root)
    assert decision["counts"]["excluded"] == 0
    assert {"arms_unequal", "no_session_evidence", "retrospective"} <= set(decision["reasons"])
    assert decision["reason_details"]["arms_unequal"].startswith("candidate was replayed from patches")


def test_a_kill_starts_no_finished_trial_again(tmp_path: Path) -> None:
    found = rows([(f"item-{n}", diff(f"item-{n}")) for n in range(4)])
    root = make_replay(tmp_path / "s", jsonl(found), json.dumps(found), placebos=0)
    freeze(root)
    admit_all(root)
    killing = (
        "import os, signal, sys\nfrom pathlib import Path\nfrom stages.arms import replay\nfrom stages.run import run\n"
        "real, count = replay._apply, []\n"
        "def apply(*given):\n"
        "    count.append(1)\n"
        "    if len(count) > 3: os.kill(os.getpid(), signal.SIGKILL)\n"
        "    return real(*given)\n"
        "replay._apply = apply\nrun(Path(sys.argv[1]))\n"
    )
    env = {**os.environ, "PYTHONPATH": str(REPO)}
    params = root / "params.yaml"
    params.write_text(params.read_text().replace("workers: 2", "workers: 1"))
    done = subprocess.run([sys.executable, "-c", killing, str(root)], env=env, capture_output=True, check=False)
    assert done.returncode == -signal.SIGKILL, done.stderr
    first = dict(journal(root, "SELECT item || arm, row FROM trials"))
    assert len(first) == 3
    run(root, lambda _: None)
    second = dict(journal(root, "SELECT item || arm, row FROM trials"))
    assert len(second) == 8
    assert first.items() <= second.items()
    claims = dict(journal(root, "SELECT item || arm, count(*) FROM claims GROUP BY item, arm"))
    assert sorted(claims.values()) == [1] * 7 + [2]
    assert {claims[key] for key in first} == {1}


@pytest.fixture(scope="module")
def frozen(tmp_path_factory: pytest.TempPathFactory) -> Path:
    found = rows([("item-0", diff("item-0"))])
    root = make_replay(tmp_path_factory.mktemp("hostile") / "s", jsonl(found), json.dumps(found), items=1, placebos=0)
    freeze(root)
    return root


def replayed(root: Path, patch: str, tier: str = "auto") -> Finished:
    """The candidate's trial of item-0, with this patch predicted for it."""
    plan, manifest = read_plan(root), read_manifest(root)
    files = entries(read_frozen(root, plan, layout.TREES))
    setting = Setting(
        root=root,
        plan=plan,
        manifest=manifest,
        isolation=find("none" if tier == "none" else "auto"),
        trees={"item-0": files[("item-0", "workspace")]},
        statements={},
        versions={},
        plan_sha256=plan.sha256(),
        manifest_sha256=manifest.sha256(),
        predictions={"candidate": Predictions("p.jsonl", "0" * 64, {("item-0", None): patch.encode()})},
    )
    return start_trial(setting, "candidate", "item-0", 0, 0, 0, 0)


LINKED = new_file("out", "../../elsewhere", LINK)
RENAME = "diff --git a/m_item_0.py b/../../moved.py\nsimilarity index 100%\nrename from m_item_0.py\nrename to ../../moved.py\n"


@pytest.mark.parametrize("tier", ["auto", "none"])
@pytest.mark.parametrize(
    "patch",
    [
        new_file("../../escaped.py", "x = 1"),
        new_file("/tmp/escaped-by-a-patch.py", "x = 1"),
        new_file("a/../../../escaped.py", "x = 1"),
        new_file(".git/hooks/pre-commit", "x"),
        new_file("deep/.GIT/config", "x"),
        LINKED + new_file("out/escaped.py", "x = 1"),
        new_file("link.py", "m_item_0.py", LINK) + diff("item-0").replace("m_item_0.py", "link.py"),
        RENAME,
        "no diff at all\n",
        diff("item-0") + UNFIT,
        diff("item-0")[:-9],
        "diff --git a/b b/b\nnew file mode 100644\nindex 0000000..1111111\nGIT binary patch\nliteral 99999999999\nzcmb\n\n",
    ],
    ids=[
        *("parent", "absolute", "climbing", "git", "git-in-capitals", "through-a-link", "onto-a-new-link"),
        *("rename-out", "prose", "second-unfit", "torn", "binary-bomb"),
    ],
)
def test_a_hostile_or_broken_diff_leaves_nothing_anywhere(frozen: Path, patch: str, tier: str) -> None:
    done = replayed(frozen, patch, tier)
    assert done.row["ended"] == "aborted"
    assert str(done.row["reason"]).startswith("patch_does_not_apply: ")
    assert (done.changes, done.stamps, done.row["patch_files"]) == ([], [], 0)
    assert not Path("/tmp/escaped-by-a-patch.py").exists()


def test_links_modes_and_binaries_are_changes_as_an_agents_are(frozen: Path) -> None:
    mode = "diff --git a/m_item_0.py b/m_item_0.py\nold mode 100644\nnew mode 100755\n"
    done = replayed(frozen, LINKED + mode + new_file("tests/m.py", "y = 2"))
    found = {c.path: (c.op, c.mode_after, c.content) for c in done.changes}
    assert (done.row["ended"], done.row["reason"], done.row["exit_code"]) == ("completed", None, 0)
    assert found["out"] == ("add", LINK, b"../../elsewhere")
    assert found["m_item_0.py"][:2] == ("mode", "100755")
    assert found["tests/m.py"] == ("add", "100644", b"y = 2\n")


@pytest.mark.parametrize("patch", ["", "\n \n"])
def test_an_empty_patch_is_an_unchanged_tree_and_starts_nothing(frozen: Path, patch: str) -> None:
    done = replayed(frozen, patch)
    assert (done.row["ended"], done.row["wall_s"], done.changes) == ("completed", 0.0, [])


def test_an_absolute_name_loses_its_first_slash_as_git_has_it(frozen: Path) -> None:
    done = replayed(frozen, "--- /dev/null\n+++ /tmp/escaped-by-a-patch.py\n@@ -0,0 +1 @@\n+x = 1\n")
    assert [c.path for c in done.changes] == ["tmp/escaped-by-a-patch.py"]
    assert not Path("/tmp/escaped-by-a-patch.py").exists()


@pytest.mark.parametrize("tier", ["auto", "none"])
def test_a_small_diff_that_unpacks_to_more_than_the_limit_is_too_large_to_keep(frozen: Path, tier: str) -> None:
    patch = binary("zeros", bytes(limits.PATCH_BYTES + 1))
    assert len(patch) < 100_000
    done = replayed(frozen, patch, tier)
    assert (done.row["ended"], done.changes) == ("aborted", [])
    assert str(done.row["reason"]).startswith("patch_too_large: zeros: tree is too large (file_bytes)")
    small = replayed(frozen, binary("blob", bytes(range(256))), tier)
    assert [(c.path, c.content) for c in small.changes] == [("blob", bytes(range(256)))]


def test_a_diff_beyond_the_limit_is_not_even_applied(frozen: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "PATCH_BYTES", 100)
    done = replayed(frozen, diff("item-0"))
    assert str(done.row["reason"]).startswith("patch_too_large: a diff of 1")
    assert (done.row["ended"], done.row["wall_s"]) == ("aborted", 0.0)
