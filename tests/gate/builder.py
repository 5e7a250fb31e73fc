"""Studies in memory: items with given outcomes become ledger rows, stamps, pairs and a decision by the real functions.

Outcomes are a letter per repeat: P passed, F failed, B broken, T timeout, L a pass after the limit, A aborted,
X lost once, Y lost twice, and `.` where there is no trial.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from typing import Any

import pandas as pd

from stages.contract import layout, parquet, tables
from stages.contract.digest import canonical, digest, pretty, sha256
from stages.contract.plan import Block, Manifest, Plan, PlanItem, dump, slice_id, study_id
from stages.contract.protocol import OracleParams, Params
from stages.contract.task import Allow, Oracle
from stages.contract.types import plain, validate
from stages.gate import Event, Evidence, apply_rules, decide_study, ledger_row
from tests.support.stamps import changed, raw_stamp

ARMS = ("candidate", "control")
ENDED = {
    "P": ("completed", "pass", 1),
    "F": ("completed", "fail", 1),
    "B": ("completed", "broken", 1),
    "T": ("timeout", "fail", 1),
    "L": ("timeout", "pass", 1),
    "A": ("aborted", "fail", 1),
    "X": ("lost", None, 1),
    "Y": ("lost", None, 2),
}
Key = tuple[str, str, int]


@dataclass(frozen=True)
class Item:
    """One item and its outcomes in both arms."""

    item_id: str
    stratum: str
    candidate: str
    control: str
    cluster: str | None = None
    placebo: bool = False
    command: bool = False


@dataclass
class Study:
    """What the stages before `exclude` would have written. Everything may be changed before `evidence` is called."""

    plan: Plan
    manifest: Manifest
    ledger: list[dict[str, Any]]
    admitted: dict[str, Any]
    campaign: dict[str, Any]
    checks: list[dict[str, Any]] = field(default_factory=list)
    events: list[tuple[str, Event]] = field(default_factory=list)
    replaced: list[dict[str, Any]] = field(default_factory=list)

    def rows(self, item_id: str = "", arm: str = "", repeat: int | None = None) -> list[dict[str, Any]]:
        """Ledger rows of an item, an arm, a repeat; those that aren't given are any."""
        return [
            r
            for r in self.ledger
            if item_id in ("", r["item_id"]) and arm in ("", r["arm"]) and repeat in (None, r["repeat"])
        ]

    def stamp(
        self, item_id: str, arm: str = "", repeat: int | None = None, /, attempt: int = 1, **changes: Any
    ) -> None:
        """Change fields of the stamps of these trials."""
        for row in self.rows(item_id, arm, repeat):
            stamps = [json.loads(text) for text in json.loads(row["stamps"])]
            stamps[attempt - 1] = changed(stamps[attempt - 1], **changes)
            row["stamps"] = canonical([canonical(s).decode() for s in stamps]).decode()

    def event(self, rule: str, item_id: str, time: str = "2026-03-02T10:00:00Z", *, before: bool = False) -> None:
        """Add a line to the exclusion events, standing before the first trial or not."""
        line = json.dumps({"rule": rule, "item_id": item_id, "time": time})
        self.events.append((line, validate(Event, json.loads(line), "here")))
        if before:
            self.campaign["events"].append(line)

    def register(self, kind: str) -> None:
        """As if a registry had held the study before its first trial."""
        seen = {"at": "2026-02-28T00:00:00Z", "root_sha256": "0" * 64} if kind == "witnessed" else None
        entry = {"sha256": "1" * 64, "line": 1, "entries": 1, "head": "1" * 64, "commit": None, "committed_at": None}
        self.campaign |= {"registration": kind, "registry": None if kind == "none" else {**entry, "witness": seen}}

    def refuse(self, item_id: str, rule: str) -> None:
        """As if preflight had refused the item: no trial of it ever ran."""
        self.admitted["items"][item_id] |= {"admitted": False, "rule": rule}
        self.ledger = [r for r in self.ledger if r["item_id"] != item_id]

    def tables(self) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
        """(pairs, exclusions) by the real rules."""
        return apply_rules(
            self.plan,
            self.manifest,
            self.ledger,
            self.admitted,
            self.checks,
            self.campaign,
            self.events,
            self.replaced,
        )

    def evidence(self) -> Evidence:
        """Everything that a decision is derived from, with tables as they come out of their files."""
        pairs, exclusions = self.tables()
        return Evidence(
            self.plan,
            self.manifest,
            frame("ledger", self.ledger),
            frame("pairs", pairs),
            frame("exclusions", exclusions),
            self.admitted,
            self.campaign,
            replaced=self.replaced,
        )

    def write(self, root: Path) -> Path:
        """A study's folder as far as a decision reads it, with the decision in it."""
        pairs, exclusions = self.tables()
        jsons = {
            layout.PLAN: dump(self.plan),
            layout.MANIFEST: dump(self.manifest),
            layout.ADMITTED: {"schema": "weighbridge.admitted/1", **self.admitted},
            layout.CAMPAIGN: self.campaign,
            layout.DECISION: self.decide(),
        }
        rows = {"ledger": (layout.LEDGER, self.ledger), "pairs": (layout.PAIRS, pairs)}
        rows |= {"exclusions": (layout.EXCLUSIONS, exclusions), "checks": (layout.CHECKS, self.checks)}
        rows |= {"replaced": (layout.REPLACED, self.replaced), "trials": (layout.TRIALS, [])}
        for name, value in jsons.items():
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            (root / name).write_bytes(pretty(value))
        if self.events:
            (root / layout.EVENTS).write_text("".join(f"{line}\n" for line, _ in self.events))
        for kind, (name, made) in rows.items():
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            parquet.write(root / name, parquet.table(tables.ALL[kind], made))
        return root

    def decide(self) -> dict[str, Any]:
        """The decision."""
        return decide_study(self.evidence())


