"""Two arms' rows as one study: what counts, what is missing, what withholds. Expected numbers are counted by hand."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import pytest

from stages.contract import layout, parquet
from stages.contract.decision import Decision
from stages.contract.errors import InputError
from stages.contract.importing import ImportParams
from stages.contract.types import validate
from stages.evidence.importing import judge
from tests.support.logs import adds_up, both, found, judged, row, write_rows

CLEAR = [(1, 0)] * 12 + [(0, 1)] + [(1, 1)] * 7  # 12 won, 1 lost, 7 tied: Δ 11/20


def test_nothing_is_published_from_logs_however_clear_they_are(tmp_path: Path) -> None:
    d = judged(tmp_path, both(CLEAR))
    assert (d["decision"], d["would_publish"], d["headline"]) == ("withhold", True, None)
    assert (d["summary"]["delta"], d["win_rate"]["wins"], d["win_rate"]["losses"]) == (0.55, 12, 1)
    assert d["reasons"] == [
        "no_negative_control",
        "arms_unequal",
        "no_session_evidence",
        "no_assumption_ledger",
        "retrospective",
    ]
    assert d["protocol"]["max_excluded_share"] == "0"
    Decision.model_validate(d)


def test_a_looser_share_of_exclusions_can_not_be_asked_for(tmp_path: Path) -> None:
    assert judged(tmp_path, both(CLEAR), {"max_excluded_share": "0.5"})["protocol"]["max_excluded_share"] == "0"


def test_a_study_folder_is_written_whole_and_the_same_each_time(tmp_path: Path) -> None:
    first, second = (judged(tmp_path / name, both(CLEAR, wall_s=1.5)) for name in ("a", "b"))
    assert first == second
    names = [*layout.IMPORTED, layout.PAIRS, layout.EXCLUSIONS, layout.DECISION, layout.REPORT_MD, layout.RUN_BILL]
    for name in names:
        assert (tmp_path / "a/out" / name).read_bytes() == (tmp_path / "b/out" / name).read_bytes(), name
    out = tmp_path / "a/out"
    assert (out / "decision.json").read_bytes() == (out / layout.DECISION).read_bytes()
    listed = {r["path"] for r in json.loads((out / layout.BILL).read_bytes())["files"]}
    assert {n.as_posix() for n in names if n != layout.RUN_BILL} <= listed


def test_the_order_of_rows_changes_no_figure(tmp_path: Path) -> None:
    rows = both(CLEAR)
    shuffled = random.Random(3).sample(rows, len(rows))
    one, two = judged(tmp_path / "a", rows), judged(tmp_path / "b", shuffled)
    for part in ("summary", "strata", "counts", "win_rate", "sensitivity", "slice_id"):
        assert one[part] == two[part], part


def test_equal_copies_count_once_and_contradicting_ones_not_at_all(tmp_path: Path) -> None:
    rows = both([(1, 1)] * 24)
    rows += [row(3, 1, "candidate"), row(0, 0, "candidate"), row(2, 0, "candidate")]
    d = judged(tmp_path, rows)
    assert found(d)["duplicate_rows"] == (1, False)
    assert found(d)["conflicting_rows"] == (2, True)
    # 48 planned; two of the candidate's have no outcome, and their two partners go with them
    assert d["counts"] | {"planned": 48, "scored": 44, "excluded": 2, "missing": 2} == d["counts"]
    assert "log_unsound" in d["reasons"]
    assert "trials_missing" in d["reasons"]
    assert not d["would_publish"]


def test_keep_last_would_have_been_a_best_of_two(tmp_path: Path) -> None:
    """A resumed run wrote a second, passing row for items that it had failed; nothing of that may count."""
    rows = both([(0, 0)] * 20) + [row(i, 1, "candidate") for i in range(6)]
    d = judged(tmp_path, rows)
    assert d["summary"]["delta"] == 0
    assert d["counts"]["missing"] == 6


def test_items_of_one_arm_are_listed_or_missing_as_the_protocol_says(tmp_path: Path) -> None:
    rows = both(CLEAR) + [row(100 + i, 1, "candidate") for i in range(3)] + [row(200, 1, "control")]
    listed = judged(tmp_path / "a", rows)
    assert found(listed)["items_in_one_arm"] == (4, False)
    assert listed["counts"] | {"planned": 40, "missing": 0} == listed["counts"]
    lacking = judged(tmp_path / "b", rows, {"one_arm_items": "missing"})
    # 24 items planned in both arms; 4 outcomes are missing and their 4 partners excluded
    assert lacking["counts"] | {"planned": 48, "scored": 40, "excluded": 4, "missing": 4} == lacking["counts"]


def test_every_planned_repeat_is_accounted_for_by_name(tmp_path: Path) -> None:
    rows = [row(i, 1, arm, repeat=r) for i in range(20) for arm in ("candidate", "control") for r in (1, 2, 3)]
    gone = [r for r in rows if not (r["item_id"] == "item-007" and r["arm"] == "control" and r["repeat"] == 2)]
    d = judged(tmp_path, gone)
    assert d["counts"] | {"planned": 120, "scored": 118, "excluded": 1, "missing": 1} == d["counts"]
    assert found(d)["repeats_differ"] == (1, False)
    assert "item-007" in d["findings_of_read"][0]["found"]


def test_a_declared_budget_that_the_log_falls_short_of_is_missing_trials(tmp_path: Path) -> None:
    d = judged(tmp_path, both(CLEAR), {"trial_budget": 3})
    assert d["counts"] | {"planned": 120, "missing": 80} == d["counts"]
    rows = [row(i, 1, arm, repeat=r) for i in range(2) for arm in ("candidate", "control") for r in range(3)]
    with pytest.raises(InputError, match="repeats in the logs"):
        judged(tmp_path / "b", rows, {"trial_budget": 2})


def test_outcomes_that_are_not_there_stay_missing(tmp_path: Path) -> None:
    d = judged(tmp_path, both([*CLEAR, (None, 1), (1, None), (None, None)]))
    assert d["counts"] | {"planned": 46, "scored": 40, "excluded": 2, "missing": 4} == d["counts"]
    assert found(d)["not_scored"][0] == 4


def test_errors_count_as_not_passed_and_infrastructure_only_by_declaration(tmp_path: Path) -> None:
    rows = both([(1, 1)] * 22)
    rows[0] |= {"passed": 0, "abort_reason": "APIError: connection reset"}
    d = judged(tmp_path, rows)
    assert d["arms"]["candidate"]["aborts"] == 1
    assert d["summary"]["delta"] == pytest.approx(-1 / 22, abs=1e-6)
    assert d["counts"]["scored"] == 44


def test_a_lost_trial_is_excluded_by_its_rule_and_withholds(tmp_path: Path) -> None:
    rows = both([("pass", "pass")] * 22)
    rows[0]["passed"] = "lost"
    d = judged(tmp_path, rows, map={"status": "passed"})
    assert d["exclusions"]["lost"] == {"candidate": 1, "control": 0, "items": 1}
    assert "too_many_exclusions" in d["reasons"]
    assert adds_up(d)


def test_an_asymmetric_loss_of_outcomes_can_not_look_clean(tmp_path: Path) -> None:
    """Half of an arm's trials without an outcome, the rest all passed: its rate is not 100 %."""
    rows = both([(None, 1)] * 10 + [(1, 0)] * 14)
    d = judged(tmp_path, rows)
    assert not d["would_publish"]
    assert d["counts"]["missing"] == 10


