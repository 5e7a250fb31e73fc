"""A ladder as a picture: each neighbouring pair's difference with its interval, those that separate filled."""

from __future__ import annotations

from typing import Any

from stages.render.figure import ACCENT, INK, PALE


def ladder_spec(made: dict[str, Any]) -> dict[str, Any]:
    """The Vega-Lite specification of a ladder, with all of its data inside. Pairs stand in the order of the ranks."""
    rows = [
        {
            "pair": f"{place}. {_short(pair['upper'])} over {_short(pair['lower'])} ({pair['common']})",
            "delta": pair["delta"],
            "lo": pair["lo"],
            "hi": pair["hi"],
            "what": "separate" if pair["separable"] else "not separate",
        }
        for place, pair in enumerate(made["pairs"], start=1)
        if pair["delta"] is not None
    ]
    order = [row["pair"] for row in rows]
    y = {"field": "pair", "type": "nominal", "sort": order, "title": None, "axis": {"labelLimit": 420}}
    x = {
        "field": "delta",
        "type": "quantitative",
        "title": "difference of pass rates on common items",
        "axis": {"format": "+.2f"},
    }
    colour = {
        "field": "what",
        "type": "nominal",
        "scale": {"domain": ["separate", "not separate"], "range": [ACCENT, PALE]},
        "legend": {"title": None, "orient": "top"},
    }
    apart = sum(pair["separable"] for pair in made["pairs"])
    return {
        "$schema": "https://vega.github.io/schema/vega-lite/v5.json",
        "title": {
            "text": "Which neighbouring ranks separate",
            "subtitle": [f"{apart} of {len(made['pairs'])} pairs do; behind each pair its common items."],
            "anchor": "start",
            "subtitleColor": INK,
        },
        "width": 420,
        "height": {"step": 22},
        "background": "white",
        "data": {"values": rows},
        "layer": [
            {"mark": {"type": "rule", "color": PALE, "strokeDash": [4, 4]}, "encoding": {"x": {"datum": 0}}},
            {
                "mark": {"type": "rule", "strokeWidth": 2},
                "encoding": {"y": y, "x": {**x, "field": "lo"}, "x2": {"field": "hi"}, "color": colour},
            },
            {"mark": {"type": "point", "filled": True, "size": 60}, "encoding": {"y": y, "x": x, "color": colour}},
        ],
    }


def _short(name: str) -> str:
    return name if len(name) <= 40 else name[:39] + "…"