def frame(name: str, rows: list[dict[str, Any]]) -> pd.DataFrame:
    """Rows as a table of the contract, as pandas gets it."""
    made: pd.DataFrame = parquet.table(tables.ALL[name], rows).to_pandas()
    return made


def stamp_of(item_id: str, arm: str, repeat: int, attempt: int = 1, **changes: Any) -> dict[str, Any]:
    """A recorded stamp inside of the default envelope."""
    trial = {"item_id": item_id, "arm": arm, "repeat": repeat, "attempt": attempt}
    return raw_stamp(**{**trial, "retries": attempt - 1, **changes})


def make_study(
    items: Iterable[Item],
    protocol: Mapping[str, Any] | None = None,
    *,
    mode: str = "benchmark",
    order: str = "interleaved",
    mde80: float | None = 0.04,
    edit: Callable[[dict[str, Any]], None] = lambda _: None,
) -> Study:
    """A study of these items. `edit` may change the raw parameters."""
    listed = sorted(items, key=lambda item: item.item_id)
    budget = len(listed[0].candidate)
    raw: dict[str, Any] = {
        "study": {"mode": mode},
        "protocol": {"trial_budget": budget, **(protocol or {})},
        "arms": {
            "order": order,
            "candidate": {"name": "new", "version": "2.0", "command": ["new"], "temperature": 0},
            "control": {"name": "old", "version": "1.0", "command": ["old"], "temperature": 0},
        },
    }
    edit(raw)
    params = validate(Params, raw, "params")
    planned = [_planned(item, params.protocol.time_budget_s) for item in listed]
    pack = digest([plain(p) for p in planned])
    plan = Plan(
        pack_id="pack",
        pack_revision="7",
        pack_sha256=pack,
        items_rows_sha256=sha256(b"items"),
        trees_rows_sha256=sha256(b"trees"),
        hidden_rows_sha256=sha256(b"hidden"),
        arms=params.arms,
        campaign=params.protocol.campaign,
        trial_budget=params.protocol.trial_budget,
        time_budget_s=params.protocol.time_budget_s,
        retry_ceiling=params.protocol.retry_ceiling,
        tools=params.protocol.tools,
        isolation="auto",
        items=planned,
        schedule=[Block(item_id=i.item_id, repeat=r, first=ARMS[r % 2]) for i in listed for r in range(budget)],
    )
    slice_ = slice_id(pack, params.protocol, OracleParams())
    manifest = Manifest(
        plan_sha256=plan.sha256(),
        pack_id="pack",
        pack_revision="7",
        pack_sha256=pack,
        slice_id=slice_,
        study_id=study_id(slice_, params.arms, params.protocol.campaign),
        study=params.study,
        selection=None,
        protocol=params.protocol,
        envelope_sha256=sha256(b"envelope"),
        oracle=OracleParams(),
        arms=params.arms,
        strata=dict(Counter(i.stratum for i in listed if not i.placebo)),
        placebos=dict(Counter(i.stratum for i in listed if i.placebo)),
        alpha_first_look=Fraction(1, 25),
        mde80=mde80,
    )
    campaign = {
        "look": 1,
        "earlier_looks": [],
        "candidates": ["new"],
        "registration": "none",
        "started_at": "2026-03-01T09:00:00Z",
        "events": [],
        "isolation": {"tier": "namespaces", "why": "self-test passed", "enforced": {}},
        "protocol": plain(params.protocol),
        "pack_changed": None,
    }
    entry = {"admitted": True, "rule": None, "expected": [], "events": [], "placebo_passed": False}
    admitted = {"plan_sha256": plan.sha256(), "items": {i.item_id: dict(entry) for i in listed}}
    ledger = [
        _ledger(manifest, planned[n], arm, r, letter)
        for n, item in enumerate(listed)
        for arm in ARMS
        for r, letter in enumerate(getattr(item, arm))
        if letter != "."
    ]
    return Study(plan, manifest, ledger, admitted, campaign)


