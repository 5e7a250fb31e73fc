"""Logs in, a study's files out: manifest, items, trials, ledger, and what was found on the way."""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from stages.contract import parquet
from stages.contract.design import check_design
from stages.contract.digest import digest, rational_text, short
from stages.contract.errors import InputError, one_line
from stages.contract.findings_of_read import FINDINGS_OF_READ, withholds
from stages.contract.imported import Imported, ImportedArm, ImportedArms, Source, imported_ids
from stages.contract.importing import ImportParams, import_protocol
from stages.contract.protocol import Protocol, Study
from stages.ingest.assemble import Assembled, assemble
from stages.ingest.assumed import Allowlist, read_allowlist, read_patches, with_assumptions
from stages.ingest.model import ROWS, Format, Notes, Options, Reading
from stages.ingest.secrets import clean
from stages.ingest.settle import ARMS
from stages.ingest.sources import digest_of, format_of
from stages.ingest.strata import read_strata

_TEXTS = ("reason", "server_id", "route_what", "requested_model", "served_model", "served_by")


@dataclass(frozen=True)
class Built:
    """The files of an imported study. `read` is what `ingest.json` holds."""

    manifest: Imported
    items: pa.Table
    trials: pa.Table
    ledger: pa.Table
    findings: pa.Table
    read: dict[str, Any]


@dataclass(frozen=True)
class Log:
    """The log of one arm (or of both, arm None): its readings, where they come from, what was found in it."""

    arm: str | None
    readings: list[Reading]
    sources: list[Source]
    notes: Notes


def build(root: Path, params: ImportParams, study: Study, protocol: Mapping[str, Any], where: object) -> Built:
    """Read, join and check. Paths are relative to `root`; `where` names the protocol's file. Raises InputError."""
    field, strata = read_strata(root, params.strata)
    options = options_of(params, protocol, field)
    if params.logs:
        logs = [read_log(None, [root / p for p in params.logs], params, options)]
    else:
        logs = [read_log(arm, [root / p for p in getattr(params, arm)], params, options) for arm in ARMS]
    names = {a: n for a, n in (("candidate", params.candidate_name), ("control", params.control_name)) if n is not None}
    allowed = read_allowlist(root / params.allow if params.allow else None)
    return join(logs, names, strata, study, protocol, where, allowed, _said(params))


def _said(params: ImportParams) -> dict[str, Any]:
    """What people said beside the logs that bears on outcomes or bins; whoever reads the decision must know it."""
    said = {
        "threshold": None if params.threshold is None else rational_text(params.threshold),
        "map": {ours: clean(theirs) for ours, theirs in sorted(params.map.items())},
        "infra_errors": [clean(text) for text in params.infra_errors],
        "filter": params.filter,
        "strata": params.strata and Path(params.strata).name,  # a file's place is no part of what it says
        "repeats": None if params.repeats == "log" else params.repeats,
    }
    return {key: value for key, value in said.items() if value}


def options_of(params: ImportParams, protocol: Mapping[str, Any], field: str | None) -> Options:
    """What readers are told."""
    return Options(
        strata=field,
        columns=params.map,
        threshold=params.threshold,
        infra_errors=params.infra_errors,
        protocol=protocol,
        filter=params.filter,
    )


def read_log(arm: str | None, paths: Sequence[Path], params: ImportParams, options: Options) -> Log:
    """Read all paths of an arm, or of both. Raises InputError."""
    notes, form = Notes(), format_of(paths, params.format)
    if arm is None and not form.both_arms:
        raise InputError(paths[0], f"{form.name} logs hold one arm each", "--candidate PATH and --control PATH")
    side: Any = arm or "both"
    sources = []
    for path in paths:
        files, size, sha = digest_of(path)
        name = one_line(path.resolve().name, 500)
        sources.append(Source(path=name, arm=side, format=form.name, files=files, bytes=size, sha256=sha))
    if params.repeats == "paths":
        _unlike(paths, sources, notes)
    readings = [_cleaned(reading) for reading in _read(form, paths, options, notes, params.repeats)]
    return Log(arm, readings, sources, notes)


def _unlike(paths: Sequence[Path], sources: Sequence[Source], notes: Notes) -> None:
    """Note logs with the same bytes, which repeat no trial. Raises InputError where one file is given twice."""
    seen: dict[str, Path] = {}
    for path, source in zip(paths, sources, strict=True):
        first = seen.setdefault(source.sha256, path)
        if first is not path and first.resolve() == path.resolve():
            raise InputError(path, "is given twice", "a log of its own for each repeat", "give it once")
        if first is not path:
            notes.add("cached_repeats", path.name, f"the same bytes as {first.name}: a copy repeats no trial")


def join(
    logs: Sequence[Log],
    names: Mapping[str, str],
    strata: Mapping[str, str] | None,
    study: Study,
    protocol: Mapping[str, Any],
    where: object,
    allowed: Allowlist | None = None,
    said: Mapping[str, Any] | None = None,
) -> Built:
    """Logs of two arms as one study; `names` are those of the arms, as people or the logs call them."""
    notes = Notes()
    notes.findings += [finding for log in logs for finding in log.notes.findings]
    readings = [(log.arm, reading) for log in logs for reading in log.readings]
    _shared(logs, notes)
    policy = str(protocol.get("one_arm_items", "listed"))
    made = assemble(readings, names, strata, policy, notes)
    patches = [(log.arm or made.labels.get(p.arm or ""), p) for log in logs for r in log.readings for p in r.patches]
    numbered = [
        (arm, dataclasses.replace(patch, repeat=(patch.repeat or 0) - made.first[arm])) for arm, patch in patches if arm
    ]
    found = read_patches(numbered, allowed, notes)
    made = dataclasses.replace(made, ledger=with_assumptions(made.ledger, found, notes))
    agreed = import_protocol(protocol, made.repeats, where)
    sources = [source for log in logs for source in log.sources]
    return _built(made, found.findings, agreed, study, sources, names, notes, where, said or {})


