"""The page: one file that fetches nothing, whose numbers are the decision's, and in which a stranger's text is text."""

from __future__ import annotations

import json
import re
from functools import reduce
from html.parser import HTMLParser
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from stages.contract import layout, parquet, tables
from stages.contract.importing import ImportParams
from stages.evidence.importing import judge
from stages.gate import REASONS, RULES, bootstrap_shape
from stages.render.page import html_page
from stages.render.page.flow import flow_of
from stages.render.page.page import Shown
from tests.gate.builder import Item, Study, clear_effect, make_study, outcomes, placebos
from tests.support.logs import row, write_rows

SAYS = {k: r.says for k, r in REASONS.items()} | {k: r.says for k, r in RULES.items()}
CHANGES = {k: r.change for k, r in REASONS.items()}
HOSTILE = "<script>alert(1)</script><img src=x onerror=alert(2)>\"'`{{7*7}}\u202eevil\x1b[31m</title></style>"
VOID = {"meta", "input", "br", "img", "link", "hr", "rect", "line", "path"}


class Page(HTMLParser):
    """What a reader of HTML sees: elements with their attributes, texts, data of the numbers."""

    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=True)
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.texts: list[str] = []
        self.numbers: dict[str, Any] = {}
        self.embedded = ""
        self._inside: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        found = dict(attrs)
        self.tags.append((tag, found))
        if "data-key" in found:
            value = json.loads(str(found["data-value"]))
            assert self.numbers.setdefault(str(found["data-key"]), value) == value
        self._inside.append("decision" if found.get("id") == "decision" else tag)

    def handle_endtag(self, tag: str) -> None:
        while self._inside and self._inside.pop() not in (tag, "decision"):
            pass

    def handle_data(self, data: str) -> None:
        if self._inside and self._inside[-1] == "decision":
            self.embedded += data
        elif self._inside and self._inside[-1] not in ("style", "script"):
            self.texts.append(data)


def shown_of(study: Study, findings: list[dict[str, Any]] | None = None) -> tuple[dict[str, Any], str]:
    """(decision, page) of a study in memory."""
    evidence = study.evidence()
    decision = study.decide()
    pairs, exclusions = study.tables()
    table = parquet.table(tables.PAIRS, pairs)
    made = Shown(SAYS, CHANGES, exclusions, findings or [], table, study.ledger, bootstrap_shape(evidence))
    return decision, html_page(decision, made)


def finding(item: str, number: int = 0, **more: Any) -> dict[str, Any]:
    kinds = {"kind": "import", "path": "a.py", "line": 3, "symbol": "redis", "how": "import", "counted": "article"}
    return {"item_id": item, "arm": "candidate", "repeat": 0, "number": number, **kinds, "seen": "static", **more}


SITUATIONS: dict[str, Study] = {}


def situations() -> dict[str, Study]:
    """Published, five refusals, a case series, a study without figures, many items and repeats."""
    if SITUATIONS:
        return SITUATIONS
    passed = make_study([*clear_effect()[:30], Item("placebo-0", "left", "P", "F", placebo=True)])
    excluded = make_study(clear_effect(3))
    for n in range(4):
        excluded.stamp(f"right-{n:03}", "control", 1, queue_ms=90_000.0)
    many = [Item(f"item-{n:03}", "abcde"[n % 5], "PFPPF" if n % 3 else "FFFPP", "FPFPF") for n in range(500)]
    SITUATIONS.update(
        {
            "published": make_study(clear_effect(3)),
            "placebo passed": passed,
            "too few items": make_study([*outcomes("left", 3, 0, 2), *placebos()]),
            "no difference": make_study([*outcomes("left", 5, 5, 5), *outcomes("right", 5, 5, 5), *placebos()]),
            "trials missing": make_study([*clear_effect(), Item("gone", "left", ".", "P")]),
            "exclusions": excluded,
            "case series": make_study([*outcomes("left", 12, 1, 8), *outcomes("few", 2, 0, 1), *placebos()]),
            "exploratory": make_study(clear_effect(), mode="exploratory"),
            "many": make_study([*many, *placebos(2, 5)]),
        }
    )
    return SITUATIONS


NAMES = (
    *("published", "placebo passed", "too few items", "no difference", "trials missing", "exclusions"),
    *("case series", "exploratory", "many"),
)


@pytest.mark.parametrize("name", NAMES)
def test_every_number_of_the_page_is_the_decisions(name: str) -> None:
    decision, text = shown_of(situations()[name])
    page = Page(text)
    assert json.loads(page.embedded) == decision
    for key, value in page.numbers.items():
        parts = key.split(".")
        stratum = ".".join(parts[1:-1])  # a stratum's name may hold dots
        path = [parts[0], stratum, parts[-1]] if parts[0] == "strata" else parts
        assert reduce(lambda held, part: held[part], path, decision) == value, key
    assert len(page.numbers) >= (0 if decision["mode"] == "exploratory" else 20)
    said = " ".join(page.texts)
    for reason in decision["reasons"]:
        assert reason in said
        assert SAYS[reason] in said
    assert ("Published" in said) is (decision["decision"] == "publish")
    assert len(text.encode()) < 2_000_000


