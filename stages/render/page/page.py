"""What the page shows, from the decision and the tables beside it. Every text is a stranger's and is escaped."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from stages.render.cells import number
from stages.render.page.figures import distribution, forest, sensitivity, session
from stages.render.page.flow import flow, flow_of
from stages.render.page.heat import COLOURS, heat

TEMPLATES = Path(__file__).parents[2] / "templates" / "report"
MOST_TRIALS, MOST_CELLS, MOST_FINDINGS, MOST_EXCLUSIONS = 2_500, 5_000, 1_000, 1_000
LONGEST = 2_000
ARMS = ("candidate", "control")
Rows = Sequence[Mapping[str, Any]]

_ARMS_ROWS = (
    ("passes of trials", "passes", "oracle_pass_rate"),
    ("passes inside the contract", "inside_contract_passes", "inside_contract_rate"),
    ("timeouts", "timeouts", "timeout_rate"),
    ("aborts", "aborts", "abort_rate"),
    ("assumptions, per 1,000 lines", "violations", "assumption_per_kloc"),
    ("beyond the three kinds, per 1,000 lines", "extended", "extended_per_kloc"),
    ("trials with interface drift", "interface_drift", "interface_drift_rate"),
    ("items whose repeats disagree", "flips", "flip_rate"),
)


@dataclass(frozen=True)
class Shown:
    """What the page is made of beside the decision; `shape` is the bootstrap's distribution in bars."""

    says: Mapping[str, str]
    changes: Mapping[str, str]
    exclusions: Rows
    findings: Rows
    pairs: pa.Table
    ledger: Rows = ()
    shape: Sequence[Mapping[str, float]] = field(default_factory=list)


def html_page(d: dict[str, Any], shown: Shown) -> str:
    """The page. The same decision and tables give the same bytes under one version of the drawing library."""
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    made = Environment(
        loader=FileSystemLoader(TEMPLATES),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=False,
        keep_trailing_newline=True,
        finalize=_harmless,
    )
    made.filters["number"] = _number
    made.policies["json.dumps_kwargs"] = {"sort_keys": True, "ensure_ascii": False}
    return made.get_template("page.html.j2").render(_context(d, shown))


def _harmless(value: Any) -> Any:
    """Control characters and marks of direction, shown as what they are; markup that we made stays."""
    if isinstance(value, str) and not hasattr(value, "__html__") and not value.isprintable():
        return "".join(c if c.isprintable() or c in "\n " else f"\\u{ord(c):04x}" for c in value)
    return value


def _number(value: float | None, form: str) -> str:
    return number(value, form)


def _context(d: dict[str, Any], shown: Shown) -> dict[str, Any]:
    benchmark = d["mode"] == "benchmark"
    pairs, boxes = _first(shown.pairs), flow_of(shown.pairs) if benchmark else {}
    items = pc.count_distinct(shown.pairs.column("item_id")).as_py()
    anchors = _anchors(shown.findings)
    picture, seen = heat([dict(row) for row in pairs]) if benchmark else ("", 0)
    return {
        "d": d,
        "benchmark": benchmark,
        "css": (TEMPLATES / "page.css").read_text(encoding="utf-8"),
        "js": (TEMPLATES / "page.js").read_text(encoding="utf-8"),
        "embedded": _embedded(d),
        "line": _line(d),
        "reasons": [
            {"id": r, "says": shown.says[r], "figures": _cut(d["reason_details"][r]), "change": shown.changes[r]}
            for r in d["reasons"]
        ],
        "study": _study(d),
        "disclosure": {key: value for key, value in d["disclosure"].items() if value},
        "flow": flow(d, boxes) if benchmark else None,
        "boxes": boxes,
        "forest": forest(d) if benchmark else None,
        "distribution": distribution(d, [dict(bar) for bar in shown.shape]) if benchmark else None,
        "sensitivity": sensitivity(d) if benchmark else None,
        "session": session(d) if benchmark else None,
        "heat": picture,
        "heat_words": f"{seen} of {items:,} items, a cell for each repeat. "
        "Hatched cells aren't counted: excluded, missing, or without their partner. Rows of two colours are flips.",
        "colours": COLOURS,
        "trials": [_trial(row, anchors) for row in pairs[:MOST_TRIALS]],
        "more_trials": max(0, shown.pairs.num_rows - MOST_TRIALS),
        "strata_names": json.dumps(sorted(pc.unique(shown.pairs.column("stratum")).to_pylist()), ensure_ascii=False),
        "arms": _arms(d) if benchmark and d["arms"] else [],
        "transcript": [] if benchmark else _transcript(shown.ledger),
        "densities": _densities(d),
        "findings": [_finding(row, number, anchors) for number, row in enumerate(shown.findings[:MOST_FINDINGS])],
        "more_findings": max(0, len(shown.findings) - MOST_FINDINGS),
        "exclusions": [_exclusion(row) for row in shown.exclusions[:MOST_EXCLUSIONS]],
        "read": _read(d),
        "protocol": sorted(_flat("", d["protocol"])),
    }


