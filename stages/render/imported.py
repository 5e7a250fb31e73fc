"""`report.md` of a study that was read from logs: what was found in them first, then every number."""

from __future__ import annotations

from typing import Any

from stages.render.cells import code, number, table, text
from stages.render.markdown import exclusions_section, findings_section, verdict
from stages.render.tables import MOST_ROWS, sensitivity_table, strata_table

STANDING = """\
Logs are judged as they are: nothing was run again, and nobody can show from them that the slice was named before the
outcomes were seen. So nothing is published, whatever the numbers say. They say whether the arms are separable on these
items, and the reasons above say what a study would need that could publish it.
"""


def imported_markdown(
    decision: dict[str, Any],
    says: dict[str, str],
    changes: dict[str, str],
    exclusions: list[dict[str, Any]],
    assumed: list[dict[str, Any]],
) -> str:
    """The report. `says` and `changes` give the sentences of reasons and rules."""
    parts = [
        verdict(decision, says, changes),
        _separable(decision),
        _findings(decision["findings_of_read"]),
        strata_table(decision),
        sensitivity_table(decision, says),
        _arms(decision),
        exclusions_section(decision, says, exclusions),
        findings_section(assumed),
        _legacy(decision["legacy"]),
        _study(decision),
        f"## What this is not\n\n{STANDING}",
    ]
    return "\n".join(part for part in parts if part)


def _separable(d: dict[str, Any]) -> str:
    if d["would_publish"]:
        return "Everything that can be computed from these tables holds: the arms are separable on these items.\n"
    return "Not everything that can be computed from these tables holds: the arms aren't shown to be separable.\n"


def _findings(found: list[dict[str, Any]]) -> str:
    if not found:
        return "## Found while reading\n\nNothing.\n"
    rows: list[list[object]] = [
        [
            code(f["kind"]),
            "**withholds**" if f["withholds"] else "",
            text(f["where"]),
            text(f["found"], 400),
            text(f["says"], 300),
        ]
        for f in found[:MOST_ROWS]
    ]
    more = f"\n{len(found) - MOST_ROWS} more are in `data/trials/ingest.json`.\n" if len(found) > MOST_ROWS else ""
    return "## Found while reading\n\n" + table(["finding", "", "where", "found", "what it says"], rows) + more


def _arms(d: dict[str, Any]) -> str:
    one, two = d["arms"]["candidate"], d["arms"]["control"]

    def rate(count: str, share: str) -> list[object]:
        return [f"{a[count]} ({number(a[share], '.3f')})" for a in (one, two)]

    def plain(name: str, form: str = "") -> list[object]:
        return ["–" if a[name] is None else format(a[name], form) for a in (one, two)]

    rows: list[list[object]] = [
        ["name", *(text(a["name"]) for a in (one, two))],
        *_facts(one, two),
        ["oracle passes (rate)", *rate("passes", "oracle_pass_rate")],
        ["timeouts (rate)", *rate("timeouts", "timeout_rate")],
        ["passes after the time limit", *plain("late_passes")],
        ["aborts (rate)", *rate("aborts", "abort_rate")],
        ["broken", *plain("broken")],
        ["items whose repeats disagree (rate)", *rate("flips", "flip_rate")],
        ["assumptions: imports + environment + files", *plain("violations")],
        ["generated lines", *plain("generated_lines")],
        ["median wall time [s], queueing included", *plain("wall_s_median", ".2f")],
        ["median queue delay [ms]", *plain("queue_ms_median", ",.0f")],
        ["tokens in, out", *(_tokens(a) for a in (one, two))],
        ["cost [USD]", *plain("cost", "g")],
    ]
    return "## Arms\n\n" + table(["", "candidate", "control"], rows)


def _facts(one: dict[str, Any], two: dict[str, Any]) -> list[list[object]]:
    names = sorted(one["facts"].keys() | two["facts"].keys())
    return [[name, *(text(a["facts"].get(name, "not known")) for a in (one, two))] for name in names]


def _tokens(arm: dict[str, Any]) -> str:
    return f"{arm['tokens']['input']}, {arm['tokens']['output']}" if arm["tokens"] else "–"


def _legacy(legacy: dict[str, Any]) -> str:
    if not legacy:
        return ""
    lines = [f"- {code(name)}: {text(value, 1000)}\n" for name, value in sorted(legacy.items())]
    return "## What other gates say of these logs\n\nIt decides nothing here.\n\n" + "".join(lines)


def _study(d: dict[str, Any]) -> str:
    read = d["imported"]
    rows: list[list[object]] = [
        ["slice", f"`{d['slice_id']}`"],
        ["study", f"`{d['study_id']}`"],
        ["manifest", f"`{d['manifest_sha256']}`"],
        ["formats", text(", ".join(read["formats"]))],
        ["planned trials come from", f"the {read['planned_by']}"],
        *_told(read["said"]),
        *_sources(read["sources"]),
        *([key, text(value, 400)] for key, value in sorted(d["disclosure"].items()) if value),
    ]
    return "## Study\n\n" + table(["", ""], rows)


def _told(said: dict[str, Any]) -> list[list[object]]:
    return [[f"read with `{key}`", text(value, 400)] for key, value in sorted(said.items())]


def _sources(sources: list[dict[str, Any]]) -> list[list[object]]:
    rows: list[list[object]] = []
    for s in sources[:MOST_ROWS]:
        whose = "both arms" if s["arm"] == "both" else f"the {s['arm']}"
        rows.append([f"log of {whose}", f"{text(s['path'])}, {s['files']} files, sha256 `{s['sha256']}`"])
    return rows
