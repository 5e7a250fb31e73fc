"""The decision on a study that was read from logs: every number, and what stands in the way of a publication.

Nothing publishes from logs alone: whoever named the slice could see the outcomes. `would_publish` says whether all that
can be computed from the tables holds.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa

from stages.contract import imported, layout, parquet, tables
from stages.contract.digest import digest
from stages.contract.errors import InputError
from stages.contract.findings_of_read import withholds
from stages.contract.imported import Imported, read_imported
from stages.contract.text import read_json
from stages.contract.types import plain
from stages.gate.decision import SCHEMA
from stages.gate.evidence import ARMS, tidy_rows
from stages.gate.figures import strata_figures, summary_figures
from stages.gate.floors import below_floor
from stages.gate.imported_rules import SESSION, import_pairs
from stages.gate.metrics import excluded_counts, share, win_rate
from stages.gate.reasons import PUBLISHED, ordered
from stages.gate.rule import Terms
from stages.gate.views import sensitivity
from stages.gate.weigh import weigh
from stages.gate.wording import departures, figures_of, some
from stages.stats import alpha_spent, placebo_bound, sig6

COUNTED = ("violations", "invented_imports", "invented_env", "unauthorised_files", "extended", "generated_lines")
COMPARED = ("harness", "oracle", "time_budget", "tools")
"""What both arms must have had alike, as far as a log tells it."""
NOT_IN_TABLES = frozenset(
    (
        *("no_negative_control", "arms_unequal", "not_interleaved", "no_session_evidence", "no_assumption_ledger"),
        *("retrospective", "registration_missing"),
    )
)
"""Reasons that speak of how trials were run. Any other means that what tables can show doesn't hold."""


@dataclass(frozen=True)
class ImportedEvidence:
    """All that such a decision is derived from. `read` is what `ingest.json` holds."""

    manifest: Imported
    items: pd.DataFrame
    trials: pd.DataFrame
    ledger: pd.DataFrame
    pairs: pd.DataFrame
    exclusions: pd.DataFrame
    read: Mapping[str, Any]


def imported_tables(root: Path) -> tuple[Imported, pd.DataFrame, pd.DataFrame, pd.DataFrame, dict[str, Any]]:
    """(manifest, items, trials, ledger, what was read) of a folder, held against the manifest. Raises InputError."""
    manifest, read = read_imported(root), read_json(root / layout.INGEST)
    items = parquet.read(root / layout.ITEMS, imported.ITEMS)
    trials = parquet.read(root / layout.TRIALS, imported.TRIALS)
    ledger = parquet.read(root / layout.LEDGER, imported.LEDGER)
    for name, found, wanted in (
        (layout.ITEMS, parquet.rows_sha256(items), manifest.items_rows_sha256),
        (layout.TRIALS, parquet.rows_sha256(trials), manifest.trials_rows_sha256),
        (layout.LEDGER, parquet.rows_sha256(ledger), manifest.ledger_rows_sha256),
    ):
        if found != wanted:
            raise InputError(name, f"rows_sha256 {found[:16]}", f"{wanted[:16]} as in the manifest", "ingest again")
    if digest(read) != manifest.read_sha256:
        raise InputError(layout.INGEST, "isn't what the manifest names", "what ingest wrote", "ingest again")
    return manifest, items.to_pandas(), _said(trials), _said(ledger), read


def imported_findings(root: Path) -> pa.Table:
    """Findings of assumptions of a folder, held against the manifest. Raises InputError."""
    found, wanted = parquet.read(root / layout.FINDINGS, tables.FINDINGS), read_imported(root).findings_rows_sha256
    if parquet.rows_sha256(found) != wanted:
        raise InputError(layout.FINDINGS, "isn't what the manifest names", "what ingest wrote", "ingest again")
    return found


def _said(made: pa.Table) -> pd.DataFrame:
    """The columns that some row has a value in: most logs say little of what there is to say."""
    kept = [
        f.name for f in made.schema if not f.nullable or f.name == "ended" or made[f.name].null_count < made.num_rows
    ]
    frame: pd.DataFrame = made.select(kept).to_pandas()
    return frame


def said(frame: pd.DataFrame, name: str) -> pd.Series:
    """A column, without any value where no row has one."""
    return frame[name] if name in frame else pd.Series(index=frame.index, dtype="float64")


def read_imported_evidence(root: Path) -> ImportedEvidence:
    """Everything that the decision needs; pairs and exclusions are derived once more, and must be the stored ones."""
    from stages.gate.reading import same_rows

    manifest, items, trials, ledger, read = imported_tables(root)
    made, rows = import_pairs(manifest, items, trials, ledger, *_excluded(read))
    pairs = same_rows(root, layout.PAIRS, made)
    exclusions = same_rows(root, layout.EXCLUSIONS, parquet.table(tables.EXCLUSIONS, rows))
    return _evidence(manifest, items, trials, ledger, pairs, exclusions, read)


