"""Trials against the plan, and the ledger against the trials and their verdicts, field by field."""

from __future__ import annotations

from collections import Counter, defaultdict
from pathlib import Path
from typing import Any

import pyarrow as pa

from stages.contract import layout, parquet, tables
from stages.contract.arm import drawn_seed
from stages.contract.digest import sha256
from stages.contract.errors import InputError
from stages.contract.plan import Manifest, Plan, PlanItem
from stages.contract.study import Trial, entries, read_trials
from stages.contract.text import parse_json
from stages.contract.trees import patch_digest
from stages.evidence.checking import Check

Key = tuple[str, str, int]
_COUNTS = {"invented_imports": "import", "invented_env": "environment", "unauthorised_files": "file"}
_KINDS = ("first", "inside", "recheck")


def _key(row: dict[str, Any]) -> Key:
    return (row["item_id"], row["arm"], row["repeat"])


def _where(name: Path, key: Key) -> str:
    return f"{name}: {', '.join(map(str, key))}"


def trials_check(plan: Plan, campaign: dict[str, Any], admitted: dict[str, Any], trials: list[Trial]) -> Check:
    """Every trial is of the plan and of its place in the schedule; its patch and prints are what it says."""
    check = Check("trials", "trials against plan and campaign; patches and prints against their digests")
    items, sha = {item.item_id: item for item in plan.items}, plan.sha256()
    foreign = 0
    for trial in trials:
        if trial.row["plan_sha256"] != sha:
            foreign += 1
        else:
            _trial(check, plan, items, trial, campaign)
        own = plan.arms.candidate if trial.row["arm"] == "candidate" else plan.arms.control
        _contents(check, trial, stamped=not own.replayed)
        if check.full():
            break
    refused = {item for item, entry in admitted["items"].items() if not entry["admitted"]}
    if foreign == 0:
        late = sorted({t.row["item_id"] for t in trials} & refused)
        if late:
            check.unread.append(f"trials of {late[0]}, which preflight refuses: the decision withholds for them")
    _campaign(check, plan, campaign, trials)
    check.note = f"{len(trials)} of {2 * len(plan.schedule)} trials" + (
        f", {foreign} of another plan" if foreign else ""
    )
    return check


def bounded_trials(root: Path, plan: Plan) -> list[Trial]:
    """All trials. Tables of more rows than the plan can give are refused before they become Python objects."""
    most = 2 * len(plan.items) * plan.trial_budget
    for name, schema, times in (
        (layout.TRIALS, tables.TRIALS, 1),
        (layout.LEDGER, tables.LEDGER, 1),
        (layout.STAMPS, tables.STAMPS, plan.retry_ceiling + 1),
        (layout.TRANSCRIPTS, tables.TRANSCRIPTS, 2),
        (layout.VERDICTS, tables.VERDICTS, len(_KINDS)),
        (layout.PAIRS, tables.PAIRS, 1),
    ):
        rows = parquet.read(root / name, schema).num_rows
        if rows > most * times:
            raise InputError(name, f"{rows:,} rows", f"at most {most * times:,}, as the plan gives")
    return read_trials(root)


def _trial(check: Check, plan: Plan, items: dict[str, PlanItem], trial: Trial, campaign: dict[str, Any]) -> None:
    row, key = trial.row, _key(trial.row)
    where = _where(layout.TRIALS, key)
    if row["item_id"] not in items or row["arm"] not in ("candidate", "control"):
        check.differs.append(f"{where}: isn't in the plan")
        return
    item = items[row["item_id"]]
    arm = plan.arms.candidate if row["arm"] == "candidate" else plan.arms.control
    seed = None if arm.seed is None else str(drawn_seed(arm.seed, item.item_id, row["repeat"]))
    expected: dict[str, Any] = {
        "time_budget_s": item.time_budget_s,
        "arm_name": arm.name,
        "arm_version": arm.version,
        "seed": seed,
        "pack_sha256": plan.pack_sha256,
        **{name: campaign.get(name) for name in ("slice_id", "study_id", "manifest_sha256")},
    }
    number = row["block"]
    if not 0 <= number < len(plan.schedule):
        check.differs.append(f"{where}: block {number} isn't in the schedule")
        return
    block = plan.schedule[number]
    check.same(
        f"{where}: block", (block.item_id, block.repeat), (row["item_id"], row["repeat"]), "as the schedule says"
    )
    expected["position"] = int(block.first != row["arm"])
    for name, value in expected.items():
        check.same(f"{where}: {name}", row[name], value, "as plan and campaign say")