def _shared(logs: Sequence[Log], notes: Notes) -> None:
    """Note logs that stand under both arms."""
    held = [{source.sha256: source.path for source in log.sources} for log in logs]
    for sha, path in sorted(held[0].items()) if len(held) == 2 else ():
        if sha in held[1]:
            notes.add("restated_run", path, "one log, the same bytes, is given under both arms")


def _read(form: Format, paths: Sequence[Path], options: Options, notes: Notes, repeats: str) -> list[Reading]:
    """One reading of all paths, or one each, whose rows are then the repeats of that number."""
    if repeats == "log":
        return [form.read(paths, options, notes)]
    found = []
    for number, path in enumerate(paths):
        reading = form.read([path], options, notes)
        if (
            reading.rows["repeat"].null_count < reading.rows.num_rows
            and pc.count_distinct(reading.rows["repeat"]).as_py() > 1
        ):
            raise InputError(path, "numbers its repeats itself", "one repeat per path", "leave --repeats out")
        column = pa.repeat(pa.scalar(number, pa.int64()), reading.rows.num_rows)
        rows = reading.rows.set_column(ROWS.get_field_index("repeat"), ROWS.field("repeat"), column)
        patches = [dataclasses.replace(patch, repeat=number) for patch in reading.patches]
        found.append(dataclasses.replace(reading, rows=rows, patches=patches))
    return found


def _cleaned(reading: Reading) -> Reading:
    """The same reading without secrets in any text of it."""
    rows = reading.rows
    for name in _TEXTS:
        column = pc.dictionary_encode(rows[name]).combine_chunks()
        if isinstance(column, pa.ChunkedArray):
            column = column.combine_chunks()
        texts = column.dictionary.to_pylist()
        safe = [clean(text) for text in texts]
        if safe != texts:
            at = ROWS.get_field_index(name)
            rows = rows.set_column(at, ROWS.field(name), pc.take(pa.array(safe, pa.string()), column.indices))
    facts = {label: {k: one_line(clean(v), 300) for k, v in own.items()} for label, own in reading.facts.items()}
    return dataclasses.replace(reading, rows=rows, facts=facts)


def _built(
    made: Assembled,
    findings: pa.Table,
    protocol: Protocol,
    study: Study,
    sources: list[Source],
    names: Mapping[str, str],
    notes: Notes,
    where: object,
    said: Mapping[str, Any],
) -> Built:
    if made.repeats > protocol.trial_budget:
        found = f"{made.repeats} repeats in the logs"
        raise InputError(f"{where}: trial_budget", found, f"at most {protocol.trial_budget}, as the protocol says")
    rows = made.items.to_pylist()
    strata = Counter(row["stratum"] for row in rows if not row["placebo"])
    if not strata:
        raise InputError("the logs", "only placebos", "at least one real item")
    check_design(protocol, strata, where)
    theirs = {ours: label for label, ours in made.labels.items() if label}
    arms = ImportedArms(**{arm: _arm(arm, made.facts[arm], names.get(arm) or theirs.get(arm)) for arm in ARMS})
    read = {
        "schema": "weighbridge.ingest/1",
        "findings": [
            {
                "kind": f.kind,
                "says": FINDINGS_OF_READ[f.kind],
                "where": one_line(clean(f.where), 300),
                "found": one_line(clean(f.found), 600),
                "count": f.count,
                "items": [one_line(i, 200) for i in f.items],
                "withholds": withholds(f.kind, protocol.withhold_on),
            }
            for f in notes.findings
        ],
        "excluded": [{"item_id": i, "rule": rule, "time": time} for i, rule, time in made.excluded],
        "registered": made.registered,
        "legacy": made.legacy,
        "said": dict(said),
        "rows": {"trials": made.trials.num_rows, "scored": made.ledger.num_rows},
    }
    digests = {"items": parquet.rows_sha256(made.items), "trials": parquet.rows_sha256(made.trials)}
    slice_, study_ = imported_ids(digests["items"], protocol, arms)
    manifest = Imported(
        pack_id="imported",
        pack_revision=short(digests["items"]),
        pack_sha256=digests["items"],
        slice_id=slice_,
        study_id=study_,
        study=study,
        protocol=protocol,
        arms=arms,
        sources=sources,
        strata=dict(sorted(strata.items())),
        placebos=dict(sorted(Counter(row["stratum"] for row in rows if row["placebo"]).items())),
        repeats=protocol.trial_budget,
        planned_by=made.planned_by if protocol.trial_budget == made.repeats else "protocol",  # type: ignore[arg-type]
        items_rows_sha256=digests["items"],
        trials_rows_sha256=digests["trials"],
        ledger_rows_sha256=parquet.rows_sha256(made.ledger),
        findings_rows_sha256=parquet.rows_sha256(findings),
        read_sha256=digest(read),
    )
    return Built(manifest, made.items, made.trials, made.ledger, findings, read)


def _arm(arm: str, facts: Mapping[str, str], given: str | None) -> ImportedArm:
    name = given or facts.get("name") or arm
    rest = {k: v for k, v in facts.items() if k not in ("name", "version")}
    return ImportedArm(name=one_line(name, 200), version=facts.get("version") or None, facts=rest)
