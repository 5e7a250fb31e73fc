"""Figures of the page: each a Vega-Lite specification with its data inside, a caption, words for it, and its table."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from stages.render.cells import interval, number
from stages.render.figure import ACCENT, INK, PALE, svg

SCHEMA = "https://vega.github.io/schema/vega-lite/v5.json"
WIDTH, STEP = 640, 26
CANDIDATE, CONTROL, BAND, WARM = ACCENT, "#8a5a00", "#e3ebf5", "#b3261e"
LONGEST = 40


@dataclass(frozen=True)
class Figure:
    """One picture. `words` say what it shows to who doesn't see it; `head` and `rows` are its data."""

    id: str
    title: str
    caption: str
    words: str
    spec: dict[str, Any]
    head: list[str]
    rows: list[list[str]]

    @property
    def svg(self) -> str:
        """The drawing for eyes alone: `words` and the table say the same to everybody else."""
        bare = re.sub(r"<[^>]*>", lambda tag: re.sub(r' (role|aria-[a-z]+)="[^"]*"', "", tag[0]), svg(self.spec))
        return bare.replace("<svg ", '<svg aria-hidden="true" focusable="false" ', 1)


def short(name: object) -> str:
    """A name that fits beside an axis; controls and marks of direction can't do harm in it."""
    raw = "".join(c if c.isprintable() else "·" for c in str(name))
    return raw if len(raw) <= LONGEST else raw[: LONGEST - 1] + "…"


def base(**more: Any) -> dict[str, Any]:
    """What all specifications share."""
    axis = {"labelColor": INK, "titleColor": INK, "labelFontSize": 12, "titleFontSize": 12, "grid": False}
    return {
        "$schema": SCHEMA,
        "width": WIDTH,
        "background": "white",
        "config": {
            "axis": axis,
            "legend": {"labelFontSize": 12, "title": None, "orient": "top"},
            "view": {"stroke": None},
        },
        **more,
    }


def forest(d: dict[str, Any]) -> Figure | None:
    """Each stratum and the summary with their intervals, the registered minimum as a band, zero as a line."""
    s, rows = d["summary"], []
    for name, row in (d["strata"] or {}).items():
        if row["case_series"]:
            rows += [
                {"name": short(name), "delta": case["gains"] / case["pairs"], "what": "case series: one item a point"}
                for case in row["series"] or []
                if case["pairs"]
            ]
        elif row["delta"] is not None:
            rows.append({"name": short(name), **_limits(row), "what": "stratum"})
    if s["delta"] is None and not rows:
        return None
    if s["delta"] is not None:
        rows.append({"name": "summary", **_limits(s), "what": "summary"})
    least = float(_fraction(d["protocol"]["min_detectable_effect"]))
    order = list(dict.fromkeys(row["name"] for row in rows))
    kinds = {"stratum": PALE, "summary": CANDIDATE, "case series: one item a point": WARM}
    kinds = {kind: shade for kind, shade in kinds.items() if any(row["what"] == kind for row in rows)}
    colour = {"field": "what", "type": "nominal", "scale": {"domain": list(kinds), "range": list(kinds.values())}}
    return Figure(
        "forest",
        "Difference of pass rates by stratum",
        f"Candidate minus control over kept items, with {_level(s)} intervals where there are any. The band is what is "
        f"smaller than the registered minimum of {least:g}; an interval that holds zero shows no winner.",
        "; ".join(f"{row['name']} {number(row['delta'])} {_words(row)}" for row in rows[-40:]),
        base(height={"step": STEP}, data={"values": rows}, layer=_intervals(order, colour, least)),
        ["stratum", "Δ", "interval", "kind"],
        [[row["name"], number(row["delta"]), _words(row), row["what"]] for row in rows],
    )


def sensitivity(d: dict[str, Any]) -> Figure | None:
    """The whole rule, run again on pairs that are counted otherwise."""
    block = d["sensitivity"]
    if not block:
        return None
    named = [(name.replace("_", " "), row) for name, row in block.items() if row and "decision" in row]
    named += [(f"{name.replace('_', ' ')} in the block", row) for name, row in (block["by_order"] or {}).items()]
    rows = [{"name": name, **_limits(row), "what": row["decision"]} for name, row in named if row["delta"] is not None]
    if not rows:
        return None
    kinds = {"publish": CANDIDATE, "withhold": PALE}
    colour = {"field": "what", "type": "nominal", "scale": {"domain": list(kinds), "range": list(kinds.values())}}
    least = float(_fraction(d["protocol"]["min_detectable_effect"]))
    return Figure(
        "sensitivity",
        "The whole rule, run again",
        "What would be decided if exclusions, timeouts or order were counted otherwise. Only as observed, excluded "
        "fail and beside fail can withhold.",
        "; ".join(f"{row['name']}: {row['what']}, {number(row['delta'])} {_words(row)}" for row in rows),
        base(height={"step": STEP}, data={"values": rows}, layer=_intervals([r["name"] for r in rows], colour, least)),
        ["counted", "Δ", "interval", "decision"],
        [[row["name"], number(row["delta"]), _words(row), row["what"]] for row in rows],
    )


