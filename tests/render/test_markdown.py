"""The report: strata beside the summary, refusals clear, and nothing that others wrote can act in it."""

from __future__ import annotations

import html
import re
from typing import Any

import pytest

from stages.gate import REASONS, RULES
from stages.render import markdown
from stages.render.cells import code, number, p_value, text
from tests.gate.builder import Item, Study, clear_effect, make_study, outcomes, placebos

HOSTILE = [
    "<script>alert(1)</script>",
    "a | b | c",
    "line\nbreak\r\n# heading",
    "`code` ``` fence",
    "[link](https://evil.example)",
    "![image](x)",
    "https://evil.example/x",
    "www.evil.example",
    "someone@evil.example",
    "mailto:someone",
    "&lt;b&gt;",
    "\u202etxt.exe\u2066",
    "\x1b[31mred\x07\x00",
    "*bold* _it_ ~~gone~~",
    "$x^2$",
    "\\| \\`",
    "\u2028\u2029\x85 new lines",
    "- item",
    "a" * 5000,
]


def report(study: Study, findings: list[dict[str, Any]] | None = None, **changes: Any) -> str:
    says = {key: r.says for key, r in REASONS.items()} | {key: r.says for key, r in RULES.items()}
    d = study.decide() | changes
    return markdown(d, says, {k: r.change for k, r in REASONS.items()}, study.tables()[1], findings or [], study.ledger)


def rows(made: str, head: str) -> list[list[str]]:
    """Cells of the first table below a heading."""
    lines = made.split(f"## {head}")[1].split("\n")
    first = next(n for n, line in enumerate(lines) if line.startswith("|"))
    table = []
    for line in lines[first:]:
        if not line.startswith("|"):
            break
        table.append([cell.strip() for cell in line.strip("|").split(" | ")])
    return table[2:]


@pytest.mark.parametrize("raw", HOSTILE)
def test_text_is_one_line_without_markup_controls_or_links(raw: str) -> None:
    made = text(raw)
    assert made.isprintable()
    assert not set(made.replace("&#", "").replace(";", "")) & set("\\`*_{}[]<>|!~$")
    assert not re.search(r"&(?!#\d+;)", made)
    assert not re.search(r"://|www\.|@|mailto:", made)
    assert len(html.unescape(made)) <= 160
    seen = html.unescape(made)
    if len(raw) < 100 and raw.isprintable():
        assert seen == raw, "people see what was written"


def test_what_is_invisible_is_made_visible() -> None:
    assert html.unescape(text("a\u202eb\x1b\u200d\u00ad")) == "a\\u202eb\\u001b\\u200d\\u00ad"


def test_code_font_is_for_ids_alone() -> None:
    assert code("queue_delay") == "`queue_delay`"
    assert code("a`b") == "a&#96;b"
    assert code("a\n") == "a"


def test_numbers_are_printed_or_dashes() -> None:
    assert [number(None), number(0.0), number(-0.5)] == ["–", "+0.000", "-0.500"]
    assert [p_value(None), p_value(1e-12), p_value(0.0123456)] == ["–", "<1e-12", "0.0123456"]


def test_strata_stand_beside_the_summary_with_intervals_and_counts() -> None:
    made = report(make_study([*clear_effect()[:30], *outcomes("odd", 1, 2, 0), *placebos()], {"case_series": ["odd"]}))
    assert made.startswith("# Published: `publish_blocked_delta_only`\n\n**slice ")
    table = rows(made, "Strata")
    assert [row[0] for row in table] == ["left", "odd", "right", "**summary**"]
    left, odd, _, summary = table
    assert left[:3] == ["left", "15/15", "+0.600"]
    assert left[4:] == ["10 / 1 / 4", "10 / 1 / 4"]
    assert odd[1:4] == ["3/3", "case series: odd-000 +1/1, odd-001 -1/1, odd-002 -1/1", ""], "no rate"
    assert summary[1:3] == ["30", "+0.600"], "the summary's own items"
    assert re.fullmatch(r"\[\+0\.\d{3}, \+0\.\d{3}\]", summary[3])


def test_a_refusal_is_clear_and_says_what_would_have_to_change() -> None:
    study = make_study(outcomes("left", 3, 1, 4), order="sequential")
    made = report(study)
    assert made.startswith("# Withheld: `no_negative_control`")
    assert "is **not published**. The withheld figures: Δ +0.250" in made
    table = rows("## Reasons" + made, "Reasons")
    assert [row[0] for row in table] == [f"`{r}`" for r in study.decide()["reasons"]]
    assert all(row[3] for row in table)
    assert "departs from the default protocol in trial&#95;budget 1" in made
    assert "explain no_negative_control" in made