def test_cached_answers_are_no_repeats(tmp_path: Path) -> None:
    rows = [
        row(i, 1, arm, repeat=r, cached=r > 0) for i in range(20) for arm in ("candidate", "control") for r in (0, 1, 2)
    ]
    d = judged(tmp_path, rows)
    assert found(d)["cached_repeats"] == (80, True)
    assert d["counts"]["planned"] == 40


def test_one_trial_id_under_two_arms_is_a_restated_run(tmp_path: Path) -> None:
    rows = both([(1, 0)] * 20)
    for number, one in enumerate(rows):
        one["trial_id"] = f"t{number}"
    rows[1]["trial_id"] = rows[0]["trial_id"]
    d = judged(tmp_path, rows)
    assert found(d)["restated_run"][1]
    assert d["counts"]["missing"] == 2


def test_the_best_of_anothers_repeats_is_no_arm(tmp_path: Path) -> None:
    rows = [row(i, int(r == i % 4), "control", repeat=r) for i in range(24) for r in (0, 1, 2)]
    rows += [row(i, int(i % 4 < 3), "candidate", repeat=0) for i in range(24)]
    assert found(judged(tmp_path / "a", rows))["union_of_arms"][1]
    rows[-1]["passed"] = 1 - rows[-1]["passed"]
    assert "union_of_arms" not in found(judged(tmp_path / "b", rows))