def imported_evidence(
    manifest: Imported, items: pa.Table, trials: pa.Table, ledger: pa.Table, read: Mapping[str, Any]
) -> ImportedEvidence:
    """The evidence of a study that lies in memory, its pairs and exclusions derived."""
    frames = items.to_pandas(), _said(trials), _said(ledger)
    pairs, rows = import_pairs(manifest, *frames, *_excluded(read))
    return _evidence(manifest, *frames, pairs, parquet.table(tables.EXCLUSIONS, rows), read)


def _evidence(
    manifest: Imported,
    items: pd.DataFrame,
    trials: pd.DataFrame,
    ledger: pd.DataFrame,
    pairs: pa.Table,
    exclusions: pa.Table,
    read: Mapping[str, Any],
) -> ImportedEvidence:
    tidied = tidy_rows(pairs.to_pandas(), ["item_id", "repeat"]), tidy_rows(exclusions.to_pandas(), ["number"])
    return ImportedEvidence(manifest, items, trials, ledger, *tidied, read)


def apply_import_rules(root: Path) -> tuple[Any, list[dict[str, Any]]]:
    """(pairs table, exclusion rows) of a folder. Raises InputError."""
    manifest, items, trials, ledger, read = imported_tables(root)
    return import_pairs(manifest, items, trials, ledger, *_excluded(read))


def _excluded(read: Mapping[str, Any]) -> tuple[list[tuple[str, str, str | None]], list[str] | None]:
    return [(row["item_id"], row["rule"], row["time"]) for row in read["excluded"]], read["registered"]


def decide_imported(ev: ImportedEvidence, alpha: Fraction | None = None) -> dict[str, Any]:
    """The decision, of the same schema as a study's that ran. `alpha` replaces what a first look may spend."""
    manifest, protocol = ev.manifest, ev.manifest.protocol
    terms = Terms(protocol, manifest.strata, alpha or alpha_spent(protocol.alpha, 1, protocol.family))
    weighed = weigh(ev.pairs, terms)
    counted = _counts(ev)
    parts: dict[str, Any] = {
        "summary": summary_figures(
            protocol, weighed.base, terms.alpha, manifest.repeats, _planned_mde(ev, terms.alpha)
        ),
        "strata": strata_figures(terms, weighed.items),
        "arms": {arm: _arm(ev, arm) for arm in ARMS},
        "win_rate": win_rate(weighed.items),
        "secondary": None,
        "densities": None,
        "sensitivity": sensitivity(ev.pairs, terms, weighed.required, weighed.reasons),
        **weighed.exclusions,
    }
    numbers = {r: figures_of(r, protocol, weighed.base, parts) for r in weighed.reasons}
    process = _process(ev, counted)
    details = process | numbers
    found = ordered(set(details))
    arms = manifest.arms
    placebos = (counted["placebos_run"], counted["placebos_passed"])
    started = said(ev.trials, "started_at").dropna()
    return {
        "schema": SCHEMA,
        "decision": "withhold" if found else "publish",
        "reason": found[0] if found else PUBLISHED,
        "reasons": found,
        "reason_details": {r: details[r] for r in found},
        "would_publish": not numbers and not process.keys() - NOT_IN_TABLES,
        "pack_id": manifest.pack_id,
        "pack_revision": manifest.pack_revision,
        "slice_id": manifest.slice_id,
        "study_id": manifest.study_id,
        "manifest_sha256": manifest.sha256(),
        "registration": "none",
        "isolation": {"requested": None, "tiers": [], "why": "logs don't say how agents were isolated"},
        "ran_at": {"git": None, "harness": None},
        "looks": {"look": 1, "earlier": [], "candidates": [arms.candidate.name], "family": protocol.family},
        "lineage": None,
        "lineage_why": "logs of another harness",
        "mode": manifest.study.mode,
        "disclosure": plain(manifest.study.disclosure),
        "departures": departures(protocol, local=True),
        "candidate": _runner(arms.candidate),
        "control": _runner(arms.control),
        "counts": counted,
        "placebo_bound": sig6(placebo_bound(*placebos)) if placebos[0] else None,
        "dropped": sorted(set(ev.pairs["item_id"]) - set(weighed.items["item_id"])),
        **parts,
        "exclusions": excluded_counts(ev.pairs),
        "rehearsals": {"aa": None, "aa_why": "logs of another harness", "piloted": []},
        "started_at": started.min() if len(started) else None,
        "protocol": plain(protocol),
        "findings_of_read": list(ev.read["findings"]),
        "legacy": dict(ev.read["legacy"]),
        "imported": {
            "formats": sorted({source.format for source in manifest.sources}),
            "sources": [plain(source) for source in manifest.sources],
            "planned_by": manifest.planned_by,
            "rows": ev.read["rows"],
            "said": ev.read.get("said", {}),
        },
        "headline": None,
        "headline_why": "withheld",
    }


