"""Power against effect as a picture: a Vega-Lite specification, and the SVG that it becomes without a network."""

from __future__ import annotations

import hashlib
import json
import re
import textwrap
from typing import Any

INK, ACCENT, PALE = "#222222", "#1f5fa8", "#767676"


def power_spec(plan: dict[str, Any]) -> dict[str, Any]:
    """The Vega-Lite specification of a plan's power curve, with all of its data inside."""
    d, base = plan["design"], -(plan["design"]["margin"] or 0.0)
    curve = [{"effect": row["effect"], "power": 100 * row["power"]} for row in plan["curve"]]
    marks = [{"effect": base + (d["margin"] or d["minimum"]), "what": _named(d)}]
    target = 100 * plan["target_power"]
    if plan["mde"] is not None:
        marks.append({"effect": base + plan["mde"], "what": f"MDE{target:.3g} {plan['mde']:.3f}"})
    left, right = (end([0.0, *(row["effect"] for row in [*curve, *marks])]) for end in (min, max))
    model = plan["model"]
    caption = (
        f"Spread: {model['spread']}. Curve: {model['power']}. Alpha spent {d['alpha_spent']:g} (look {d['look']}, "
        f"family of {d['family']})."
    )
    if d["margin"] is None:
        caption += " What is published at a true difference of 0 is published falsely."
    x = {
        "field": "effect",
        "type": "quantitative",
        "title": "true difference of pass rates (candidate minus control, proportion)",
        "scale": {
            "domain": [min(base, 0.0) if base else min([0.0, *(r["effect"] for r in curve)]), right],
            "nice": False,
        },
        "axis": {"format": "+.2f", "grid": False, "tickCount": 8},
    }
    y = {
        "field": "power",
        "type": "quantitative",
        "title": "chance of publishing (%)",
        "scale": {"domain": [0, 100]},
        "axis": {"values": [0, 20, 40, 60, 80, 100]},
    }
    line: dict[str, Any] = {"type": "line", "color": ACCENT, "strokeWidth": 2, "clip": True}
    if plan["simulated"]:
        line["point"] = {"color": ACCENT}
    layers: list[dict[str, Any]] = [
        {
            "data": {"values": [{"power": target, "what": f"{target:.3g} %"}]},
            "mark": {"type": "rule", "color": PALE, "strokeDash": [4, 4]},
            "encoding": {"y": y},
        },
        {
            "data": {"values": marks},
            "mark": {"type": "rule", "color": PALE},
            "encoding": {"x": x},
        },
        *(
            _label(mark, 95 if place == 0 else 5, mark["effect"] > left + 0.7 * (right - left), x, y)
            for place, mark in enumerate(marks)
        ),
        {"data": {"values": curve}, "mark": line, "encoding": {"x": x, "y": y}},
    ]
    repeats = "1 repeat" if d["repeats"] == 1 else f"{d['repeats']} repeats"
    strata = f"{len(d['weights'])} {'strata' if len(d['weights']) > 1 else 'stratum'}"
    return {
        "$schema": "https://vega.github.io/schema/vega-lite/v5.json",
        "title": {
            "text": f"How often {d['items']} items in {strata}, {repeats} each, would be published",
            "subtitle": textwrap.wrap(caption, 92),
            "anchor": "start",
            "subtitleColor": INK,
            "offset": 12,
        },
        "width": 520,
        "height": 300,
        "background": "white",
        "layer": layers,
    }


def svg(spec: dict[str, Any]) -> str:
    """The specification as SVG; nothing is fetched.

    The library numbers its ids through the life of a process: they are named after the specification instead, so that
    the bytes are the same each time and several pictures can stand in one page.
    """
    import vl_convert  # a whole JavaScript engine: only where a picture is drawn

    made: str = vl_convert.vegalite_to_svg(spec)
    name = hashlib.sha256(json.dumps(spec, sort_keys=True).encode()).hexdigest()[:8]
    ids: dict[str, str] = {}

    def renamed(found: re.Match[str]) -> str:
        return found[1] + ids.setdefault(found[2], f"p{name}-{len(ids)}") + found[3]

    return re.sub(r'(\bid="|url\(#|href="#)([\w-]+)("|\))', renamed, made)


def _label(mark: dict[str, Any], at: float, near_end: bool, x: dict[str, Any], y: dict[str, Any]) -> dict[str, Any]:
    """The name of a vertical rule, on the side of it that has room."""
    return {
        "data": {"values": [{**mark, "at": at}]},
        "mark": {"type": "text", "align": "right" if near_end else "left", "dx": -4 if near_end else 4, "color": INK},
        "encoding": {"x": x, "y": {**y, "field": "at"}, "text": {"field": "what"}},
    }


def _named(d: dict[str, Any]) -> str:
    return (
        f"zero, the margin of {d['margin']:g} above"
        if d["margin"] is not None
        else f"registered minimum {d['minimum']:g}"
    )