def test_one_id_with_two_contents_is_not_one_item(tmp_path: Path) -> None:
    rows = both([(1, 0)] * 20, digest="d1")
    rows[4]["digest"] = "d2"
    assert found(judged(tmp_path, rows))["item_differs"] == (1, True)


def test_one_patch_with_two_verdicts_is_the_oracles_fault(tmp_path: Path) -> None:
    patch = "diff --git a/m.py b/m.py\n--- a/m.py\n+++ b/m.py\n@@ -1 +1 @@\n-a = 1\n+a = 2\n"
    rows = [row(i, 1, arm, repeat=r) for i in range(20) for arm in ("candidate", "control") for r in (0, 1)]
    for one in rows:
        if one["arm"] == "candidate" and one["item_id"] < "item-003":
            one |= {"patch": patch, "passed": one["repeat"]}
    d = judged(tmp_path, rows)
    assert found(d)["oracle_unstable"] == (3, True)


def test_a_pass_by_the_tests_own_files_is_broken(tmp_path: Path) -> None:
    patch = (
        "diff --git a/conftest.py b/conftest.py\nnew file mode 100644\n--- /dev/null\n+++ b/conftest.py\n"
        "@@ -0,0 +1,2 @@\n+import pytest\n+collect_ignore_glob = ['*']\n"
    )
    rows = both([(1, 1)] * 20)
    rows[0]["patch"] = patch
    d = judged(tmp_path, rows)
    assert found(d)["machinery_only"] == (1, False)
    assert (d["arms"]["candidate"]["passes"], d["arms"]["candidate"]["broken"]) == (19, 1)


def test_patches_with_an_allowlist_give_a_ledger_of_assumptions(tmp_path: Path) -> None:
    def patch(line: str) -> str:
        return f"--- a/m.py\n+++ b/m.py\n@@ -1 +1,2 @@\n a = 1\n+{line}\n"

    (tmp_path / "allow.yaml").write_text("imports: [json]\nenv: []\nfiles_write: ['**']\n")
    rows = both([(1, 0)] * 20)
    for one in rows:
        one["patch"] = patch("import json" if one["arm"] == "control" else "import redis")
    d = judged(tmp_path, rows, allow=str(tmp_path / "allow.yaml"))
    assert "no_assumption_ledger" not in d["reasons"]
    assert [d["arms"][a]["invented_imports"] for a in ("candidate", "control")] == [20, 0]
    assert d["arms"]["candidate"]["assumption_per_kloc"] == 1000
    assert "redis" in (tmp_path / "out" / layout.REPORT_MD).read_text()


def test_session_fields_are_held_against_the_envelope(tmp_path: Path) -> None:
    session = {"server_id": "a", "queue_ms": 10, "retries": 0, "quota_state": "ok", "route_changed": False}
    rows = both([(1, 0)] * 26, **session)
    changes: list[dict[str, Any]] = [
        {"server_id": "b"},
        {"queue_ms": 4001},
        {"retries": 2},
        {"quota_state": "exhausted"},
        {"route_changed": True},
        {"queue_ms": None},
    ]
    for number, change in enumerate(changes):
        rows[2 * number] |= change
    d = judged(tmp_path, rows, {"envelope": {"servers": ["a"]}})
    wanted = ("foreign_server", "queue_delay", "retries", "quota_state", "route_change", "stamp_unavailable")
    assert {rule: d["exclusions"][rule]["candidate"] for rule in wanted} == dict.fromkeys(wanted, 1)
    assert d["exclusions"]["pair_partner"] == {"candidate": 0, "control": 6, "items": 6}
    assert adds_up(d)
    assert "no_session_evidence" not in d["reasons"]
    asserted = judged(tmp_path / "b", both([(1, 0)] * 20, **session, evidence="asserted"))
    assert "asserted" in asserted["reason_details"]["no_session_evidence"]