def _planned(item: Item, time_budget_s: int) -> PlanItem:
    return PlanItem(
        item_id=item.item_id,
        rev="1",
        stratum=item.stratum,
        cluster=item.cluster,
        placebo=item.placebo,
        time_budget_s=time_budget_s,
        prompt_path="statement.md",
        prompt_sha256=sha256(item.item_id.encode()),
        interface=None,
        allow=Allow(files_write=["a.py"]),
        oracle=Oracle(kind="command", command=["check"]) if item.command else Oracle(),
        canaries=[],
        source={"path": "workspace"},
        tree_sha256=sha256(b"tree"),
        tree_git="0" * 40,
        oracle_sha256=sha256(b"oracle"),
        solution_sha256=None,
        item_sha256=sha256(item.item_id.encode()),
    )


def _ledger(manifest: Manifest, item: PlanItem, arm: str, repeat: int, letter: str) -> dict[str, Any]:
    ended, verdict, attempts = ENDED[letter]
    trial = {
        "item_id": item.item_id,
        "arm": arm,
        "repeat": repeat,
        "ended": ended,
        "reason": "harness fault: gone" if ended == "lost" else None,
        "wall_s": 1.0 + repeat,
        "time_budget_s": item.time_budget_s,
        "cpu_s": 0.5,
        "max_rss_kb": 20_000,
        "load_1m": 0.25,
        "started_at": f"2026-03-01T10:00:0{ARMS.index(arm)}Z",
        "position": ARMS.index(arm) if repeat % 2 == 0 else 1 - ARMS.index(arm),
        "attempts": attempts,
        "patch_sha256": sha256(f"{item.item_id} {arm} {letter}".encode()),
        "temperature": "0",
        "isolation": "namespaces",
        "limits": "{}",
        "plan_sha256": manifest.plan_sha256,
        "pack_sha256": manifest.pack_sha256,
        "slice_id": manifest.slice_id,
        "study_id": manifest.study_id,
    }
    said = {"verdict": verdict, "reason": "told", "isolation": "namespaces"}
    verdicts = {} if verdict is None else {"first": said, "inside": said}
    counted: dict[str, int | None] = {
        "generated_lines": 10,
        "invented_imports": 0,
        "invented_env": 0,
        "unauthorised_files": 0,
        "violations": 0,
        "extended": 0,
        "interface_drift": None,
    }
    stamps = [canonical(stamp_of(item.item_id, arm, repeat, n)).decode() for n in range(1, attempts + 1)]
    return ledger_row(trial, item, verdicts, counted, stamps, 0, None)


def outcomes(stratum: str, wins: int, losses: int, ties: int, k: int = 1, **more: Any) -> list[Item]:
    """Items that the candidate wins, loses and ties in every repeat; ties pass and fail by turns."""
    kinds = [("P", "F")] * wins + [("F", "P")] * losses + [("PF"[n % 2],) * 2 for n in range(ties)]
    return [Item(f"{stratum}-{n:03}", stratum, c * k, o * k, **more) for n, (c, o) in enumerate(kinds)]


def placebos(count: int = 2, k: int = 1, stratum: str = "left") -> list[Item]:
    """Placebo items that fail, as they must."""
    return [Item(f"placebo-{n}", stratum, "F" * k, "F" * k, placebo=True) for n in range(count)]


def clear_effect(k: int = 1) -> list[Item]:
    """Two strata of 15, each with 10 wins, 1 loss and 4 ties: Δ = 9/15 in both."""
    return [*outcomes("left", 10, 1, 4, k), *outcomes("right", 10, 1, 4, k), *placebos(2, k)]