def _contents(check: Check, trial: Trial, *, stamped: bool) -> None:
    row, key = trial.row, _key(trial.row)
    where = _where(layout.TRIALS, key)
    check.same(f"{where}: patch_sha256", row["patch_sha256"], patch_digest(trial.changes), "as its patch gives")
    check.same(f"{where}: patch_files", row["patch_files"], len(trial.changes), "as its patch gives")
    for change in trial.changes:
        if change.content is not None and change.after_sha256 != sha256(change.content):
            place = f"{_where(layout.PATCHES, key)}: {change.path}: after_sha256"
            check.same(place, change.after_sha256, sha256(change.content), "as its bytes give")
    check.same(f"{where}: attempts", row["attempts"] if stamped else 0, len(trial.stamps), "as its stamps give")
    if len(trial.streams) == 2:
        stderr, stdout = trial.streams
        given = sha256(stdout + b"\0" + stderr)
        check.same(f"{where}: transcript_sha256", row["transcript_sha256"], given, "as its transcript gives")


def _campaign(check: Check, plan: Plan, campaign: dict[str, Any], trials: list[Trial]) -> None:
    name = str(layout.CAMPAIGN)
    if campaign.get("pack_changed") is None:
        check.same(f"{name}: plan_sha256", campaign.get("plan_sha256"), plan.sha256(), "as the plan gives")
    for key, value in (("campaign", plan.campaign), ("candidate", plan.arms.candidate.name)):
        check.same(f"{name}: {key}", campaign.get(key), value, "as the plan says")
    looks, earlier = campaign.get("look"), campaign.get("earlier_looks")
    check.same(
        f"{name}: look", looks, len(earlier if isinstance(earlier, list) else []) + 1, "as its earlier looks give"
    )
    first = min((str(t.row["started_at"]) for t in trials), default=None)
    started = str(campaign.get("started_at"))
    if first is not None and first[:19] < started[:19]:
        check.differs.append(f"{name}: started_at {started} is after the first trial, {first}")


def ledger_check(
    root: Path, plan: Plan, manifest: Manifest, admitted: dict[str, Any], ledger: pa.Table, every: list[Trial]
) -> Check:
    """Each row of the ledger from its trial, its verdicts and its findings; which verdicts there must be."""
    from stages.gate import ledger_row, runner_changes

    check = Check("ledger", "each row from its trial, verdicts and findings")
    keyed = _Keys(root, plan, manifest, admitted)
    items = {item.item_id: item for item in plan.items}
    trials = {_key(t.row): t for t in every if t.row["item_id"] in items}
    verdicts: dict[Key, dict[str, dict[str, Any]]] = defaultdict(dict)
    for row in parquet.read(root / layout.VERDICTS, tables.VERDICTS).to_pylist():
        verdicts[_key(row)][row["kind"]] = row
        _verdict(check, row, admitted)
        keyed.see(row)
    found: dict[Key, Counter[tuple[str, str]]] = defaultdict(Counter)
    for row in parquet.read(root / layout.FINDINGS, tables.FINDINGS).to_pylist():
        found[_key(row)][row["counted"], row["kind"]] += 1
    stored = {_key(row): row for row in ledger.to_pylist()}
    for key in sorted(trials.keys() ^ stored.keys()):
        check.differs.append(
            f"{_where(layout.LEDGER, key)}: {'no such row' if key in trials else 'a row without trial'}"
        )
    for table, keys in ((layout.VERDICTS, verdicts.keys()), (layout.FINDINGS, found.keys())):
        for key in sorted(keys - trials.keys()):
            check.differs.append(f"{_where(table, key)}: a row without trial")
    changed, sha = runner_changes([t.row for t in trials.values()]), plan.sha256()
    for key in sorted(trials.keys() & stored.keys()):
        if check.full():
            break
        row, trial, item = stored[key], trials[key], items[key[0]]
        _kinds(check, sha, manifest, trial, verdicts[key])
        counted = _counted(row, found[key], item)
        text = b"\0".join([*(c.content or b"" for c in trial.changes), *trial.streams])
        hits = sum(text.count(canary.encode()) for canary in item.canaries)
        given = ledger_row(trial.row, item, verdicts[key], counted, trial.stamps, hits, changed.get(key))
        for name, value in given.items():
            if row[name] != value:
                where = f"{_where(layout.LEDGER, key)}: {name}"
                check.same(where, row[name], value, "as trial, verdicts and findings give")
    keyed.tell(check)
    check.note = f"{len(stored)} rows, {sum(len(one) for one in verdicts.values())} verdicts"
    return check


