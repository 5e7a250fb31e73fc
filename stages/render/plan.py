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
    parts += [_smallest(plan), _effects(plan), _needed(plan)]
    if plan["grid"]:
        parts.append(_grid(plan))
    parts.append(_models(plan["model"]))
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
        _cannot(made["cannot_publish"]),
        _design(made["design"]),
        f"{made['datasets']:,} data sets of each, seed {made['seed']}; ± is one Monte Carlo standard error\n",
        _columns(["true difference", *head], rows),
    ]
    parts = [part for part in parts if part]
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
    units = f" in {_many(d['units'], 'unit')} (clusters, or items alone)" if d["clustered"] else ""
    strata = f"{len(d['weights'])} {'strata' if len(d['weights']) > 1 else 'stratum'}"
    spent = f"alpha {d['alpha']:g}, of which look {d['look']} and a family of {d['family']} spend {d['alpha_spent']:g}"
    aim = f"smallest effect worth publishing {d['minimum']:g}"
    if d["margin"] is not None:
        aim = f"noninferiority by a margin of {d['margin']:g}"
    text = f"{d['source']}: {_many(d['items'], 'item')}{units}, {strata}, {_many(d['repeats'], 'repeat')}, so "
    text += f"{d['trials']:,} trials of both arms beside the placebos'; {spent}; {aim}. "
    text += f"Look {d['look']}: {d['look_why']}{'' if d['look_why'].startswith('as ') else '; --look overrides'}."
    rows = []
    for label, items in list(d["labels"].items())[:MOST_LABELS]:
        into = d["merges"].get(label, label)
        weight = "case series" if into in d["case_series"] else d["weights"][into]
        rows.append([label if into == label else f"{label} (in {into})", str(items), weight])
    more = len(d["labels"]) - len(rows)
    tail = f"and {more} more\n" if more else ""
    return _wrapped(text) + "\n" + _columns(["stratum", "items", "weight"], rows) + tail


def _many(count: int, what: str) -> str:
    return f"{count:,} {what}" if count == 1 else f"{count:,} {what}s"


def _pilot(p: dict[str, Any]) -> str:
    ends = " to ".join("none" if p[key] is None else f"{p[key]:.3f}" for key in ("mde_lo", "mde_hi"))
    known = f"noise of a pair omega {p['omega_squared'] ** 0.5:.3f}" if p["omega_squared"] is not None else ""
    text = (
        f"Pilot of {_many(p['items'], 'item')}: the control passes {p['p']:.3f}; sd of the items' differences "
        f"{p['sd']:.3f} (95 % {p['sd_lo']:.3f} to {p['sd_hi']:.3f}, for normal values), which makes the smallest "
        f"effect published {ends}; "
    )
    if known:
        icc = "unknown" if p["icc"] is None else f"{p['icc']:.2f}"
        repeated = _many(p["repeated"], "item")
        text += f"{known}, ICC {icc} (from {repeated}), true differences tau {p['tau_squared'] ** 0.5:.3f}."
    else:
        text += "one repeat each, so noise and true differences can't be told apart: no repeats are planned from it."
    return _wrapped(text)


def _smallest(plan: dict[str, Any]) -> str:
    """The one effect to quote, and below it the others, each with what it leaves out."""
    named, margin = f"MDE{100 * plan['target_power']:.3g}", plan["design"]["margin"]
    what = "difference" if margin is None else "distance from minus the margin"
    head = f"{named}, the smallest {what} that is published {_percent(plan['target_power'])} of the time: "
    head += f"{plan['mde']:.3f}." if plan["mde"] is not None else f"none, {plan['mde_why']}."
    lines = [head]
    if plan["mde80_closed_form"] is not None:
        lines.append(
            "For comparison, MDE80 by the closed form, which is detection alone, without strata that must agree or a "
            f"registered minimum: {plan['mde80_closed_form']:.3f}."
        )
    if plan["mde80_freeze"] is not None:
        impossible = f", more than the {plan['largest_effect']:.3g} that such a control leaves room for"
        lines.append(
            "MDE80 as freeze records it, before anything is known (closed form of the first look, a control that "
            "passes half, ICC 0.4, an sd of the items' true differences of 0.6 times their mean): "
            f"{plan['mde80_freeze']:.3f}{'' if plan['mde80_freeze_possible'] else impossible}."
        )
    return "".join(map(_wrapped, lines))


