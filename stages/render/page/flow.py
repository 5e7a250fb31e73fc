"""The flow of trials: planned, run, scored, excluded by rule, kept; numbers that add up, box by box."""

from __future__ import annotations

from collections import Counter
from typing import Any

from stages.render.page.figures import CANDIDATE, CONTROL, Figure, base

ARMS = ("candidate", "control")


def flow_of(pairs: list[dict[str, Any]]) -> dict[str, dict[str, Any]]:
    """Arm to its counts over planned pairs: planned = missing + excluded + scored, scored = kept + unpaired."""
    made: dict[str, dict[str, Any]] = {}
    for arm in ARMS:
        rules = Counter(row[f"{arm}_rule"] for row in pairs if row[f"{arm}_rule"] is not None)
        missing = sum(row[f"{arm}_rule"] is None and row[f"{arm}_status"] == "missing" for row in pairs)
        kept = sum(bool(row["kept"]) for row in pairs)
        excluded = sum(rules.values())
        made[arm] = {
            "planned": len(pairs),
            "missing": missing,
            "excluded": excluded,
            "rules": dict(sorted(rules.items())),
            "scored": len(pairs) - missing - excluded,
            "unpaired": len(pairs) - missing - excluded - kept,
            "kept": kept,
            "items": len({row["item_id"] for row in pairs if row["kept"]}),
        }
    return made


def flow(d: dict[str, Any], pairs: list[dict[str, Any]]) -> Figure:
    """Bars of each arm, a box a step."""
    made = flow_of(pairs)
    steps = ("planned", "scored", "excluded", "missing", "kept")
    rows = [{"arm": arm, "step": step, "trials": made[arm][step]} for step in steps for arm in ARMS]
    colour = {"field": "arm", "type": "nominal", "scale": {"domain": list(ARMS), "range": [CANDIDATE, CONTROL]}}
    y = {"field": "step", "type": "nominal", "sort": list(steps), "title": None}
    x = {"field": "trials", "type": "quantitative", "title": "trials of real items", "axis": {"tickMinStep": 1}}
    head = ["", *ARMS]
    table = [[step, *(str(made[arm][step]) for arm in ARMS)] for step in (*steps[:-1], "unpaired", "kept", "items")]
    for rule in sorted({rule for arm in ARMS for rule in made[arm]["rules"]}):
        table.append([f"excluded: {rule}", *(str(made[arm]["rules"].get(rule, 0)) for arm in ARMS)])
    words = "; ".join(
        f"{arm}: {m['planned']} planned, {m['excluded']} excluded, {m['missing']} missing, {m['scored']} scored, "
        f"{m['kept']} kept in {m['items']} items"
        for arm, m in made.items()
    )
    return Figure(
        "flow",
        "Flow of trials",
        "Of each arm: planned = scored + excluded + missing; scored = kept + those whose partner isn't counted. "
        f"{d['counts']['replaced']} trials were replaced by others, as the protocol allows.",
        words,
        base(
            height={"step": 18},
            data={"values": rows},
            mark={"type": "bar"},
            encoding={"x": x, "y": y, "yOffset": {"field": "arm"}, "color": colour},
        ),
        head,
        table,
    )
