"""Tables of secondary measures and of densities, each with its strata. None of them can crown."""

from __future__ import annotations

from typing import Any

from stages.render.cells import interval, number, table, text
from stages.render.tables import level

LABELS = {
    "oracle_pass": "oracle passes",
    "inside_contract_pass": "passes inside the contract",
    "timeout": "timeouts",
    "abort": "aborts",
    "broken": "broken trees, tampering included",
    "violations": "assumption violations per trial",
    "extended": "findings beyond the three kinds, per trial",
    "interface_drift": "trials with interface drift",
    "flip": "items whose repeats disagree",
    "outside_envelope": "trials outside the envelope",
}
HEAD = """\
## Secondary measures

Counts per trial first. Differences are paired and resampled as the summary is, at the same alpha and with no correction
for how many are shown: they describe, and can't crown.

"""


def secondary_table(d: dict[str, Any]) -> str:
    """A row per measure, and below it one per stratum."""
    rows: list[list[object]] = []
    for name, measure in d["secondary"].items():
        rows.append([f"**{LABELS.get(name, name)}**", *_cells(measure)])
        rows += [[f"{text(label)}", *_cells(row)] for label, row in measure["strata"].items()]
    return HEAD + table(["measure", "candidate", "control", "Δ", level(d["summary"])], rows)


def _cells(row: dict[str, Any]) -> list[object]:
    shown: list[object] = [f"{row[a]['count']}/{row[a]['of']}" for a in ("candidate", "control")]
    return [*shown, number(row["delta"]), "" if row["delta"] is None else interval(row)]


def densities_table(d: dict[str, Any]) -> str:
    """Raw counts of each arm and stratum, then the density where there are items enough."""
    rows: list[list[object]] = []
    for label, found in d["densities"].items():
        for arm in ("candidate", "control"):
            one = found[arm]
            parts = f"{one['invented_imports']} + {one['invented_env']} + {one['unauthorised_files']}"
            dense = number(one["assumption_per_kloc"], ".1f")
            counts = [f"{parts} = {one['violations']}", one["extended"], one["generated_lines"]]
            rows.append([text(label), arm, found["items"], *counts, "case series" if dense == "–" else dense])
    head = ["stratum", "arm", "items", "imports + environment + files", "beyond", "lines", "per 1,000 lines"]
    return "## Assumptions by stratum\n\n" + table(head, rows)