@pytest.mark.parametrize("name", NAMES)
def test_the_page_fetches_nothing_and_every_picture_has_words(name: str) -> None:
    _, text = shown_of(situations()[name])
    page = Page(text)
    for tag, attrs in page.tags:
        assert tag not in ("link", "iframe", "object", "embed", "base", "form", "img", "image", "foreignobject"), tag
        for key, value in attrs.items():
            assert not key.startswith("on"), key
            if key in ("src", "href", "xlink:href", "action", "data"):
                assert str(value).startswith("#"), (tag, key, value)
    assert not re.search(
        r"url\((?!#)|@import|https?://(?!www\.w3\.org/)",
        re.sub(r'<script type="application/json".*?</script>', "", text, flags=re.S),
    )
    ids = [attrs["id"] for _, attrs in page.tags if "id" in attrs]
    assert len(ids) == len(set(ids))
    for tag, attrs in page.tags:
        if tag == "a":
            assert str(attrs["href"])[1:] in ids
    figures = [attrs for tag, attrs in page.tags if tag == "div" and "drawing" in str(attrs.get("class"))]
    assert all(attrs.get("aria-label") or name for attrs in figures)
    assert ("lang", "en") in {(k, v) for tag, attrs in page.tags if tag == "html" for k, v in attrs.items()}
    heads = [int(tag[1]) for tag, _ in page.tags if re.fullmatch(r"h[1-6]", tag)]
    assert heads[0] == 1
    assert heads.count(1) == 1
    assert all(after - before <= 1 for before, after in pairwise(heads))


def test_a_refusal_shows_no_number_without_saying_so() -> None:
    decision, text = shown_of(situations()["no difference"])
    page = Page(text)
    assert decision["decision"] == "withhold"
    head = text[text.index("<header") : text.index("</header>")]
    assert "Not published" in head
    assert "withheld figures" in head
    assert any("withheld" in one for one in page.texts if "Difference on slice" in one)


def test_an_exploratory_study_has_a_transcript_and_no_figure() -> None:
    _, text = shown_of(situations()["exploratory"])
    page = Page(text)
    assert "Transcript" in page.texts
    assert page.numbers == {} or not any(key.startswith(("summary", "strata")) for key in page.numbers)
    assert "<figure" not in text


@pytest.mark.parametrize("name", NAMES)
def test_the_flow_adds_up(name: str) -> None:
    study = situations()[name]
    pairs, _ = study.tables()
    counts = study.decide()["counts"]
    made = flow_of(parquet.table(tables.PAIRS, pairs))
    for flow in made.values():
        assert flow["planned"] == flow["missing"] + flow["excluded"] + flow["scored"]
        assert flow["scored"] == flow["kept"] + flow["unpaired"]
        assert sum(flow["rules"].values()) == flow["excluded"]
    for key in ("planned", "missing", "excluded", "scored"):
        assert sum(flow[key] for flow in made.values()) == counts[key]
    assert made["candidate"]["kept"] == counts["pairs_kept"]


def test_hostile_text_is_text_wherever_it_stands() -> None:
    study = make_study(clear_effect())
    evidence, decision = study.evidence(), study.decide()
    pairs, exclusions = study.tables()
    for number, one in enumerate(pairs):
        one |= {"item_id": HOSTILE, "stratum": HOSTILE, "repeat": number}
    gone = {"number": 1, "rule": "lost", "scope": "trial", "item_id": HOSTILE, "arm": "control", "repeat": 0}
    exclusions.append({**gone, "time": None, "evidence": HOSTILE, "accepted": False, "refused_why": HOSTILE})
    decision |= {"pack_id": HOSTILE, "headline": HOSTILE, "departures": [HOSTILE]}
    decision["candidate"] = {"name": HOSTILE, "version": HOSTILE}
    decision["disclosure"] = {HOSTILE: HOSTILE}
    decision["strata"] = {HOSTILE: next(iter(decision["strata"].values()))}
    found = [finding(HOSTILE, symbol=HOSTILE, path=HOSTILE, kind=HOSTILE)]
    table = parquet.table(tables.PAIRS, pairs)
    text = html_page(decision, Shown(SAYS, CHANGES, exclusions, found, table, study.ledger, bootstrap_shape(evidence)))
    page = Page(text)
    assert json.loads(page.embedded) == json.loads(json.dumps(decision))
    scripts = [attrs for tag, attrs in page.tags if tag == "script"]
    assert scripts == [{"type": "application/json", "id": "decision"}, {}]
    assert not any(tag == "img" or any(key.startswith("on") for key in attrs) for tag, attrs in page.tags)
    assert not {"\u202e", "\x1b"} & set(text)
    assert "49" not in text[text.index("<header") : text.index("</header>")]
    assert text.count("<title>") - text.count("</title>") == 0


def test_findings_are_linked_from_their_trials() -> None:
    study = situations()["published"]
    _, text = shown_of(study, [finding("left-000"), finding("left-000", 1, symbol="os"), finding("right-001")])
    page = Page(text)
    anchors = [attrs["id"] for tag, attrs in page.tags if tag == "tr" and "id" in attrs]
    assert anchors == ["f0-candidate", "f1-candidate"]
    links = [attrs["href"] for tag, attrs in page.tags if tag == "a" and str(attrs["href"]).startswith("#f")]
    assert links == ["#f0-candidate", "#f1-candidate"]
    assert "candidate 2" in page.texts


def test_the_same_study_gives_the_same_page() -> None:
    study = situations()["exclusions"]
    assert shown_of(study)[1] == shown_of(study)[1]


def test_a_study_of_logs_has_a_page(tmp_path: Path) -> None:
    paths = {
        arm: [str(write_rows(tmp_path / f"{arm}.jsonl", [row(i, i % 12 < most) for i in range(40)]))]
        for arm, most in {"candidate": 9, "control": 5}.items()
    }
    decision = judge(tmp_path / "out", ImportParams(**paths), {}, "test")
    page = Page((tmp_path / "out" / layout.REPORT_HTML).read_text())
    assert json.loads(page.embedded) == decision
    said = " ".join(page.texts)
    assert "What was found while the logs were read" in said or not decision["findings_of_read"]
    assert "no_session_evidence" in said