def test_a_field_that_no_row_has_excludes_nothing_and_is_named(tmp_path: Path) -> None:
    d = judged(tmp_path, both([(1, 0)] * 20, queue_ms=5, retries=0))
    assert d["counts"]["excluded"] == 0
    assert "server_id, quota_state, route_changed" in d["reason_details"]["no_session_evidence"]


def test_servers_that_change_within_an_arm_withhold(tmp_path: Path) -> None:
    """One model's name throughout, but the candidate drifts over three hosts in the order of its items."""
    rows = both([(1, 0)] * 30, requested_model="m", served_model="m", served_by="host-fp16")
    for number, one in enumerate(rows):
        if one["arm"] == "candidate" and number >= 20:
            one["served_by"] = "host-fp8" if number < 40 else "host-int4"
    d = judged(tmp_path, rows)
    finding = next(f for f in d["findings_of_read"] if f["kind"] == "mixed_servers")
    assert (finding["where"], finding["count"], finding["withholds"]) == ("candidate", 3, True)


def test_waits_are_named_beside_wall_times(tmp_path: Path) -> None:
    rows = both([(1, 1)] * 20, wall_s=40.0)
    rows[0] |= {"wall_s": 744.1, "queue_ms": 709100, "retries": 7}
    d = judged(tmp_path, rows)
    assert found(d)["waits_in_wall_time"] == (1, False)
    assert "queueing included" in (tmp_path / "out" / layout.REPORT_MD).read_text()


def test_arms_that_ran_one_after_the_other_are_not_interleaved(tmp_path: Path) -> None:
    rows = both([(1, 0)] * 20)
    for number, one in enumerate(rows):
        hour = 10 if one["arm"] == "candidate" else 14
        one["started_at"] = f"2026-01-31T{hour}:{number:02d}:00Z"
    assert "not_interleaved" in judged(tmp_path / "a", rows)["reasons"]
    for one in rows:
        one["started_at"] = one["started_at"].replace("T14", "T10")
    assert "not_interleaved" not in judged(tmp_path / "b", rows)["reasons"]


def test_nothing_moves_into_an_easier_bin(tmp_path: Path) -> None:
    rows = both([(1, 0)] * 20)
    rows[1]["stratum"] = "easy"
    with pytest.raises(InputError, match="item-000: two strata"):
        judged(tmp_path, rows)


def test_strata_come_from_a_file_where_one_is_given(tmp_path: Path) -> None:
    (tmp_path / "s.csv").write_text("item_id,stratum\n" + "".join(f"item-{i:03d},{'ab'[i % 2]}\n" for i in range(20)))
    rows = [{k: v for k, v in r.items() if k != "stratum"} for r in both(CLEAR)]
    assert found(judged(tmp_path / "a", rows))["no_strata"] == (1, False)
    d = judged(tmp_path / "b", rows, strata=str(tmp_path / "s.csv"))
    assert {name: s["items"] for name, s in d["strata"].items()} == {"a": 10, "b": 10}
    (tmp_path / "s.csv").write_text("item_id,stratum\nitem-000,a\n")
    with pytest.raises(InputError, match="no stratum"):
        judged(tmp_path / "c", rows, strata=str(tmp_path / "s.csv"))


def test_a_placebo_that_passes_is_the_first_reason(tmp_path: Path) -> None:
    rows = [*both(CLEAR), row("trap", 1, "candidate", placebo=True), row("trap", 0, "control", placebo=True)]
    d = judged(tmp_path, rows)
    assert d["reason"] == "placebo_passed"
    assert d["counts"] | {"planned": 40, "placebos_run": 2, "placebos_passed": 1} == d["counts"]


