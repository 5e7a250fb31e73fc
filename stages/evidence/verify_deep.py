"""The deep part of verify: every patch judged anew by its oracle, isolated, and the pack frozen anew where it lies."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from stages.contract import layout, parquet, tables
from stages.contract.errors import WeighbridgeError
from stages.contract.plan import Manifest, Plan
from stages.contract.study import read_params
from stages.contract.text import read_json
from stages.evidence.checking import Check, compare_json, compare_tables
from stages.evidence.opening import Opened

OBSERVED = {
    "verdicts": ("wall_s", "cpu_s", "max_rss_kb", "isolation", "reason"),
    "ledger": ("verdict_reason", "verdict_isolation"),
}
"""What a second look at one patch may give otherwise: times, memory, and words that hold them."""
_FROZEN = [layout.PLAN, layout.ADMITTED, layout.ITEMS, layout.TREES, layout.HIDDEN]
_STORED = [layout.TRIALS, layout.PATCHES, layout.STAMPS, layout.TRANSCRIPTS]


def deep_checks(found: Opened, plan: Plan, manifest: Manifest, say: Callable[[str], None]) -> list[Check]:
    """Verdicts and findings observed anew, and the pack frozen anew. Stored verdicts aren't reused."""
    return [_scored(found, plan, manifest, say), _frozen(found)]


def _scored(found: Opened, plan: Plan, manifest: Manifest, say: Callable[[str], None]) -> Check:
    from stages.score import TABLES, scored

    check = Check("score", "every patch judged anew by its oracle, isolated")
    if layout.HIDDEN.as_posix() in found.without:
        check.unread.append("oracles were left out of this bundle, so no patch could be judged anew")
        return check
    with _alone() as root:
        for name in (*_FROZEN, *_STORED):
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(found.root / name, root / name)
        try:
            made = scored(root, plan, manifest.oracle, allow_no_isolation=False, say=say)
        except WeighbridgeError as error:
            check.unread.append(str(error))
            return check
    for kind, rows in made.items():
        stored = parquet.read(found.root / TABLES[kind], tables.ALL[kind])
        derived = parquet.table(tables.ALL[kind], rows)
        compare_tables(check, TABLES[kind], stored, derived, "its patch gives", OBSERVED.get(kind, ()))
    check.note = f"{len(made['verdicts'])} verdicts"
    return check


@contextmanager
def _alone() -> Iterator[Path]:
    """An empty folder with a verdict store of its own, whatever DVC says of where stores lie."""
    before = os.environ.pop("DVC_ROOT", None)
    try:
        with tempfile.TemporaryDirectory(prefix="weighbridge-") as folder:
            yield Path(folder)
    finally:
        if before is not None:
            os.environ["DVC_ROOT"] = before


def _frozen(found: Opened) -> Check:
    from stages.freeze import freeze

    check = Check("freeze", "the pack, frozen anew")
    if found.bundle is not None or not (found.root / layout.PARAMS).is_file():
        check.unread.append("the authored pack isn't here: its frozen bytes are, and were checked")
        return check
    params = read_params(found.root)
    pack = Path(params.pack.path)
    named = [layout.PARAMS, *(Path(a.patches) for a in (params.arms.candidate, params.arms.control) if a.patches)]
    with _alone() as root:
        (root / pack).parent.mkdir(parents=True, exist_ok=True)
        (root / pack).symlink_to((found.root / pack).resolve(), target_is_directory=True)
        for name in named:
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(found.root / name, root / name)
        freeze(root)
        for name in (layout.PLAN, layout.MANIFEST):
            compare_json(check, str(name), read_json(found.root / name), read_json(root / name))
        for name, schema in (
            (layout.ITEMS, tables.ITEMS),
            (layout.TREES, tables.TREES),
            (layout.HIDDEN, tables.HIDDEN),
        ):
            stored, derived = parquet.read(found.root / name, schema), parquet.read(root / name, schema)
            compare_tables(check, name, stored, derived, "the pack gives")
    check.note = "the same"
    return check
