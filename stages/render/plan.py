"""A plan and a calibration as plain text of 80 columns, each figure with the model that it comes from."""

from __future__ import annotations

import textwrap
from typing import Any

WIDTH = 80
MOST_LABELS = 20


def plan_text(plan: dict[str, Any]) -> str:
    """What `weighbridge plan` prints."""
    parts = [_cannot(plan["cannot_publish"]), _design(plan["design"])]
    if plan["pilot"]:
        parts.append(_pilot(plan["pilot"]))
    parts += [_detectable(plan), _effects(plan), _models(plan["model"])]
    return "\n".join(part for part in parts if part)


def calibration_text(made: dict[str, Any]) -> str:
    """What `weighbridge calibrate` prints."""
    scenarios = [made["null"], *made["effects"]]
    head = [*(("A/A" if not s["effect"] else f"{s['effect']:+.3f}") for s in scenarios)]
    if made["design"]["margin"] is not None:
        head[0] = f"{made['null']['effect']:+.3f}"
    rows: list[list[str]] = [
        ["published (first column: falsely)", *(_share(s.get("power") or s["false_publication"]) for s in scenarios)],
        ["published the wrong way", *(_share(s["wrong_direction"]) for s in scenarios)],
        ["interval covers the truth", *(_share(s["coverage"]) for s in scenarios)],
        ["published differences, times the true", *(_ratio(s["exaggeration"]) for s in scenarios)],
    ]
    reasons = sorted({r for s in scenarios for r in s["withheld"]}, key=lambda r: (-_most(scenarios, r), r))
    costs = [[reason, *(_share(s["alone"].get(reason)) for s in scenarios)] for reason in reasons]
    parts = [
        _design(made["design"]),
        f"{made['datasets']:,} data sets of each, seed {made['seed']}; ± is one Monte Carlo standard error\n",
        _columns(["true difference", *head], rows),
    ]
    if costs:
        parts.append(_columns(["withheld by this reason alone", *head], costs))
    parts.append(
        _wrapped(
            f"Model: {made['model']}; every data set goes through the publish rule itself. The harness (placebos, "
            "isolation, stamps) isn't simulated."
        )
    )
    return "\n".join(parts)


def _most(scenarios: list[dict[str, Any]], reason: str) -> float:
    return max((s["alone"][reason]["value"] for s in scenarios if reason in s["alone"]), default=0.0)


def _cannot(lines: list[str]) -> str:
    return "".join(_wrapped(f"This design can't publish: {line}.") for line in lines)


def _design(d: dict[str, Any]) -> str:
    units = f" in {d['units']} units (clusters)" if d["clustered"] else ""
    strata = f"{len(d['weights'])} {'strata' if len(d['weights']) > 1 else 'stratum'}"
    spent = f"alpha {d['alpha']:g}, of which look {d['look']} and a family of {d['family']} spend {d['alpha_spent']:g}"
    aim = f"smallest effect worth publishing {d['minimum']:g}"
    if d["margin"] is not None:
        aim = f"noninferiority by a margin of {d['margin']:g}"
    text = f"{d['source']}: {d['items']} items{units}, {strata}, {d['repeats']} repeats; {spent}; {aim}."
    rows = []
    for label, items in list(d["labels"].items())[:MOST_LABELS]:
        into = d["merges"].get(label, label)
        weight = "case series" if into in d["case_series"] else d["weights"][into]
        rows.append([label if into == label else f"{label} (in {into})", str(items), weight])
    more = len(d["labels"]) - len(rows)
    tail = f"and {more} more\n" if more else ""
    return _wrapped(text) + "\n" + _columns(["stratum", "items", "weight"], rows) + tail


def _pilot(p: dict[str, Any]) -> str:
    ends = " to ".join("none" if p[key] is None else f"{p[key]:.3f}" for key in ("mde80_lo", "mde80_hi"))
    known = f"noise of a pair omega {p['omega_squared'] ** 0.5:.3f}" if p["omega_squared"] is not None else ""
    text = (
        f"Pilot of {p['items']} items: the control passes {p['p']:.3f}; sd of the items' differences {p['sd']:.3f} "
        f"(95 % {p['sd_lo']:.3f} to {p['sd_hi']:.3f}, for normal values), which makes the detectable effect {ends}; "
    )
    if known:
        icc = "unknown" if p["icc"] is None else f"{p['icc']:.2f}"
        text += f"{known}, ICC {icc} (from {p['repeated']} items), true differences tau {p['tau_squared'] ** 0.5:.3f}."
    else:
        text += "one repeat each, so noise and true differences can't be told apart: repeats are taken to buy nothing."
    return _wrapped(text)