def test_an_item_is_a_placebo_in_all_of_its_rows_or_in_none(tmp_path: Path) -> None:
    """Else items that an arm loses could be called placebos in its rows, and leave the comparison."""
    rows = both([(1, 0)] * 20 + [(0, 1)] * 10)
    for one in rows[40:]:
        one["placebo"] = one["arm"] == "candidate"
    with pytest.raises(InputError, match="a placebo in some of its rows"):
        judged(tmp_path, rows)


def test_repeats_count_from_each_arms_lowest(tmp_path: Path) -> None:
    rows = [row(i, 1, "candidate", repeat=r) for i in range(20) for r in (0, 1)]
    rows += [row(i, 0, "control", repeat=r) for i in range(20) for r in (1, 2)]
    d = judged(tmp_path, rows)
    assert d["counts"] | {"planned": 80, "scored": 80} == d["counts"]
    assert found(d) == {}


def test_rows_that_call_themselves_synthetic_stay_so(tmp_path: Path) -> None:
    assert found(judged(tmp_path, both(CLEAR, synthetic=True)))["synthetic"] == (40, True)


def test_the_protocol_says_which_findings_withhold(tmp_path: Path) -> None:
    rows = both(CLEAR)
    for at, one in enumerate(rows):
        one["served_model"] = f"model-{at // 2 % 2}"
    assert not judged(tmp_path / "strict", rows)["would_publish"]
    d = judged(tmp_path, rows, {"withhold_on": []})
    assert d["would_publish"]
    assert any("withhold_on" in said for said in d["departures"])


def test_no_secret_of_a_log_reaches_any_file(tmp_path: Path) -> None:
    key, token = "sk-live-0123456789abcdefghij", "ghp_0123456789abcdefghij0123456789abcd"
    rows = both([(1, 0)] * 20, server_id=f"host api_key={key}", served_by=f"https://user:{token}@host/x")
    rows[0] |= {"passed": 0, "abort_reason": f"401 for Authorization: Bearer {key} cookie: sid=abcdef123456"}
    judged(tmp_path, rows)
    for path in sorted((tmp_path / "out").rglob("*")):
        if path.is_file():
            held = path.read_bytes()
            if path.suffix == ".parquet":
                held = str(parquet.pq.read_table(path).to_pylist()).encode()
            for secret in (key, token, "abcdef123456"):
                assert secret.encode() not in held, path


def test_two_logs_of_one_arm_each(tmp_path: Path) -> None:
    rows = both(CLEAR)
    paths = {}
    for arm in ("candidate", "control"):
        own = [{k: v for k, v in r.items() if k != "arm"} for r in rows if r["arm"] == arm]
        paths[arm] = [str(write_rows(tmp_path / f"{arm}.jsonl", own))]
    from stages.contract.importing import ImportParams
    from stages.evidence.importing import judge

    d = judge(tmp_path / "out", ImportParams(**paths), {}, "test")
    assert (d["summary"]["delta"], d["counts"]["planned"]) == (0.55, 40)
    for arm, own_paths in paths.items():
        once_more = [{**json.loads(line), "wall_s": 2} for line in Path(own_paths[0]).read_text().splitlines()]
        own_paths.append(str(write_rows(tmp_path / f"{arm}-2.jsonl", once_more)))
    again = judge(tmp_path / "b", ImportParams(**paths, repeats="paths"), {}, "test")
    assert (again["counts"]["planned"], again["protocol"]["trial_budget"]) == (80, 2)