def _first(pairs: pa.Table) -> list[dict[str, Any]]:
    """The first pairs in the order of stratum, item and repeat: as many as heat map and table may show."""
    order = pc.sort_indices(pairs, sort_keys=[(name, "ascending") for name in ("stratum", "item_id", "repeat")])
    rows: list[dict[str, Any]] = pairs.take(order.slice(0, MOST_CELLS)).to_pylist()
    return rows


def _embedded(d: dict[str, Any]) -> str:
    """The decision, for whoever reads the page by program; nothing in it can end its element."""
    text = json.dumps(d, sort_keys=True, ensure_ascii=True)
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def _cut(text: object) -> str:
    said = str(text)
    return said if len(said) <= LONGEST else f"{said[:LONGEST]}…"


def _line(d: dict[str, Any]) -> str:
    """The verdict in one sentence, with all that its number depends on; of a refusal, what is withheld."""
    if d["headline"]:
        return str(d["headline"])
    c, s, slice_ = d["counts"], d["summary"], d["slice_id"][:16]
    head = f"Not published on slice {slice_} of {d['pack_id']} {d['pack_revision']}: {d['reason']}."
    if s is None:
        return f"{head} Study mode {d['mode']}: outcomes with their dates, no figures."
    if s["delta"] is None:
        figures = "no Δ"
    else:
        limits = "no interval" if s["lo"] is None else f"[{number(s['lo'])}, {number(s['hi'])}]"
        figures = f"Δ {number(s['delta'])} {limits}"
    said = [
        f"The withheld figures: {figures} over {s['items']} items",
        f"{c['excluded']} of {c['planned']} trials excluded, {c['missing']} missing",
        f"placebos failed {c['placebos_run'] - c['placebos_passed']}/{c['placebos_run']}",
        f"registration {d['registration']}",
    ]
    if s["mde80_planned_exceeds_minimum"]:
        said.append("could not reliably detect its own minimum")
    if d["departures"]:
        said.append(f"departs from the default protocol in {', '.join(d['departures'])}")
    return f"{head} {'; '.join(said)}."


def _study(d: dict[str, Any]) -> list[list[str]]:
    looks, isolation = d["looks"], d["isolation"]
    git, harness = d["ran_at"]["git"] or {}, d["ran_at"]["harness"] or {}
    rows = [
        ["slice", d["slice_id"]],
        ["pack", f"{d['pack_id']} {d['pack_revision']}"],
        ["started", d["started_at"] or "not said"],
        ["ran at", f"commit {git.get('head') or 'none'}; weighbridge {harness.get('version', 'unknown')}"],
        ["look", f"{looks['look']} (earlier: {len(looks['earlier'])})"],
        ["candidates tried on this slice", f"{', '.join(looks['candidates'])} (family {looks['family']})"],
        ["isolation", f"{', '.join(isolation['tiers']) or 'not known'}; {isolation['why']}"],
        ["registration", d["registration"]],
    ]
    line = d["lineage"]
    if line is not None:
        used = f"{line['reused']['count']} used before, {line['changed']['count']} of them with other bytes once"
        rows.append(["items", f"{line['fresh']} new, {used}, {line['left']['count']} left the pack"])
    aa = d["rehearsals"]["aa"]
    if aa is None:
        rows.append(["control against itself (A/A)", str(d["rehearsals"].get("aa_why"))])
    else:
        said = "crowned a copy of the control" if aa["would_publish"] else f"withheld ({aa['reason']})"
        rows.append(["control against itself (A/A)", f"{aa['at']}: Δ {number(aa['delta'])}, {said}"])
    return rows


