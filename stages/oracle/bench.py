"""Where patches of a frozen pack are judged: frozen trees, hidden oracles, and verdicts stored by content."""

from __future__ import annotations

import threading
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from stages.contract import layout
from stages.contract.digest import canonical_texts, digest, sha256
from stages.contract.plan import BESIDE, Plan, PlanItem
from stages.contract.protocol import OracleParams
from stages.contract.study import read_files
from stages.contract.trees import Change, Entry, apply, tree_digest
from stages.contract.types import plain
from stages.oracle.store import VerdictStore
from stages.oracle.verdict import FLATTENED, Boundary, Observation, cleaned, observe_item, oracle_key
from stages.sandbox import Isolation, environments

VERDICTS = "verdicts.sqlite"
UNCARRIED = "product_uncarried:"
CHANGED = "oracle_data:arguments"


def unmoved(carried: Observation, copied: Observation) -> Observation:
    """The verdict on a tree that changes its arguments, as the reference solution doesn't, and passes nonetheless.

    If it passes where these changes don't reach the tests too, they decided nothing; else what was compared with may
    be what was changed.
    """
    return copied if copied.verdict == "pass" else carried


def beside(apart: Observation, seen: Observation) -> Observation:
    """The verdict in the tests' own process on a tree whose honest values may not have crossed, marked as such.

    `auto` promises no more than that: what an author's solution hands over crosses, another's may not.
    """
    why = FLATTENED if FLATTENED in apart.events else apart.reason.removeprefix(UNCARRIED)
    events = tuple(sorted({*seen.events, f"beside:{why}"}))
    return replace(seen, events=events, reason=f"{seen.reason}{BESIDE}")


def drawn_again(plan_sha256: str, settings: OracleParams, item_id: str, arm: str, repeat: int) -> bool:
    """Whether the lot of a trial, taken from the plan's digest, falls on a second verdict."""
    lot = int(sha256(canonical_texts([plan_sha256, "recheck", item_id, arm, repeat])), 16)
    return lot < settings.recheck * 2**256


@dataclass(frozen=True)
class Bench:
    """`files` maps (item id, role) to frozen files; `admitted` is preflight's word on each item.

    `environments` maps the items that have one to where their wheels are installed.
    """

    plan: Plan
    isolation: Isolation
    files: dict[tuple[str, str], list[Entry]]
    admitted: dict[str, Any]
    settings: OracleParams
    store: VerdictStore
    plan_sha256: str
    environments: dict[str, Path] = field(default_factory=dict)
    _locks: dict[str, threading.Lock] = field(default_factory=lambda: defaultdict(threading.Lock))

    @classmethod
    def open(
        cls, root: Path, plan: Plan, isolation: Isolation, admitted: dict[str, Any], settings: OracleParams
    ) -> Bench:
        """The bench of a study, its frozen tables held against the plan, its verdicts stored beside the journal."""
        files = read_files(root, plan)
        store = VerdictStore(layout.journal(root) / VERDICTS)
        wheels = environments(root, plan.items, files, isolation)
        return cls(plan, isolation, files, admitted, settings, store, plan.sha256(), wheels)

    def tree(self, item_id: str) -> list[Entry]:
        """The frozen workspace of an item."""
        return self.files[(item_id, "workspace")]

    def key(self, item_id: str) -> str:
        """What besides the tree decides a verdict on this item."""
        return oracle_key(self.files[(item_id, "oracle")], self._rules(item_id))

    def verdict(self, item_id: str, changes: Sequence[Change], attempt: int = 0) -> Observation:
        """The verdict on the frozen tree with these changes; observed once per content and `attempt`, then stored.

        Raises UsageError where the sandbox can't be made: that says nothing about the patch.
        """
        frozen = self.tree(item_id)
        tree = apply(frozen, changes)
        oracle = self.files[(item_id, "oracle")]
        rules = self._rules(item_id)
        parts = (tree_digest(cleaned(tree, frozen)), tree_digest(oracle), digest(rules))
        with self._locks[f"{parts}{attempt}"]:
            stored = self.store.get(*parts, attempt=attempt)
            if stored is not None:
                return stored
            item = next(i for i in self.plan.items if i.item_id == item_id)
            seen = self._observed(item, tree, rules["boundary"])
            if seen.reason.startswith(CHANGED) and set(seen.outcomes.values()) == {"passed"}:
                seen = unmoved(seen, self._observed(item, tree, rules["boundary"], carry=False))
            flattened = seen.verdict == "fail" and FLATTENED in seen.events
            if rules["spare"] and (flattened or seen.reason.startswith(UNCARRIED)):
                again = beside(seen, self._observed(item, tree, "inprocess"))
                seen = seen if flattened and again.verdict != "pass" else again
            return self.store.put(*parts, seen, attempt=attempt)

    def _observed(
        self, item: PlanItem, tree: Sequence[Entry], boundary: Boundary, *, carry: bool = True
    ) -> Observation:
        rules = self._rules(item.item_id)
        return observe_item(
            item,
            tree,
            self.files[(item.item_id, "oracle")],
            rules["expected"],
            rules["events"],
            self.isolation,
            self.tree(item.item_id),
            boundary,
            self.environments.get(item.item_id),
            carry,
        )

    def rechecked(self, item_id: str, arm: str, repeat: int) -> bool:
        """Whether this trial's verdict is observed twice: drawn from the plan, so nobody chose it."""
        return drawn_again(self.plan_sha256, self.settings, item_id, arm, repeat)

    def _rules(self, item_id: str) -> dict[str, Any]:
        item = next(i for i in self.plan.items if i.item_id == item_id)
        return rules_of(item, self.admitted.get(item_id, {}), self.settings, self.isolation.tier)


def rules_of(item: PlanItem, known: Mapping[str, Any], settings: OracleParams, tier: str) -> dict[str, Any]:
    """What besides tree and oracle decides a verdict on an item. `known` is preflight's word on it."""
    return {
        "kind": item.oracle.kind,
        "command": item.oracle.command,
        "timeout_s": item.oracle.timeout_s,
        "boundary": known.get("boundary", "inprocess"),
        "spare": (item.oracle.boundary or settings.boundary) == "auto",
        "expected": known.get("expected"),
        "events": known.get("events", []),
        "isolation": tier,
        "environment": None if item.environment is None else plain(item.environment),
        "frozen": item.tree_sha256,  # what is new in a tree, which is watched, hangs on it
    }
