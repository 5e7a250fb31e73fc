"""A study that was read from logs, derived again: its ids, pairs and exclusions, decision and report."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from stages.contract import imported, layout, parquet, tables
from stages.contract.errors import UsageError
from stages.contract.imported import read_imported
from stages.contract.text import read_json
from stages.evidence.checking import Check, compare_json, compare_tables
from stages.evidence.opening import REPORTS, Opened
from stages.evidence.verify_bill import require_files
from stages.evidence.verify_study import decided_check


def imported_checks(
    found: Opened, deep: bool, tsa: Path | None, say: Callable[[str], None]
) -> tuple[list[Check], dict[str, Any]]:
    """(checks, the decision that was derived). Raises WeighbridgeError where a file can't be read."""
    root = found.root
    if tsa is not None:
        raise UsageError("--tsa", "logs hold no time stamp", "a study that ran")
    require_files(root, [*layout.IMPORTED, layout.PAIRS, layout.EXCLUSIONS, *REPORTS])
    checks = [_read_check(root), _kept_check(root)]
    if any(check.differs for check in checks):
        return checks, read_json(root / layout.DECISION)
    decided, decision = decided_check(root)
    return [*checks, decided, _logs_check(found, deep, say)], decision


def _read_check(root: Path) -> Check:
    from stages.gate import imported_findings
    from stages.gate.imported import imported_tables

    check = Check("read", "manifest, items, trials, ledger and findings as they were read from the logs")
    manifest = read_imported(root)
    imported_tables(root)
    imported_findings(root)
    check.note = f"slice {manifest.slice_id[:16]}, {len(manifest.sources)} logs"
    return check


def _kept_check(root: Path) -> Check:
    from stages.gate import apply_import_rules

    check = Check("exclusions", "pairs and exclusions, derived from the ledger by the registered rules")
    pairs, exclusions = apply_import_rules(root)
    for name, derived in ((layout.PAIRS, pairs), (layout.EXCLUSIONS, parquet.table(tables.EXCLUSIONS, exclusions))):
        compare_tables(check, name, parquet.read(root / name, derived.schema), derived, "ledger and rules give")
    return check


def _logs_check(found: Opened, deep: bool, say: Callable[[str], None]) -> Check:
    """The logs read again, where they lie and that was asked for."""
    check = Check("logs", "the logs, read again")
    if not deep:
        check.unread.append("the logs weren't read again (--deep does)")
    elif not (found.root / layout.PARAMS).is_file():
        check.unread.append("the logs aren't part of a bundle: read them where they lie, with `weighbridge judge`")
    else:
        _read_again(check, found.root, say)
    return check


def _read_again(check: Check, root: Path, say: Callable[[str], None]) -> None:
    from stages.contract.importing import LogParams
    from stages.contract.types import validate
    from stages.contract.yamlfile import read_yaml
    from stages.evidence.importing import write_study

    params = validate(LogParams, read_yaml(root / layout.PARAMS), layout.PARAMS)
    say("reading the logs again")
    with tempfile.TemporaryDirectory(prefix="weighbridge-") as folder:
        again = Path(folder)
        write_study(again, root, params.import_, params.study, params.protocol, f"{layout.PARAMS}: protocol")
        for name in (layout.MANIFEST, layout.INGEST):
            compare_json(check, str(name), read_json(root / name), read_json(again / name))
        for name, schema in (
            (layout.ITEMS, imported.ITEMS),
            (layout.TRIALS, imported.TRIALS),
            (layout.LEDGER, imported.LEDGER),
            (layout.FINDINGS, tables.FINDINGS),
        ):
            compare_tables(
                check, name, parquet.read(root / name, schema), parquet.read(again / name, schema), "logs give"
            )
    check.note = "read again"
