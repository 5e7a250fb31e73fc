"""A bundle: everything that a decision was derived from, in one file that this package alone can check."""

from __future__ import annotations

import os
import shutil
import tempfile
from pathlib import Path
from typing import Any

from stages.contract import bundled, layout
from stages.contract.bundled import Bundle
from stages.contract.digest import file_sha256, pretty
from stages.contract.errors import CheckFailed, InputError, UsageError
from stages.contract.text import read_json
from stages.evidence.archive import write_archive
from stages.evidence.opening import Opened
from stages.evidence.signing import sign
from stages.evidence.verify_bill import check_bill, read_bill

LICENCES = ("LICENSE", "LICENCE", "LICENSE.txt", "LICENSE.md", "COPYING")


def bundle(root: Path, out: Path, *, without_hidden: bool, key: Path | None, licence: Path | None) -> dict[str, Any]:
    """Write the bundle of a study's folder; return what it says of itself. The same study gives the same bytes.

    Raises CheckFailed where a file isn't what the bill says, so nothing unchecked is handed on.
    """
    if out.suffix != ".zip" or out.is_dir() or not out.parent.is_dir():
        raise UsageError("OUT", out, "a name that ends in .zip, in a folder that is there")
    wrong = check_bill(Opened(root)).differs
    if wrong:
        raise CheckFailed(wrong[0], "the study isn't what its bill says", "", "run `dvc repro`, or `dvc pull`")
    bill = read_bill(root)
    names = [Path(row.path) for row in bill.files] + [layout.BILL, layout.RUN_BILL]
    names += [layout.REGISTRY] if (root / layout.REGISTRY).is_file() else []
    left = [layout.HIDDEN.as_posix()] if without_hidden and layout.HIDDEN in names else []
    decision = read_json(root / layout.DECISION)
    with tempfile.TemporaryDirectory(prefix=".weighbridge-", dir=out.parent) as folder:
        made = Path(folder)
        files = {name.as_posix(): root / name for name in names if name.as_posix() not in left}
        found = _licence(root, licence)
        if found is not None:
            files[bundled.LICENCE.as_posix()] = found
        (made / bundled.README).write_text(_readme(decision, left, found is not None), encoding="utf-8")
        files[bundled.README.as_posix()] = made / bundled.README
        said = Bundle(
            bill_sha256=file_sha256(root / layout.BILL),
            files={name: file_sha256(path) for name, path in sorted(files.items())},
            without=left,
        )
        (made / bundled.BUNDLE).write_bytes(pretty(bundled.as_written(said)))
        files[bundled.BUNDLE.as_posix()] = made / bundled.BUNDLE
        if key is not None:
            (made / layout.BILL).parent.mkdir()
            shutil.copyfile(root / layout.BILL, made / layout.BILL)
            sign(made, key, decision)
            files |= {name.as_posix(): made / name for name in (bundled.STATEMENT, bundled.SIGNATURE)}
        written = made / "bundle.zip"
        write_archive(written, files)
        digest = file_sha256(written)
        try:
            os.replace(written, out)
        except OSError as error:
            raise InputError(out, f"can't be written ({error.strerror})", "a place for it") from None
    return {
        "bundle": str(out),
        "sha256": digest,
        "bytes": out.stat().st_size,
        "files": len(files),
        "without": left,
        "signed": key is not None,
        "decision": decision["decision"],
        "reason": decision["reason"],
    }


def _licence(root: Path, given: Path | None) -> Path | None:
    if given is not None:
        if not given.is_file():
            raise UsageError("--licence", f"{given} isn't there", "the licence of pack and results")
        return given
    return next((root / name for name in LICENCES if (root / name).is_file()), None)


def _readme(decision: dict[str, Any], left: list[str], licence: bool) -> str:
    """What a stranger reads first. It holds no figure that the decision withholds."""
    arms = [f"{decision[arm]['name']} {decision[arm]['version']}" for arm in ("candidate", "control")]
    lines = [
        "# A weighbridge bundle",
        "",
        f"A paired comparison of {arms[0]} against {arms[1]} on slice {decision['slice_id'][:16]} of",
        f"pack {decision['pack_id']} {decision['pack_revision']}. The decision: **{decision['decision']}**",
        f"(`{decision['reason']}`).",
        "",
        "All that it was derived from lies in this archive. To derive it again, on any machine, without a network:",
        "",
        "    pip install weighbridge",
        "    weighbridge verify THIS.zip",
        "",
        "It says which decision these bytes give, or names the first row and field that differs. `--signer NAME",
        "--allowed-signers FILE` checks who vouches for them, `--deep` judges every patch anew (Linux).",
        "",
        "`reports/report.md` is for reading, `reports/decision.json` is the decision, `reports/bill.json` lists every",
        "file by content. Tables are Parquet files.",
        "",
    ]
    if left:
        lines += [
            "Oracles and reference solutions were left out, so that the pack isn't spent; the plan has their digests.",
            "Without them no patch can be judged anew.",
            "",
        ]
    lines.append("LICENSE holds the terms." if licence else "No licence was given with this study: ask before reuse.")
    return "\n".join([*lines, ""])