def _runner(arm: imported.ImportedArm) -> dict[str, str]:
    return {"name": arm.name, "version": arm.version or "unknown"}


def _planned_mde(ev: ImportedEvidence, alpha: Fraction) -> float | None:
    from stages.gate.planned import planned_mde80

    real = ev.items[~ev.items["placebo"]]
    clusters = [one if isinstance(one, str) else None for one in real["cluster"]]
    return planned_mde80(ev.manifest.protocol, zip(real["stratum"], clusters, strict=True), alpha)


def _counts(ev: ImportedEvidence) -> dict[str, int]:
    """Trials of real items: planned = scored + excluded + missing. Placebos are counted apart."""
    ruled = sum(int(ev.pairs[f"{arm}_rule"].notna().sum()) for arm in ARMS)
    missing = sum(
        int((ev.pairs[f"{arm}_rule"].isna() & (ev.pairs[f"{arm}_status"] == "missing")).sum()) for arm in ARMS
    )
    planned, placebos, kept = 2 * len(ev.pairs), ev.ledger[ev.ledger["placebo"]], ev.pairs[ev.pairs["kept"]]
    return {
        "planned": planned,
        "scored": planned - ruled - missing,
        "excluded": ruled,
        "missing": missing,
        "replaced": 0,
        "pairs_kept": len(kept),
        "items_seen": int(ev.pairs["item_id"].nunique()),
        "items_kept": int(kept["item_id"].nunique()),
        "placebos_run": len(placebos),
        "placebos_passed": int(placebos["passed"].sum()),
        "placebos_refused": 0,
    }


def _arm(ev: ImportedEvidence, arm: str) -> dict[str, Any]:
    """Counts and rates over kept trials; what no log says is null."""
    kept = ev.pairs[ev.pairs["kept"]]
    passed, count = int(kept[arm].sum()), len(kept)
    status = kept[f"{arm}_status"].value_counts()
    number = {name: int(status.get(name, 0)) for name in ("timeout", "aborted", "broken", "lost")}
    flips, items = 0, int(kept["item_id"].nunique())
    if items < count:
        flips = int((kept.groupby("item_id")[arm].nunique() > 1).sum())
    trials = ev.trials[ev.trials["arm"] == arm]
    facts = getattr(ev.manifest.arms, arm).facts
    return {
        "name": getattr(ev.manifest.arms, arm).name,
        "facts": facts,
        "trials": count,
        "passes": passed,
        "oracle_pass_rate": share(passed, count),
        "timeouts": number["timeout"],
        "timeout_rate": share(number["timeout"], count),
        "late_passes": int(kept[f"{arm}_late"].sum()),
        "aborts": number["aborted"],
        "abort_rate": share(number["aborted"], count),
        "broken": number["broken"],
        "lost": number["lost"],
        "flips": flips,
        "flip_rate": share(flips, items),
        "wall_s_median": _median(said(trials, "wall_s")),
        "queue_ms_median": _median(said(trials, "queue_ms")),
        "temperature": [facts["temperature"]] if "temperature" in facts else [],
        **_assumed(ev, arm),
        **_spent(trials),
    }


def _assumed(ev: ImportedEvidence, arm: str) -> dict[str, Any]:
    """Assumption counts over all trials of real items, null where one has no patch or no allowlist."""
    ledger = ev.ledger[(ev.ledger["arm"] == arm) & ~ev.ledger["placebo"]]
    held = int(said(ledger, "violations").notna().sum())
    whole = held == len(ledger) > 0
    made: dict[str, Any] = {name: int(said(ledger, name).sum()) if whole else None for name in COUNTED}
    if not whole:
        made["violations_why"] = f"{held} of {len(ledger)} trials have a patch and an allowlist to hold it against"
    lines = made["generated_lines"]
    return {**made, "assumption_per_kloc": share(1000 * made["violations"], lines) if lines else None}


