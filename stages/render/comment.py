"""A comment for a pull request: the verdict first, everything else folded away."""

from __future__ import annotations

from typing import Any

from stages.render.cells import code, text
from stages.render.markdown import verdict
from stages.render.tables import sensitivity_table, strata_table

MARK = "<!-- weighbridge -->"
"""By which a bot finds its own comment again."""


def comment(d: dict[str, Any], says: dict[str, str], changes: dict[str, str], verified: str | None) -> str:
    """Markdown of a decision. `verified` is the last line of `verify`, or None where it wasn't run."""
    parts = [MARK, verdict(d, says, changes).replace("# ", "### ", 1)]
    if verified is not None:
        parts.append(f"{text(verified, 600)}\n")
    if d["strata"]:
        parts.append(_folded("Strata", strata_table(d)))
    if d["sensitivity"]:
        parts.append(_folded("The whole rule, run again", sensitivity_table(d, says)))
    arms = [f"{text(d[arm]['name'])} {text(d[arm]['version'])}" for arm in ("candidate", "control")]
    tail = f"{arms[0]} against {arms[1]} on slice {code(d['slice_id'][:16])}, study {code(d['study_id'][:16])}"
    return "\n".join([*parts, f"{tail}. Check it: `weighbridge verify`.", ""])


def _folded(head: str, body: str) -> str:
    lines = body.split("\n")
    kept = "\n".join(lines[1:] if lines[0].startswith("## ") else lines)
    return f"<details><summary>{head}</summary>\n\n{kept.strip()}\n\n</details>\n"
