"""Items by repeats, both arms: every outcome a cell, excluded ones hatched, so that flips show."""

from __future__ import annotations

from html import escape
from typing import Any

COLOURS = {
    "passed": "#2f6db5",
    "failed": "#e6c3a5",
    "broken": "#c98a4b",
    "timeout": "#a9a9a9",
    "aborted": "#8b6fae",
    "lost": "#5f5f5f",
    "missing": "#ffffff",
}
CELL, GAP, LABEL = 14, 2, 230
MOST_ITEMS = 500
ARMS = ("candidate", "control")


def heat(pairs: list[dict[str, Any]]) -> tuple[str, int]:
    """(the picture as SVG, how many items it shows). Items stand in the order of stratum and id.

    A grid of rectangles needs no library to lay it out; 500 items by 5 repeats stay below a megabyte.
    """
    items: dict[tuple[str, str], dict[int, dict[str, Any]]] = {}
    for row in pairs:
        items.setdefault((row["stratum"], row["item_id"]), {})[row["repeat"]] = row
    shown = sorted(items)[:MOST_ITEMS]
    repeats = max((max(of) for of in items.values()), default=0) + 1
    side = repeats * (CELL + GAP)
    width, height = LABEL + 2 * side + 24, 22 + len(shown) * (CELL + GAP)
    out = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" '
        'role="img" aria-labelledby="heat-words" font-family="sans-serif" font-size="11" fill="#222">',
        '<defs><pattern id="hatch" width="5" height="5" patternTransform="rotate(45)" patternUnits="userSpaceOnUse">'
        '<rect width="2" height="5" fill="#111"/></pattern></defs>',
        f'<rect width="{width}" height="{height}" fill="white"/>',
        f'<text x="{LABEL}" y="14">candidate</text><text x="{LABEL + side + 16}" y="14">control</text>',
    ]
    for at, key in enumerate(shown):
        y = 22 + at * (CELL + GAP)
        name = "".join(c if c.isprintable() else "·" for c in f"{key[0]}: {key[1]}")
        out.append(f'<text x="0" y="{y + 11}">{escape(name if len(name) <= 38 else name[:37] + "…")}</text>')
        for arm, left in zip(ARMS, (LABEL, LABEL + side + 16), strict=True):
            for repeat, row in sorted(items[key].items()):
                out.append(_cell(row, arm, left + repeat * (CELL + GAP), y))
    return "".join([*out, "</svg>"]), len(shown)


def _cell(row: dict[str, Any], arm: str, x: int, y: int) -> str:
    status, rule = row[f"{arm}_status"], row[f"{arm}_rule"]
    words = f"{row['item_id']}, {arm}, repeat {row['repeat']}: {status}{f', excluded by {rule}' if rule else ''}"
    box = f'x="{x}" y="{y}" width="{CELL}" height="{CELL}"'
    made = f'<rect {box} fill="{COLOURS.get(status, "#ffffff")}" stroke="#666" stroke-width=".5"><title>'
    made += f"{escape(''.join(c if c.isprintable() else '·' for c in words))}</title></rect>"
    hatched = rule is not None or not row["kept"]
    return made + (f'<rect {box} fill="url(#hatch)" opacity=".55" pointer-events="none"/>' if hatched else "")