def _spent(trials: pd.DataFrame) -> dict[str, Any]:
    """Tokens and cost, null where one trial doesn't say."""
    made: dict[str, Any] = {}
    for name, columns in (("tokens", ("input_tokens", "output_tokens")), ("cost", ("cost_usd",))):
        lacking = int(pd.concat([said(trials, name).isna() for name in columns], axis=1).any(axis=1).sum())
        if lacking or not len(trials):
            made[name], made[f"{name}_why"] = None, f"{lacking} of {len(trials)} trials don't say"
        elif name == "cost":
            made[name] = sig6(float(trials["cost_usd"].sum()))
        else:
            made[name] = {"input": int(trials["input_tokens"].sum()), "output": int(trials["output_tokens"].sum())}
    return made


def _median(values: pd.Series) -> float | None:
    known = values.dropna()
    return sig6(float(known.median())) if len(known) else None


def _process(ev: ImportedEvidence, counted: Mapping[str, int]) -> dict[str, str]:
    """Reason id to its figures: what no log can show, what these don't, and what is wrong with them."""
    protocol, found = ev.manifest.protocol, {}
    if ev.manifest.study.mode != "benchmark":
        found["not_a_benchmark"] = f"study.mode is {ev.manifest.study.mode}"
    if counted["placebos_passed"]:
        found["placebo_passed"] = f"{counted['placebos_passed']} of {counted['placebos_run']} placebo trials"
    shown = set(ev.ledger[ev.ledger["placebo"]]["arm"])
    if shown != set(ARMS):
        found["no_negative_control"] = f"placebo trials scored in {len(shown)} of 2 arms"
    sizes = ev.pairs.groupby("item_id").size()
    beyond = sizes[sizes > ev.manifest.repeats]
    if len(beyond):
        which = some([f"{item} has {count}" for item, count in beyond.items()])
        found["outcomes_not_of_manifest"] = f"{ev.manifest.repeats} repeats were planned; {which}"
    floors = below_floor(protocol)
    if floors:
        found["protocol_below_floor"] = "; ".join(floors)
    refused = ev.exclusions[~ev.exclusions["accepted"]]
    if len(refused):
        found["posthoc_exclusion"] = some([f"{r.rule} for {r.item_id}: {r.refused_why}" for r in refused.itertuples()])
    if counted["missing"]:
        found["trials_missing"] = f"{counted['missing']} of {counted['planned']} trials have no outcome in the logs"
    unsound = [f for f in ev.read["findings"] if withholds(f["kind"], protocol.withhold_on)]
    if unsound:
        found["log_unsound"] = some([f"{f['kind']}: {f['found']}" for f in unsound])
    unequal = _unequal(ev)
    if unequal:
        found["arms_unequal"] = "; ".join(unequal)
    apart = _apart(ev)
    if apart:
        found["not_interleaved"] = apart
    session = _session(ev)
    if session:
        found["no_session_evidence"] = session
    bare = int(said(ev.ledger, "violations").isna().sum())
    if bare or not len(ev.ledger):
        found["no_assumption_ledger"] = f"{bare} of {len(ev.ledger)} trials have no patch with an allowlist"
    found["retrospective"] = "the protocol wasn't registered before these logs were written"
    if protocol.require_registration != "none":
        found["registration_missing"] = f"none, the protocol demands {protocol.require_registration}"
    return found


def _unequal(ev: ImportedEvidence) -> list[str]:
    one, two = ev.manifest.arms.candidate.facts, ev.manifest.arms.control.facts
    said = []
    for name in COMPARED:
        if one.get(name) is None or two.get(name) is None:
            said.append(f"{name} not known of {'both arms' if one.get(name) == two.get(name) else 'one arm'}")
        elif one[name] != two[name]:
            said.append(f"{name}: candidate {one[name]}, control {two[name]}"[:200])
    return said


def _apart(ev: ImportedEvidence) -> str | None:
    """Whether the arms' times don't overlap at all, where the logs tell them."""
    started = said(ev.trials, "started_at")
    spans = []
    for arm in ARMS:
        own = started[ev.trials["arm"] == arm].dropna()
        if not len(own):
            return None
        spans.append((str(own.min()), str(own.max())))
    (one, two), (three, four) = spans
    if two < three or four < one:
        return f"candidate {one} to {two}, control {three} to {four}: no overlap"
    return None


def _session(ev: ImportedEvidence) -> str | None:
    """What is lacking of the session: no word of it, a person's word, or fields that no row has."""
    trials = ev.trials[said(ev.trials, "ended").notna()]
    words = said(trials, "evidence")
    if not words.notna().any():
        return "no row has a stamp"
    asserted = words == "asserted"
    if (asserted | words.isna()).all():
        return "all stamps were asserted by a person"
    lacking = [name for name in SESSION if not said(trials, name).notna().any()]
    if lacking:
        return f"no row says {', '.join(lacking)}"
    bare = int((words.isna() | asserted).sum())
    return f"{bare} of {len(trials)} trials have no stamp, or an asserted one" if bare else None
