"""Every file against the bill: that it is there, its size, its bytes, its rows; and the bill against itself."""

from __future__ import annotations

from pathlib import Path

from stages.contract import bundled, imported, layout, parquet, tables
from stages.contract.bill import PARTS, run_bill
from stages.contract.bundled import Bill, BillFile
from stages.contract.digest import digest, file_sha256, pretty
from stages.contract.errors import InputError
from stages.contract.imported import is_imported
from stages.contract.parquet_pages import check_size
from stages.contract.text import read_json
from stages.contract.types import validate
from stages.evidence.checking import Check
from stages.evidence.opening import PARTS_OF_BILL, REPORTS, Opened

_STAGE = {name.as_posix(): stage for name, stage, _ in PARTS} | {name.as_posix(): "report" for name in REPORTS}
_KIND = {name.as_posix(): kind for name, _, kind in PARTS}


def read_bill(root: Path) -> Bill:
    """`reports/bill.json`. Raises MissingInput or InputError."""
    return validate(Bill, read_json(root / layout.BILL), layout.BILL)


def check_bill(found: Opened) -> Check:
    """Hash all files of the bill again, without DVC's state."""
    check = Check("bill", "every file of the bill, hashed again")
    root, bill = found.root, read_bill(found.root)
    written = pretty(bundled.as_written(bill) | {"packages": bill.packages})
    if (root / layout.BILL).read_bytes() != written:
        check.differs.append(f"{layout.BILL}: isn't written as the report stage writes it")
    rows = {row.path: row for row in bill.files}
    if len(rows) != len(bill.files) or [row.path for row in bill.files] != sorted(rows):
        check.differs.append(f"{layout.BILL}: files that stand twice, or in another order")
    known = {name.as_posix() for name in PARTS_OF_BILL}
    wanted = set(_needed(root))
    for path in sorted(known & (rows.keys() | wanted | {name for name in known if (root / name).exists()})):
        if path not in rows:
            check.differs.append(f"{path}: is there, and the bill doesn't list it" if (root / path).exists() else path)
        elif not (root / path).is_file():
            (check.unread if path in found.without else check.differs).append(f"{path}: isn't there")
        else:
            _same_file(check, root, rows[path])
    for path in sorted(rows.keys() - known):
        check.differs.append(f"{path}: listed in the bill, and no part of a study")
    if (root / layout.RUN_BILL).is_file():
        if (root / layout.RUN_BILL).read_bytes() != run_bill(
            bundled.as_written(bill), (root / layout.BILL).read_bytes()
        ):
            check.differs.append(f"{layout.RUN_BILL}: isn't what the bill gives")
    else:
        check.differs.append(f"{layout.RUN_BILL}: isn't there")
    check.note = f"{len(rows)} files"
    return check


def _needed(root: Path) -> list[str]:
    made = layout.IMPORTED if is_imported(root) else [layout.PLAN, layout.MANIFEST, layout.LEDGER, layout.CAMPAIGN]
    return [name.as_posix() for name in [*made, layout.PAIRS, layout.EXCLUSIONS, *REPORTS]]


def _same_file(check: Check, root: Path, row: BillFile) -> None:
    path = root / row.path
    whole = check.same(f"{row.path}: bytes", path.stat().st_size, row.bytes, "as the bill says")
    whole &= check.same(f"{row.path}: sha256", file_sha256(path), row.sha256, "as the bill says")
    check.same(f"{layout.BILL}: {row.path}: stage", row.stage, _STAGE[row.path])
    kind = _KIND.get(row.path)
    if not whole:
        return
    if kind is not None:
        check_size(path)
        own = kind in imported.ALL and is_imported(root)
        made = parquet.read(path, (imported.ALL if own else tables.ALL)[kind])
        check.same(f"{row.path}: rows_sha256", parquet.rows_sha256(made), row.rows_sha256, "as the bill says")
    elif path.suffix == ".json" and row.stage != "report":
        check.same(f"{row.path}: json_sha256", digest(read_json(path)), row.json_sha256, "as the bill says")


def check_bill_ids(check: Check, bill: Bill, decision: dict[str, object]) -> None:
    """The ids that the bill repeats are the decision's."""
    check.same(f"{layout.BILL}: decision_sha256", bill.decision_sha256, digest(decision), "as the decision gives")
    for name in ("manifest_sha256", "slice_id", "study_id"):
        check.same(f"{layout.BILL}: {name}", getattr(bill, name), decision[name], "as the decision says")


def require_files(root: Path, names: list[Path]) -> None:
    """Raise InputError where a file isn't there."""
    for name in names:
        if not (root / name).is_file():
            raise InputError(name, "isn't there", "a file of the study", "`dvc pull` fetches it")