def _detectable(plan: dict[str, Any]) -> str:
    from_margin = plan["design"]["margin"] is not None
    rows = [["detected 4 times in 5 (MDE80), closed form", _effect(plan["mde80"])]]
    if not plan["simulated"]:
        rows.append(["published 4 times in 5, normal model of the rule", _effect(plan["mde80_by_power"])])
    rows.append(["MDE80 as freeze records it (tau = .6 |effect|)", _effect(plan["mde80_freeze"])])
    return _columns(["detectable effect" + (", from minus the margin" if from_margin else ""), ""], rows)


def _effect(value: float | None) -> str:
    return "none" if value is None else f"{value:.3f}"


def _effects(plan: dict[str, Any]) -> str:
    costs = any("best_repeats" in row for row in plan["effects"])
    head = ["true effect", "published", "inflated", "wrong way", "items", "repeats", *(["best k"] if costs else [])]
    rows: list[list[str]] = []
    notes: dict[str, list[str]] = {}
    for row in plan["effects"]:
        error = "" if row["power_error"] is None else f" ±{100 * row['power_error']:.1f}"
        inflated = "–" if row["exaggeration"] is None else f"×{row['exaggeration']:.2f}"
        cells = [f"{row['effect']:+.3f}", f"{100 * row['power']:.1f} %{error}", inflated]
        cells += [f"{100 * row['wrong_direction']:.1f} %", _count(row["items_needed"]), _count(row["repeats_needed"])]
        rows.append(cells + ([_count(row["best_repeats"])] if costs else []))
        if not row["above_minimum"]:
            why = "not above the registered minimum, so published at most half of the time by however many items"
            notes.setdefault(why, []).append(f"{row['effect']:+.3f}")
        for what in ("items", "repeats"):
            if row[f"{what}_why"]:
                notes.setdefault(f"{what}: {row[f'{what}_why']}", []).append(f"{row['effect']:+.3f}")
    said = (
        "published: chance that the rule publishes; inflated: how much too large published differences are on average; "
    )
    said += "items, repeats: how many would detect the effect 4 times in 5, the other as it is"
    said += "; best k: repeats that the cost ratio makes best." if costs else "."
    return (
        _columns(head, rows)
        + "".join(_wrapped(f"{why} ({', '.join(at)}).") for why, at in notes.items())
        + _wrapped(said)
    )


def _count(value: int | None) -> str:
    return "–" if value is None else f"{value:,}"


def _models(model: dict[str, str]) -> str:
    return _wrapped(
        f"Models: spread, {model['spread']}; published and inflated, {model['power']}; detectable effect, items and "
        f"repeats, {model['detectable']}."
    )


def _share(value: dict[str, Any] | None) -> str:
    return "–" if value is None else f"{100 * value['value']:.1f} ± {100 * value['error']:.1f} %"


def _ratio(value: dict[str, Any] | None) -> str:
    return "–" if value is None else f"{value['value']:.2f} ± {value['error']:.2f}"


def _wrapped(text: str) -> str:
    return textwrap.fill(text, WIDTH) + "\n"


def _columns(head: list[str], rows: list[list[str]]) -> str:
    """Aligned columns, the first to the left; in blocks below each other where 80 columns don't hold them."""
    table = [head, *rows]
    widths = [max(len(row[i]) for row in table) for i in range(len(head))]
    widths[0] = min(widths[0], WIDTH - 2 - max(widths[1:]))
    blocks, start = [], 1
    while start < len(head):
        stop, used = start, widths[0]
        while stop < len(head) and (stop == start or used + widths[stop] + 2 <= WIDTH):
            used += widths[stop] + 2
            stop += 1
        lines = []
        for row in table:
            cells = (row[i].rjust(widths[i]) for i in range(start, stop))
            lines.append("  ".join([_cut(row[0], widths[0]).ljust(widths[0]), *cells]).rstrip())
        blocks.append("\n".join(lines) + "\n")
        start = stop
    return "\n".join(blocks)


def _cut(text: str, width: int) -> str:
    return text if len(text) <= width else text[: width - 1] + "…"
