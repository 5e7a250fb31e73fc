"""The parts of README.md that are generated: `python -m tests.support.readme` writes them anew."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

from stages.contract.findings_of_read import FINDINGS_OF_READ, WITHHOLDING
from stages.gate.reasons import REASONS, RULES

ROOT = Path(__file__).resolve().parents[2]


def block(name: str, body: str) -> str:
    """A generated part between its marks."""
    return f"<!-- {name} -->\n{body}\n<!-- /{name} -->"


def reasons() -> str:
    lines = ["| reason | what it says |", "|---|---|", *(f"| `{r.id}` | {r.says} |" for r in REASONS.values())]
    return "\n".join(lines)


def rules() -> str:
    lines = ["| rule | about | what it says |", "|---|---|---|"]
    return "\n".join([*lines, *(f"| `{r.id}` | {r.scope} | {r.says} |" for r in RULES.values())])


def findings() -> str:
    lines = ["| finding | withholds | what it says |", "|---|---|---|"]
    return "\n".join(
        [*lines, *(f"| `{k}` | {'yes' if k in WITHHOLDING else ''} | {v} |" for k, v in FINDINGS_OF_READ.items())]
    )


def decided(decision: dict[str, Any]) -> str:
    """The bundled study's decision, as its report says it."""
    said = decision["headline"] or "withheld: " + "; ".join(
        f"{reason} ({decision['reason_details'][reason]})" for reason in decision["reasons"]
    )
    rows = [
        f"| {name} | {row['items']} | {row['delta']:+.3f} | [{row['lo']:+.3f}, {row['hi']:+.3f}] |"
        for name, row in decision["strata"].items()
        if row["delta"] is not None and row["lo"] is not None
    ]
    head = ["| stratum | items kept | Δ | interval |", "|---|---|---|---|"]
    return "\n".join([f"> **{decision['decision']}** (`{decision['reason']}`): {said}", "", *head, *rows])


def generated() -> dict[str, str]:
    """Name of each generated part to what it should hold."""
    decision = json.loads((ROOT / "reports/decision.json").read_bytes())
    return {"decision": decided(decision), "reasons": reasons(), "rules": rules(), "findings": findings()}


def main() -> None:
    path = ROOT / "README.md"
    text = path.read_text(encoding="utf-8")
    for name, body in generated().items():
        pattern = re.compile(rf"<!-- {name} -->.*?<!-- /{name} -->", re.S)
        assert pattern.search(text), name
        text = pattern.sub(lambda _, n=name, b=body: block(n, b), text)  # type: ignore[misc]
    path.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