@pytest.mark.parametrize(
    "name", [layout.ITEMS, layout.TRIALS, layout.LEDGER, layout.INGEST, layout.PAIRS, layout.MANIFEST]
)
def test_what_was_edited_by_hand_is_not_believed(tmp_path: Path, name: Path) -> None:
    from stages.report import report

    judged(tmp_path, both(CLEAR, synthetic=True))
    root = tmp_path / "out"
    path = root / name
    if name.suffix == ".json":
        value = json.loads(path.read_bytes())
        if name == layout.INGEST:
            value["findings"] = []
        else:
            value["protocol"]["min_kept_items"] = 21
        path.write_text(json.dumps(value))
    else:
        table = parquet.pq.read_table(path)
        changed = {"status": "failed", "ended": "lost", "stratum": "other", "candidate": 0}
        column = next(c for c in ("status", "ended", "candidate", "stratum") if c in table.column_names)
        values = [changed[column], *table[column].to_pylist()[1:]]
        field = table.schema.field(column)
        table = table.set_column(table.schema.get_field_index(column), field, parquet.pa.array(values, field.type))
        parquet.pq.write_table(table, path)
    with pytest.raises(InputError):
        report(root)


@pytest.mark.parametrize(
    ("rows", "protocol", "reason"),
    [
        (
            both(CLEAR) + [row("empty", 1, arm, placebo=True) for arm in ("candidate", "control")],
            {},
            "placebo_passed",
        ),
        (both([(1, 0)] * 8 + [(0, 1)] * 4 + [(1, 1)] * 10), {"alpha": "0.5"}, "protocol_below_floor"),
    ],
)
def test_what_tables_show_to_be_wrong_stands_in_the_way_of_separable(
    tmp_path: Path, rows: list[dict[str, Any]], protocol: dict[str, Any], reason: str
) -> None:
    d = judged(tmp_path, rows, protocol)
    assert reason in d["reasons"]
    assert not d["would_publish"]


TEST_EDIT = """\
diff --git a/tests/test_a.py b/tests/test_a.py
--- a/tests/test_a.py
+++ b/tests/test_a.py
@@ -1 +1 @@
-assert 0
+assert 1
"""


@pytest.mark.parametrize("first", [0, 1, 7])
def test_a_patch_belongs_to_its_trial_however_repeats_are_numbered(tmp_path: Path, first: int) -> None:
    d = judged(tmp_path, both([(1, 0)] * 20, repeat=first, patch=TEST_EDIT))
    assert found(d)["machinery_only"] == (20, False)
    assert (d["arms"]["candidate"]["passes"], d["arms"]["candidate"]["broken"]) == (0, 20)


def test_each_path_brings_its_own_patches_where_paths_are_repeats(tmp_path: Path) -> None:
    given: dict[str, Any] = {"repeats": "paths"}
    for arm, passed in (("candidate", 1), ("control", 0)):
        for number in (0, 1):
            rows = [row(i, passed, patch=TEST_EDIT, wall_s=number) for i in range(20)]
            given.setdefault(arm, []).append(str(write_rows(tmp_path / f"{arm}-{number}.jsonl", rows)))
    d = judge(tmp_path / "out", validate(ImportParams, given, "test"), {}, "test")
    assert d["arms"]["candidate"]["trials"] == 40
    assert d["arms"]["candidate"]["broken"] == 40


def test_repeats_may_be_numbered_as_high_as_seeds_are(tmp_path: Path) -> None:
    # items 0 and 2**14 with a repeat of 2**49 - 1 had one key as 64-bit numbers
    rows = [row(f"i{i:05d}", 1, arm) | {"repeat": r} for i in range(2**14 + 2) for arm, r in SEEDED]
    d = judged(tmp_path, rows)
    assert found(d) == {}
    assert d["counts"]["planned"] == d["counts"]["scored"] == len(rows)


SEEDED = [(arm, repeat) for arm in ("candidate", "control") for repeat in (0, 2**49 - 1)]


@pytest.mark.parametrize("columns", [("status",), ("passed", "status"), ("passed",)])
def test_a_row_with_a_reason_to_abort_is_not_passed_whatever_its_columns(
    tmp_path: Path, columns: tuple[str, ...]
) -> None:
    rows = both([(1, 0)] * 20)
    for one in rows:
        said = {"status": "passed" if one["passed"] else "timeout", "passed": one.pop("passed")}
        one |= {name: said[name] for name in columns} | {"abort_reason": "killed"}
    d = judged(tmp_path, rows)
    one, two = d["arms"]["candidate"], d["arms"]["control"]
    assert (one["passes"], one["aborts"]) == (0, 20)
    assert (two["aborts"], two["timeouts"]) == ((20, 0) if columns == ("passed",) else (0, 20))


