"""How well a pack was written: whether statements name what is asked for, and which items are nearly the same."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from typing import NamedTuple

from stages.contract.plan import PlanItem
from stages.contract.task import Interface
from stages.contract.trees import Entry
from stages.packs.leak import edits, lines_of
from stages.packs.similar import Pair, near_duplicates

MOST_SAID = 5
Files = Mapping[tuple[str, str], Sequence[Entry]]


class Resemblance(NamedTuple):
    """Near-duplicates among one sort of text. `complete` is false where too many pairs could be one to compare all."""

    what: str
    pairs: list[Pair]
    complete: bool

    def nearest(self) -> dict[str, tuple[str, Fraction]]:
        """Item to the other that is most like it, and how much."""
        found: dict[str, tuple[str, Fraction]] = {}
        for first, second, share in self.pairs:
            found.setdefault(first, (second, share))
            found.setdefault(second, (first, share))
        return found

    def lines(self, strata: Mapping[str, str]) -> list[str]:
        """What is said of it: the number of pairs across and within strata (item id to stratum), and the first few."""
        across = sum(strata[p.first] != strata[p.second] for p in self.pairs)
        said = []
        if self.pairs:
            count = f"{len(self.pairs)} pairs alike by their {self.what}, {across} of them across strata"
            shown = [f"{p.first} and {p.second} ({float(p.share):.2f})" for p in self.pairs[:MOST_SAID]]
            more = f" and {len(self.pairs) - MOST_SAID} more" if len(self.pairs) > MOST_SAID else ""
            said.append(f"{count}: {'; '.join(shown)}{more}")
        if not self.complete:
            said.append(f"too many items are alike by their {self.what} to compare all")
        return said


def names_interface(statement: bytes, interface: Interface | None) -> str | None:
    """What a statement leaves out: it names neither the function nor the module, by whole words. None if it does."""
    if interface is None:
        return None
    text = statement.decode("utf-8", "replace")
    function = interface.function.rpartition(".")[2]
    names = [function, interface.module, interface.module.replace(".", "/")]
    if any(re.search(rf"(?<!\w){re.escape(name)}(?!\w)", text) for name in names):
        return None
    return f"names neither {interface.function} nor {interface.module}"


def resemblances(items: Iterable[PlanItem], files: Files) -> list[Resemblance]:
    """Near-duplicates among statements, among what solutions add, and among oracles, across and within strata."""
    texts: dict[str, dict[str, str]] = {"statement": {}, "solution": {}, "oracle": {}}
    for item in items:
        own = {role: files.get((item.item_id, role), []) for role in ("statement", "workspace", "solution", "oracle")}
        texts["statement"][item.item_id] = _text(own["statement"])
        texts["solution"][item.item_id] = _added(own["workspace"], own["solution"])
        texts["oracle"][item.item_id] = _text(own["oracle"])
    return [Resemblance(what, *near_duplicates(named)) for what, named in texts.items()]


def _text(entries: Iterable[Entry]) -> str:
    return "\n".join(e.content.decode("utf-8", "replace") for e in entries if b"\0" not in e.content[:8000])


def _added(tree: Iterable[Entry], solution: Iterable[Entry]) -> str:
    before = {e.path: e for e in tree}
    runs = []
    for entry in solution:
        old = lines_of(before[entry.path].content) if entry.path in before else []
        if b"\0" not in entry.content[:8000]:
            runs += ["\n".join(edit) for edit in edits(old, lines_of(entry.content))]
    return "\n".join(runs)