def _intervals(order: list[str], colour: dict[str, Any], least: float) -> list[dict[str, Any]]:
    y = {"field": "name", "type": "nominal", "sort": order, "title": None, "axis": {"labelLimit": 260}}
    x = {"field": "delta", "type": "quantitative", "title": "difference of pass rates", "axis": {"format": "+.2f"}}
    return [
        {
            "data": {"values": [{"a": -least, "b": least}]},
            "mark": {"type": "rect", "color": BAND},
            "encoding": {"x": {"field": "a", "type": "quantitative"}, "x2": {"field": "b"}},
        },
        {"data": {"values": [{}]}, "mark": {"type": "rule", "color": INK}, "encoding": {"x": {"datum": 0}}},
        {
            "transform": [{"filter": "isValid(datum.lo)"}],
            "mark": {"type": "rule", "strokeWidth": 2},
            "encoding": {"y": y, "x": {**x, "field": "lo"}, "x2": {"field": "hi"}, "color": colour},
        },
        {"mark": {"type": "point", "filled": True, "size": 70}, "encoding": {"y": y, "x": x, "color": colour}},
    ]


def distribution(d: dict[str, Any], shape: list[dict[str, float]]) -> Figure | None:
    """The exact bootstrap distribution in bars, those beyond the limits marked."""
    s = d["summary"]
    if not shape or s["lo"] is None:
        return None
    rows = [{**bar, "what": "tail" if bar["to"] <= s["lo"] or bar["from"] >= s["hi"] else "inside"} for bar in shape]
    colour = {
        "field": "what",
        "type": "nominal",
        "scale": {"domain": ["inside", "tail"], "range": ["#9db8dc", WARM]},
    }
    x = {"field": "from", "type": "quantitative", "title": "difference of pass rates", "axis": {"format": "+.2f"}}
    y = {"field": "mass", "type": "quantitative", "title": "probability", "axis": {"format": ".2f"}}
    marks = [{"at": s["lo"]}, {"at": s["hi"]}]
    return Figure(
        "distribution",
        "Exact bootstrap distribution of the summary",
        f"Computed, not drawn ({s['kind']}): what Δ would be if items were drawn again within their strata. Tails are "
        f"read at {number(s['tail_level'], '.3g')} each, which gives the limits that are marked.",
        f"The summary {number(s['delta'])} with limits {number(s['lo'])} and {number(s['hi'])}.",
        base(
            height=180,
            layer=[
                {
                    "data": {"values": rows},
                    "mark": "bar",
                    "encoding": {"x": x, "x2": {"field": "to"}, "y": y, "y2": {"datum": 0}, "color": colour},
                },
                {
                    "data": {"values": marks},
                    "mark": {"type": "rule", "color": INK, "strokeDash": [4, 3]},
                    "encoding": {"x": {"field": "at", "type": "quantitative"}},
                },
                {"data": {"values": [{}]}, "mark": {"type": "rule", "color": INK}, "encoding": {"x": {"datum": 0}}},
            ],
        ),
        ["from", "to", "probability", "where"],
        [[f"{r['from']:+.4f}", f"{r['to']:+.4f}", f"{r['mass']:.4g}", str(r["what"])] for r in rows],
    )


def session(d: dict[str, Any]) -> Figure | None:
    """Queue delay over the campaign, both arms, the envelope's limit as a line, spans with exclusions marked."""
    block = d.get("session")
    points = [p for p in (block or {}).get("over_time", []) if p["queue_ms_median"] is not None]
    if not points:
        return None
    most = d["protocol"]["envelope"].get("max_queue_ms")
    rows = [{**p, "minute": p["from_s"] / 60, "excludes": p["excluded"] > 0} for p in points]
    arms = {"candidate": CANDIDATE, "control": CONTROL}
    colour = {"field": "arm", "type": "nominal", "scale": {"domain": list(arms), "range": list(arms.values())}}
    x = {"field": "minute", "type": "quantitative", "title": "minutes since the first trial"}
    y = {"field": "queue_ms_median", "type": "quantitative", "title": "queue delay, median [ms]"}
    layer: list[dict[str, Any]] = [
        {"data": {"values": rows}, "mark": "line", "encoding": {"x": x, "y": y, "color": colour}},
        {
            "data": {"values": rows},
            "mark": {"type": "point", "size": 60, "filled": True},
            "encoding": {
                "x": x,
                "y": y,
                "color": colour,
                "shape": {"field": "excludes", "type": "nominal", "legend": None},
            },
        },
    ]
    if most is not None:
        limit = [{"most": float(_fraction(most))}]
        layer.append(
            {
                "data": {"values": limit},
                "mark": {"type": "rule", "color": WARM, "strokeDash": [4, 3]},
                "encoding": {"y": {"field": "most", "type": "quantitative"}},
            }
        )
    return Figure(
        "session",
        "Queue delay over the campaign",
        "Median of each arm in equal spans of time" + (f"; the line is the envelope's {most} ms" if most else "") + ".",
        f"{len(rows)} spans, between {min(p['queue_ms_median'] for p in rows):g} and "
        f"{max(p['queue_ms_median'] for p in rows):g} ms.",
        base(height=180, layer=layer),
        ["arm", "from [s]", "trials", "queue delay, median [ms]", "largest [ms]", "excluded"],
        [
            [
                p["arm"],
                f"{p['from_s']:g}",
                str(p["trials"]),
                f"{p['queue_ms_median']:g}",
                f"{p['queue_ms_max']:g}",
                str(p["excluded"]),
            ]
            for p in points
        ],
    )


def _limits(row: dict[str, Any]) -> dict[str, Any]:
    return {"delta": row["delta"], "lo": row["lo"], "hi": row["hi"]}


def _words(row: dict[str, Any]) -> str:
    return interval(row) if row.get("lo") is not None else "no interval"


def _level(summary: dict[str, Any]) -> str:
    return f"{100 * (1 - summary['alpha_spent']):.6g} %"


def _fraction(value: object) -> float:
    top, _, bottom = str(value).partition("/")
    return float(top) / float(bottom or 1)
