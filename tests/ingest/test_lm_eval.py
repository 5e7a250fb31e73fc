from __future__ import annotations

import json
import os
import shutil
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from stages.ingest.lm_eval import FORMAT, sniff
from tests.ingest.foreign import SECRET, holds_no, kinds, read, real, refused, survives, variants

TIME = "2026-02-01T10-00-00.123456"


def sample(number: int, value: Any, filter_: str = "none", metric: str = "exact_match", **other: Any) -> dict[str, Any]:
    return {
        "doc_id": number,
        "doc": {"question": "Which way?", "topic": "north" if number % 2 else "south"},
        "target": "up",
        "arguments": {"gen_args_0": {"arg_0": "Which way?"}},
        "resps": [["up"]],
        "filtered_resps": ["up"],
        "filter": filter_,
        "metrics": [metric],
        "doc_hash": f"hash-{number}",
        metric: value,
    } | other


def run(folder: Path, rows: list[dict[str, Any]], claim: float | None = None, time: str = TIME, **other: Any) -> Path:
    """Write one run of the task `ways`: its samples and results."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"samples_ways_{time}.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    if claim is not None:
        results = {
            "results": {"ways": {"alias": "ways", "exact_match,none": claim}},
            "configs": {"ways": {"generation_kwargs": {"temperature": 0.0}}},
            "versions": {"ways": 2.0},
            "n-shot": {"ways": 3},
            "higher_is_better": {"ways": {"exact_match": True}},
            "n-samples": {"ways": {"original": 50, "effective": len(rows)}},
            "config": {"model": "hf", "model_args": f"pretrained=acme/large,api_key={SECRET}"},
            "model_name": "acme/large",
            "lm_eval_version": "0.4.9",
            "date": 1770000000.25,
        }
        (folder / f"results_{time}.json").write_text(json.dumps(results | other))
    return path


def test_one_row_per_document(tmp_path: Path) -> None:
    run(tmp_path, [sample(0, 1.0), sample(1, 0.0), sample(2, True)], 2 / 3)
    rows, reading, notes = read(FORMAT, tmp_path)
    assert [(r["item_id"], r["status"], r["repeat"], r["line"]) for r in rows] == [
        ("ways/0", "passed", 0, 1),
        ("ways/1", "failed", 0, 2),
        ("ways/2", "passed", 0, 3),
    ]
    assert {(r["stratum"], r["arm"], r["evidence"], r["started_at"]) for r in rows} == {
        ("ways", "acme/large", None, None)
    }
    assert [r["item_digest"] for r in rows] == ["hash-0", "hash-1", "hash-2"]
    facts = reading.facts["acme/large"]
    assert (facts["harness"], facts["temperature"]) == ("lm-eval 0.4.9", "0")
    assert facts["oracle"] == "ways version 2.0 n-shot 3 exact_match,none"
    assert not notes.findings
    holds_no(reading, notes, SECRET, "Which way")


def test_filters_double_the_rows_and_one_is_chosen(tmp_path: Path) -> None:
    rows = [sample(i, v, f) for i in range(3) for f, v in (("strict", 0.0), ("flexible", 1.0))]
    run(tmp_path, rows)
    assert "2 filters: strict, flexible" in refused(FORMAT, tmp_path)
    assert [r["status"] for r in read(FORMAT, tmp_path, filter="strict")[0]] == ["failed"] * 3
    assert [r["line"] for r in read(FORMAT, tmp_path, filter="flexible")[0]] == [2, 4, 6]
    assert "no metric lenient" in refused(FORMAT, tmp_path, filter="lenient")


def test_metrics_are_chosen_too(tmp_path: Path) -> None:
    both = [sample(0, 0.0, metrics=["acc", "acc_norm"], acc=1.0, acc_norm=0.0)]
    run(tmp_path, both)
    assert "--filter" in refused(FORMAT, tmp_path)
    assert read(FORMAT, tmp_path, filter="acc")[0][0]["status"] == "passed"
    assert read(FORMAT, tmp_path, filter="acc_norm,none")[0][0]["status"] == "failed"
    older = {k: v for k, v in sample(0, 1.0).items() if k not in ("metrics", "filter")}
    run(tmp_path, [older])
    assert read(FORMAT, tmp_path)[0][0]["status"] == "passed"


def test_a_claim_that_the_rows_don_t_give_is_noted(tmp_path: Path) -> None:
    run(tmp_path, [sample(0, 1.0), sample(1, 0.0)], 0.75)
    assert [f.found for f in read(FORMAT, tmp_path)[2].findings] == ["exact_match,none is 0.75, the rows give 0.5"]
    run(tmp_path, [sample(0, 1.0)], 1.0, **{"n-samples": {"ways": {"original": 2, "effective": 2}}})
    assert [f.found for f in read(FORMAT, tmp_path)[2].findings] == ["its results claim 2 samples, the rows are 1"]


def test_a_metric_that_isn_t_a_mean_has_no_claim_to_check(tmp_path: Path) -> None:
    listed = {"configs": {"ways": {"metric_list": [{"metric": "exact_match", "aggregation": "median"}]}}}
    run(tmp_path, [sample(0, 1.0), sample(1, 0.0)], 0.75, **listed)
    assert kinds(read(FORMAT, tmp_path)[2]) == []


def test_a_metric_of_which_less_is_better_is_refused(tmp_path: Path) -> None:
    run(tmp_path, [sample(0, 1.0)], 1.0, higher_is_better={"ways": {"exact_match": False}})
    assert "less of exact_match" in refused(FORMAT, tmp_path)


def test_nan_fractions_and_scores_out_of_range(tmp_path: Path) -> None:
    run(tmp_path, [sample(0, float("nan")), sample(1, 3.0), sample(2, 1.0), sample(3, None)])
    rows, _, notes = read(FORMAT, tmp_path)
    assert [r["status"] for r in rows] == [None, None, "passed", None]
    assert [(f.kind, f.items) for f in notes.findings] == [
        ("not_scored", ("ways/0", "ways/3")),
        ("score_out_of_range", ("ways/1",)),
    ]
    run(tmp_path, [sample(0, 0.25)])
    assert "--threshold" in refused(FORMAT, tmp_path)
    assert read(FORMAT, tmp_path, threshold="1/4")[0][0]["status"] == "passed"


def test_runs_are_repeats_and_a_copied_file_is_none(tmp_path: Path) -> None:
    run(tmp_path / "m", [sample(0, 1.0)], 1.0)
    run(tmp_path / "m", [sample(0, 1.0)], 1.0, time="2026-02-01T11-00-00.000000")
    shutil.copytree(tmp_path / "m", tmp_path / "m/old")
    rows, _, notes = read(FORMAT, tmp_path)
    assert [r["repeat"] for r in rows] == [0, 1]
    assert [(f.kind, f.count) for f in notes.findings] == [("nested_copies", 2)]


def test_a_row_written_twice_keeps_its_number(tmp_path: Path) -> None:
    run(tmp_path, [sample(0, 1.0), sample(0, 0.0)])
    assert [(r["repeat"], r["status"]) for r in read(FORMAT, tmp_path)[0]] == [(0, "passed"), (0, "failed")]


def test_a_torn_end_is_noted(tmp_path: Path) -> None:
    path = run(tmp_path, [sample(i, 1.0) for i in range(3)])
    path.write_bytes(path.read_bytes()[:-20])
    rows, _, notes = read(FORMAT, tmp_path)
    assert (len(rows), kinds(notes)) == (2, ["torn_line"])


def test_a_task_without_samples_is_named(tmp_path: Path) -> None:
    run(tmp_path, [sample(0, 1.0)], 1.0, **{"n-samples": {"ways": {"effective": 1}, "means": {"effective": 9}}})
    (found,) = read(FORMAT, tmp_path)[2].findings
    assert (found.kind, found.items) == ("unfinished_run", ("means",))


def test_strata_come_from_a_field(tmp_path: Path) -> None:
    run(tmp_path, [sample(0, 1.0), sample(1, 1.0)])
    assert [r["stratum"] for r in read(FORMAT, tmp_path, strata="doc.topic")[0]] == ["south", "north"]


def test_results_stand_for_the_samples_beside_them(tmp_path: Path) -> None:
    path = run(tmp_path, [sample(0, 1.0)], 1.0)
    run(tmp_path, [sample(0, 0.0)], 0.0, time="2026-02-01T11-00-00.000000")
    results = tmp_path / f"results_{TIME}.json"
    assert [r["status"] for r in read(FORMAT, results)[0]] == ["passed"]
    assert all(map(sniff, (path, results, tmp_path)))
    (tmp_path / "samples_x.jsonl").write_text('{"item_id": 1}\n')
    assert not any(map(sniff, (tmp_path / "samples_x.jsonl", tmp_path / "none")))


GOOD = json.dumps(sample(0, 1.0)).encode() + b"\n"
BAD = {
    "empty": b"",
    "blank": b"\n \n",
    "cut": b'{"doc_id": 0, "doc"\n' + GOOD,
    "middle": GOOD + b"{oops}\n" + GOOD,
    "only": b'{"doc_id": 0',
    "list": b"[1]\n",
    "twice": b'{"doc_id": 0, "doc_id": 1}\n',
    "bom": b"\xef\xbb\xbf" + GOOD,
    "latin": GOOD + b'{"doc_id": "\xe9"}\n' + GOOD,
    "deep": b"[" * 100_000 + b"\n",
    "huge": b'{"doc_id": ' + b"9" * 5000 + b"}\n",
    "noid": GOOD.replace(b'"doc_id": 0', b'"doc_id": null'),
    "id": GOOD.replace(b'"doc_id": 0', b'"doc_id": 1.5'),
    "control": GOOD.replace(b'"doc_id": 0', b'"doc_id": "a\\u0007"'),
    "filter": GOOD.replace(b'"filter": "none"', b'"filter": ["none"]'),
    "metrics": GOOD.replace(b'["exact_match"]', b'"exact_match"'),
    "nometric": GOOD.replace(b'["exact_match"]', b"[]"),
    "text": GOOD.replace(b'"exact_match": 1.0', b'"exact_match": "1"'),
    "pair": GOOD.replace(b'"exact_match": 1.0', b'"exact_match": [1, 2]'),
    "hash": GOOD.replace(b'"hash-0"', b"[17]"),
}


@pytest.mark.parametrize("case", sorted(BAD))
def test_a_malformed_log_is_refused_in_a_line(tmp_path: Path, case: str) -> None:
    path = tmp_path / f"samples_ways_{TIME}.jsonl"
    path.write_bytes(BAD[case])
    refused(FORMAT, path)
    refused(FORMAT, tmp_path)


@pytest.mark.parametrize(
    "text",
    ["", "[]", "{", '{"results": []}', '{"results": {"ways": 1}}', '{"configs": {"ways": []}}', '{"model_name": 3}'],
)
def test_malformed_results_are_refused(tmp_path: Path, text: str) -> None:
    run(tmp_path, [sample(0, 1.0)])
    (tmp_path / f"results_{TIME}.json").write_text(text)
    refused(FORMAT, tmp_path)


def test_what_isn_t_there_is_refused(tmp_path: Path) -> None:
    refused(FORMAT, tmp_path / "none")
    assert "--log_samples" in refused(FORMAT, tmp_path)
    os.symlink("/etc/passwd", tmp_path / f"samples_ways_{TIME}.jsonl")
    assert "link" in refused(FORMAT, tmp_path)


def test_wrong_types_anywhere_give_a_reading_or_a_refusal(tmp_path: Path) -> None:
    listed = {"configs": {"ways": {"metric_list": [{"metric": "exact_match", "aggregation": "mean"}]}}}
    path = run(tmp_path, [sample(0, 1.0)], 1.0, **listed)
    for odd in variants(sample(0, 1.0)):
        path.write_text(json.dumps(odd) + "\n")
        survives(FORMAT, tmp_path)
    run(tmp_path, [sample(0, 1.0)])
    results = tmp_path / f"results_{TIME}.json"
    for odd in variants(json.loads(results.read_text())):
        results.write_text(json.dumps(odd))
        survives(FORMAT, tmp_path)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(at=st.integers(0, 2000), byte=st.integers(0, 255), cut=st.booleans())
def test_damage_gives_a_reading_or_a_refusal(tmp_path: Path, at: int, byte: int, cut: bool) -> None:
    data = GOOD * 3
    at %= len(data)
    path = tmp_path / "samples_ways.jsonl"
    path.write_bytes(data[:at] if cut else data[:at] + bytes([byte]) + data[at + 1 :])
    survives(FORMAT, path)


def test_real_samples_read_as_their_files_say() -> None:
    # wc -l: 6 lines in each of three files; `grep -c '"exact_match": 0.0'` gives 6 in each; results claim 0.0 of 6
    folder = real("lm_eval_made")
    rows, reading, notes = read(FORMAT, folder / "out_run1")
    assert [(r["item_id"], r["repeat"], r["status"]) for r in rows] == [
        (f"toyqa/{i}", k, "failed") for k in range(2) for i in range(6)
    ]
    assert reading.facts["hpbhprii"]["harness"] == "lm-eval 0.4.13"
    assert not notes.findings
    assert len(read(FORMAT, folder / "out_run2")[0]) == 6
    assert {r["stratum"] for r in read(FORMAT, folder / "out_run2", strata="doc.topic")[0]} >= {"sum", "product"}
