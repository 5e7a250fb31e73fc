"""The flow of trials: planned, run, scored, excluded by rule, kept; numbers that add up, box by box."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from stages.render.page.figures import CANDIDATE, CONTROL, Figure, base

ARMS = ("candidate", "control")


def flow_of(pairs: pa.Table) -> dict[str, dict[str, Any]]:
    """Arm to its counts over planned pairs: planned = missing + excluded + scored, scored = kept + unpaired.

    Counted column by column: a million pairs become no Python objects.
    """
    made: dict[str, dict[str, Any]] = {}
    planned, kept = pairs.num_rows, _count(pairs.column("kept"))
    items = pc.count_distinct(pairs.filter(pairs.column("kept")).column("item_id")).as_py()
    for arm in ARMS:
        rule, status = pairs.column(f"{arm}_rule"), pairs.column(f"{arm}_status")
        rules = {one["values"]: one["counts"] for one in pc.value_counts(rule.drop_null()).to_pylist()}
        missing = _count(pc.and_(pc.is_null(rule), pc.equal(status, "missing")))
        excluded = sum(rules.values())
        made[arm] = {
            "planned": planned,
            "missing": missing,
            "excluded": excluded,
            "rules": dict(sorted(rules.items())),
            "scored": planned - missing - excluded,
            "unpaired": planned - missing - excluded - kept,
            "kept": kept,
            "items": items,
        }
    return made


def _count(flags: Any) -> int:
    return int(pc.sum(flags).as_py() or 0)


def flow(d: dict[str, Any], made: dict[str, dict[str, Any]]) -> Figure:
    """Bars of each arm, a box a step."""
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