def _percent(share: float) -> str:
    return f"{100 * share:.3g} %"


def _effects(plan: dict[str, Any]) -> str:
    rows: list[list[str]] = []
    head = ["effect", "published", "inflated", "wrong way", "costliest guard alone"]
    for row in plan["effects"]:
        error = "" if row["power_error"] is None else f" ±{100 * row['power_error']:.1f}"
        inflated = "–" if row["exaggeration"] is None else f"×{row['exaggeration']:.2f}"
        wrong = "–" if row["wrong_direction"] is None else f"{100 * row['wrong_direction']:.1f} %"
        cost = row["costliest"]
        guard = "–" if cost is None else f"{cost} {100 * row['alone'][cost]:.1f} %"
        rows.append([f"{row['effect']:+.3f}", f"{100 * row['power']:.1f} %{error}", inflated, wrong, guard])
    said = "published: chance that the rule publishes"
    if plan["design"]["margin"] is None:
        said += ", which at a true effect of 0 is false publication"
    said += "; inflated: how much too large published differences are on average; costliest guard alone: the reason "
    said += "that most often is the only one to withhold."
    return _columns(head, rows) + _wrapped(said)


def _needed(plan: dict[str, Any]) -> str:
    d = plan["design"]
    rows: list[list[str]] = []
    notes: dict[str, dict[str, list[str]]] = {}
    costs = any("best_repeats" in row for row in plan["effects"])
    head = ["effect", f"items at k={d['repeats']}", "trials", f"repeats of {d['items']}", "trials"]
    head += ["best k", "items", "cost"] if costs else []
    for row in plan["effects"]:
        at = f"{row['effect']:+.3f}"
        cells = [row[key] for key in ("items_needed", "items_trials", "repeats_needed", "repeats_trials")]
        if costs:
            cells += [row[key] for key in ("best_repeats", "best_items", "best_cost")]
        rows.append([at, *(_count(cell) for cell in cells)])
        for what, key in (("items", "items_why"), ("repeats", "repeats_why"), ("best k", "best_why")):
            if row.get(key):
                notes.setdefault(row[key], {}).setdefault(what, []).append(at)
    said = f"To be published {_percent(plan['target_power'])} of the time: items of {_many(d['repeats'], 'repeat')} in "
    said += "the strata's shares, floors kept, or repeats of the items as they are; trials are those of both arms"
    said += ", placebos left aside"
    said += "; best k: repeats that the cost ratio makes best, cost in trials." if costs else "."
    because = []
    for why, places in notes.items():
        where = sorted({one for found in places.values() for one in found}, key=float)
        because.append(f"No {' or '.join(places)} at {', '.join(where)}: {why}.")
    return _columns(head, rows) + "".join(_wrapped(line) for line in because) + _wrapped(said)


def _grid(plan: dict[str, Any]) -> str:
    grid = plan["grid"]
    rows = [[f"{row['items']:,}", *(f"{100 * one:.1f} %" for one in row["power"])] for row in grid["rows"]]
    said = f"Chance of publishing {grid['effect']:+.3f}, by items and repeats; {grid['model']}."
    return _columns(["items", *(_many(k, "repeat") for k in grid["repeats"])], rows) + _wrapped(said)


def _count(value: float | None) -> str:
    return "–" if value is None else f"{value:,.0f}"


def _models(model: dict[str, str]) -> str:
    return _wrapped(
        f"Models: spread, {model['spread']}; published, inflated and guards, {model['power']}; MDE, items and repeats, "
        f"{model['needed']}."
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