def _arms(d: dict[str, Any]) -> list[list[str]]:
    one, two = d["arms"]["candidate"], d["arms"]["control"]
    rows = []
    for label, count, rate in _ARMS_ROWS:
        if count in one and count in two:
            rows.append([label, *(f"{_whole(a[count])} ({number(a.get(rate), '.3f')})" for a in (one, two))])
    for label, key, form in (
        ("median wall time [s], observational", "wall_s_median", ".2f"),
        ("median queue delay [ms]", "queue_ms_median", ".0f"),
        ("median share of the time budget", "budget_share_median", ".3f"),
    ):
        if key in one and key in two:
            rows.append([label, *(number(a[key], form) for a in (one, two))])
    return rows


def _whole(value: int | None) -> str:
    return "–" if value is None else f"{value:,}"


def _densities(d: dict[str, Any]) -> list[list[str]]:
    rows = []
    for name, block in (d["densities"] or {}).items():
        for arm in ARMS:
            a = block[arm]
            counts = ("invented_imports", "invented_env", "unauthorised_files", "violations", "generated_lines")
            rate = a["assumption_per_kloc"]
            shown = "case series" if rate is None else number(rate, ".1f")
            rows.append([f"{name}, {arm}", *(str(a[key]) for key in counts), shown])
    return rows


def _anchors(findings: Rows) -> dict[tuple[str, int, str], tuple[str, int]]:
    """(item, repeat, arm) to the anchor of its first finding on the page, and how many there are."""
    times = Counter((str(f["item_id"]), int(f["repeat"]), str(f["arm"])) for f in findings)
    made: dict[tuple[str, int, str], tuple[str, int]] = {}
    for row in findings[:MOST_FINDINGS]:
        key = (str(row["item_id"]), int(row["repeat"]), str(row["arm"]))
        made.setdefault(key, (f"f{len(made)}-{key[2]}", times[key]))
    return made


def _trial(row: Mapping[str, Any], anchors: Mapping[tuple[str, int, str], tuple[str, int]]) -> dict[str, Any]:
    rules = [f"{arm}: {row[f'{arm}_rule']}" for arm in ARMS if row[f"{arm}_rule"] is not None]
    found = []
    for arm in ARMS:
        held = anchors.get((str(row["item_id"]), int(row["repeat"]), arm))
        if held is not None:
            found.append((held[0], arm, held[1]))
    return {
        **{key: row[key] for key in ("item_id", "stratum", "repeat")},
        **{arm: row[f"{arm}_status"] for arm in ARMS},
        "counted": "yes" if row["kept"] else f"no ({', '.join(rules) or 'no partner'})",
        "findings": found,
    }


def _finding(
    row: Mapping[str, Any], number: int, anchors: Mapping[tuple[str, int, str], tuple[str, int]]
) -> dict[str, Any]:
    key = (str(row["item_id"]), int(row["repeat"]), str(row["arm"]))
    where = f"{row['path']}:{row['line']}" if row["line"] else row["path"]
    names = ("item_id", "arm", "repeat", "kind", "symbol", "counted", "seen")
    first = number == 0 or row["number"] == 0
    return {**{name: row[name] for name in names}, "where": where, "anchor": anchors[key][0] if first else None}


def _exclusion(row: Mapping[str, Any]) -> list[str]:
    said = row["evidence"] if row["accepted"] else f"refused: {row['refused_why']}"
    parts = [row[name] for name in ("rule", "scope", "item_id", "arm", "repeat", "time")]
    return [*("" if part is None else str(part) for part in parts), _cut(said)]


def _read(d: dict[str, Any]) -> list[list[str]]:
    held = d["protocol"].get("withhold_on", [])
    return [
        [f["kind"], "yes" if f["kind"] in held else "", str(f.get("count", "")), _cut(f.get("found", ""))]
        for f in d["findings_of_read"]
    ]


def _transcript(ledger: Rows) -> list[list[str]]:
    ordered = sorted(ledger, key=lambda r: (str(r["item_id"]), int(r["repeat"]), str(r["arm"])))
    names = ("item_id", "arm", "repeat", "status", "started_at")
    return [[str(row[name]) for name in names] for row in ordered[:MOST_TRIALS]]


def _flat(prefix: str, value: Any) -> list[list[str]]:
    if isinstance(value, dict) and value:
        return [row for key, below in value.items() for row in _flat(f"{prefix}.{key}".lstrip("."), below)]
    shown = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return [[prefix, shown]]