def test_a_copy_of_a_log_is_no_repeat(tmp_path: Path) -> None:
    one, two = (write_rows(tmp_path / f"{p}.jsonl", [row(i, p) for i in range(20)]) for p in (1, 0))
    (tmp_path / "copy.jsonl").write_bytes(one.read_bytes())
    given = {"candidate": [str(one), str(tmp_path / "copy.jsonl")], "control": [str(two)], "repeats": "paths"}
    d = judge(tmp_path / "out", validate(ImportParams, given | {"control": [str(two)]}, "test"), {}, "test")
    assert found(d)["cached_repeats"] == (1, True)
    given["candidate"] = [str(one)] * 2
    with pytest.raises(InputError, match="is given twice"):
        judge(tmp_path / "again", validate(ImportParams, given, "test"), {}, "test")
    assert not (tmp_path / "again").exists()


def test_one_log_under_both_arms_is_a_restated_run(tmp_path: Path) -> None:
    path = str(write_rows(tmp_path / "rows.jsonl", [row(i, i % 2) for i in range(40)]))
    params = validate(ImportParams, {"candidate": [path], "control": [path]}, "test")
    d = judge(tmp_path / "out", params, {"claim": "noninferiority", "margin": "0.1"}, "test")
    assert found(d)["restated_run"] == (1, True)
    assert not d["would_publish"]


def test_a_column_that_is_none_of_ours_can_not_be_mapped(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="--map: abort_reson: no column of ours"):
        judged(tmp_path, both(CLEAR), map={"abort_reson": "passed"})


def test_rows_of_other_arms_are_told_and_not_counted(tmp_path: Path) -> None:
    d = judged(tmp_path, both(CLEAR) + [row(i, 0, "candidate ") for i in range(7)])
    assert found(d)["other_arms"] == (7, False)
    assert "'candidate '" in next(f["found"] for f in d["findings_of_read"] if f["kind"] == "other_arms")
    assert d["counts"]["planned"] == 40


def test_no_manifest_can_be_edited_to_let_exclusions_pass(tmp_path: Path) -> None:
    from stages.contract.imported import Imported, imported_ids, read_imported

    judged(tmp_path, both(CLEAR))
    path = tmp_path / "out" / layout.MANIFEST
    value = json.loads(path.read_bytes())
    value["protocol"]["max_excluded_share"] = "1/20"
    made = Imported.model_validate(value)
    value["slice_id"], value["study_id"] = imported_ids(made.pack_sha256, made.protocol, made.arms)
    path.write_text(json.dumps(value))
    with pytest.raises(InputError, match="max_excluded_share"):
        read_imported(tmp_path / "out")


@pytest.mark.parametrize("named", ["another,one\n", "item-000,one\n"])
def test_a_file_of_strata_names_every_item_or_is_refused(tmp_path: Path, named: str) -> None:
    strata = tmp_path / "strata.csv"
    strata.write_text(f"item_id,stratum\n{named}")
    with pytest.raises(InputError, match="no stratum"):
        judged(tmp_path, both(CLEAR), strata=str(strata))


def test_a_decision_says_what_its_reader_was_told(tmp_path: Path) -> None:
    told: dict[str, Any] = {"threshold": "0.3", "map": {"passed": "score"}, "infra_errors": ["timed out"]}
    rows = [{**r, "score": r.pop("passed") / 2} for r in both(CLEAR)]
    d = judged(tmp_path, rows, **told)
    assert d["imported"]["said"] == told | {"threshold": "0.3"}
    report = (tmp_path / "out" / layout.REPORT_MD).read_text()
    assert all(f"read with `{key}`" in report for key in told)
    Decision.model_validate(d)


def test_no_protocol_makes_synthetic_rows_real(tmp_path: Path) -> None:
    d = judged(tmp_path, both(CLEAR, synthetic=True), {"withhold_on": []})
    assert found(d)["synthetic"] == (2 * len(CLEAR), True)
    assert "log_unsound" in d["reasons"]
    assert not d["would_publish"]