def test_a_study_that_is_no_benchmark_is_a_dated_transcript_without_any_rate() -> None:
    study = make_study(clear_effect(), mode="exploratory")
    study.stamp("left-003", "control", queue_ms=9000.0)
    made = report(study)
    assert made.startswith("# Withheld: `not_a_benchmark`")
    assert "## Transcript, 2026-03-01T09:00:00Z" in made
    table = rows(made, "Transcript")
    assert len(table) == len(study.ledger)
    assert table[0] == ["left-000", "candidate", "0", "passed", "2026-03-01T10:00:00Z"]
    prose = re.sub(r"`[^`]*`|&#\d+;|\d{4}-\d\d-\d\dT\S+", "", made)
    for sign in ("%", "Δ", "rate", "interval", "MDE", "p-value", "±"):
        assert sign not in prose, sign
    assert not re.search(r"(?<![\d.])[01]\.\d", prose.replace("old 1.0", "").replace("new 2.0", "")), "no share"


def test_a_long_transcript_is_cut_and_says_so() -> None:
    study = make_study([Item(f"i{n:03}", "left", "P", "F") for n in range(300)], mode="tutorial")
    made = report(study)
    assert len(rows(made, "Transcript")) == 500
    assert "100 more trials are in the ledger." in made


@pytest.mark.parametrize("raw", HOSTILE)
def test_nothing_that_others_wrote_can_act_in_the_report(raw: str) -> None:
    study = make_study(clear_effect())
    study.event("candidate_failed", "left-002")
    finding = {"arm": "candidate", "kind": "import", "counted": "article", "seen": "both"}
    d = study.decide()
    hostile = {
        "candidate": {"name": raw, "version": raw},
        "disclosure": {"operator": raw, "funder": None, "relation_to_arms": raw, "notes": raw},
        "isolation": {**d["isolation"], "why": raw},
        "looks": {**d["looks"], "candidates": [raw]},
        "departures": [raw],
        "reason_details": {"posthoc_exclusion": raw},
    }
    changes = dict.fromkeys(("rule", "evidence", "refused_why"), raw)
    exclusions = study.tables()[1]
    made = _made({**d, **hostile}, [{**r, **changes} for r in exclusions], {**finding, "symbol": raw})
    calm = dict.fromkeys(changes, "some words")
    plain = _made(
        _blank({**d, **hostile}, raw), [{**r, **calm} for r in exclusions], {**finding, "symbol": "some words"}
    )
    assert made.count("\n") == plain.count("\n")
    for sign in "|<>[]*!~$":
        assert made.count(sign) == plain.count(sign), sign
    assert made.count("`") == plain.count("`")
    assert not re.search(r"://|www\.|@evil|mailto:", made)
    assert made.replace("\n", "").isprintable()


def _made(d: dict[str, Any], exclusions: list[dict[str, Any]], finding: dict[str, Any]) -> str:
    says = {key: r.says for key, r in REASONS.items()}
    return markdown(d, says, {key: r.change for key, r in REASONS.items()}, exclusions, [finding], [])


def _blank(value: Any, raw: str) -> Any:
    if isinstance(value, dict):
        return {k: _blank(v, raw) for k, v in value.items()}
    if isinstance(value, list):
        return [_blank(v, raw) for v in value]
    return "some words" if value == raw else value


def test_density_and_drift_of_few_items_are_counts_and_of_many_rates() -> None:
    few = report(make_study(clear_effect()))
    many = report(make_study([*outcomes("left", 30, 1, 9), *placebos()]))
    line = next(line for line in few.split("\n") if line.startswith("| assumptions (per"))
    assert line == "| assumptions (per 1,000 lines) | 0 (case series) | 0 (case series) |"
    assert "| assumptions (per 1,000 lines) | 0 (0.0) | 0 (0.0) |" in many


def test_every_view_of_the_rule_is_printed() -> None:
    made = rows(report(make_study(clear_effect())), "The whole rule, run again")
    assert [row[0] for row in made] == [
        "as observed",
        "excluded fail",
        "beside fail",
        "worst candidate",
        "worst control",
        "timeouts pass",
        "hierarchical",
        "by order: candidate first",
        "by order: control first",
    ]
    assert {row[1] for row in made[:7]} == {"publish"}