class _Keys:
    """Whether each verdict was given by the oracle, the expected tests and the boundary that stand here.

    Another version of the driver keys all of them otherwise, which is said and is no difference.
    """

    def __init__(self, root: Path, plan: Plan, manifest: Manifest, admitted: dict[str, Any]) -> None:
        from stages.oracle.bench import rules_of
        from stages.oracle.verdict import oracle_key

        hidden = root / layout.HIDDEN
        files = entries(parquet.read(hidden, tables.HIDDEN)) if hidden.is_file() else {}
        known = {
            (item.item_id, tier): oracle_key(
                files[item.item_id, "oracle"],
                rules_of(item, admitted["items"].get(item.item_id, {}), manifest.oracle, tier),
            )
            for item in plan.items
            if (item.item_id, "oracle") in files
            for tier in ("namespaces", "none")
        }
        self.known, self.seen, self.odd = known, 0, list[dict[str, Any]]()

    def see(self, row: dict[str, Any]) -> None:
        key = self.known.get((row["item_id"], row["isolation"]))
        if key is not None:
            self.seen += 1
            if key != row["oracle_key"]:
                self.odd.append(row)

    def tell(self, check: Check) -> None:
        if self.odd and len(self.odd) == self.seen:
            check.unread.append(
                "verdicts were given by another version of the oracle driver, so their keys say nothing"
            )
        else:
            for row in self.odd[:1]:
                where = f"{_where(layout.VERDICTS, _key(row))}, {row['kind']}: oracle_key"
                check.differs.append(f"{where}: isn't what oracle, admission and plan give ({len(self.odd)} such rows)")


def _verdict(check: Check, row: dict[str, Any], admitted: dict[str, Any]) -> None:
    """A pass holds a pass of every test that preflight saw the reference solution pass."""
    where = f"{_where(layout.VERDICTS, _key(row))}, {row['kind']}"
    if row["kind"] not in _KINDS or row["verdict"] not in ("pass", "fail", "broken"):
        check.differs.append(f"{where}: verdict {row['verdict']}, expected pass, fail or broken of {', '.join(_KINDS)}")
        return
    outcomes = parse_json(where, row["outcomes"].encode())
    expected = admitted["items"].get(row["item_id"], {}).get("expected")
    if row["verdict"] == "pass" and expected:
        failing = [name for name in expected if not isinstance(outcomes, dict) or outcomes.get(name) != "passed"]
        if failing:
            check.differs.append(f"{where}: a pass, and {failing[0]} isn't passed")


def _kinds(
    check: Check, plan_sha256: str, manifest: Manifest, trial: Trial, verdicts: dict[str, dict[str, Any]]
) -> None:
    """Which verdicts a trial must have: none if there is no tree, else a first, one inside, and a recheck by lot."""
    from stages.oracle.bench import drawn_again

    wanted = {"first", "inside"} if trial.judged else set()
    key = _key(trial.row)
    if trial.judged and drawn_again(plan_sha256, manifest.oracle, *key):
        wanted.add("recheck")
    check.same(f"{_where(layout.VERDICTS, key)}: kinds", ", ".join(sorted(verdicts)), ", ".join(sorted(wanted)))


def _counted(row: dict[str, Any], found: Counter[tuple[str, str]], item: PlanItem) -> dict[str, int | None]:
    """Counts of the findings; what only the patch itself tells (lines, whether the interface was checked) as stored."""
    article = sum(count for (kind, _), count in found.items() if kind == "article")
    drift = sum(count for (kind, _), count in found.items() if kind == "drift")
    checked = item.interface is not None and (row["interface_drift"] is not None or drift > 0)
    return {
        "generated_lines": row["generated_lines"],
        **{name: found["article", kind] for name, kind in _COUNTS.items()},
        "violations": article,
        "extended": sum(count for (kind, _), count in found.items() if kind == "extended"),
        "interface_drift": drift if checked else None,
    }
