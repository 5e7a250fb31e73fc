"""Bundles that mean harm: each refused in one line, in bounded memory, with nothing written outside."""

from __future__ import annotations

import io
import json
import re
import struct
import subprocess
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pytest

from stages.contract import bundled, layout
from stages.contract.digest import pretty
from tests.support.bundles import make_bundle, members, rehash, rezip, said_digests, stored, table_bytes
from tests.support.sample import sampled

Files = dict[str, bytes]
LEDGER, BILL, PLAN = layout.LEDGER.as_posix(), layout.BILL.as_posix(), layout.PLAN.as_posix()
MOST_MEMORY = 500 * 1024 * 1024
CODE = """
import re, sys
from pathlib import Path
from stages.contract.errors import WeighbridgeError
from stages.evidence.verify import verify
try:
    found = verify(Path(sys.argv[1]))
    print(found.exit_code, found.line())
except WeighbridgeError as error:
    print(error.exit_code, error)
peak = re.search(r"VmHWM:\\s+(\\d+) kB", Path("/proc/self/status").read_text())
print(int(peak[1]) * 1024)
"""


@pytest.fixture(scope="module")
def sound(ran: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_bundle(ran, tmp_path_factory.mktemp("sound") / "sound.zip")


def _rezipped(change: Callable[[Files], object], *, follow: bool = True) -> Callable[[Files, Path], bytes]:
    """Members changed and written as the package writes them; `follow`: the bundle's own list and the bill too."""

    def make(files: Files, folder: Path) -> bytes:
        edited = dict(files)
        change(edited)
        if follow:
            edited = said_digests(edited, folder / "d")
        return rezip(edited, folder / "f", folder / "made.zip").read_bytes()

    return make


def _billed(name: str, data: Callable[[Files], bytes]) -> Callable[[Files, Path], bytes]:
    """A file of the study replaced, bill and list made right as far as they can be."""

    def make(files: Files, folder: Path) -> bytes:
        edited = {**files, name: data(files)}
        bill = json.loads(edited[BILL])
        import hashlib

        for row in bill["files"]:
            if row["path"] == name:
                row |= {"bytes": len(edited[name]), "sha256": hashlib.sha256(edited[name]).hexdigest()}
        edited[BILL] = pretty(bill)
        lines = [f"{row['sha256']}  {row['path']}\n" for row in bill["files"]]
        digest = hashlib.sha256(edited[BILL]).hexdigest()
        edited[layout.RUN_BILL.as_posix()] = "".join([*lines, f"{digest}  {BILL}\n"]).encode()
        return rezip(said_digests(edited, folder / "d"), folder / "f", folder / "made.zip").read_bytes()

    return make


def _linked(files: Files, _: Path) -> bytes:
    return stored({**files, PLAN: b"/etc/passwd"}, mode=0o120777)


def _twice(files: Files, _: Path) -> bytes:
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w") as archive:
        for name in (*sorted(files), PLAN):
            info = zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0))
            info.create_system, info.external_attr = 3, 0o100644 << 16
            archive.writestr(info, files[name])
    return made.getvalue()


def _encrypted(files: Files, folder: Path) -> bytes:
    data = bytearray(rezip(files, folder / "f", folder / "made.zip").read_bytes())
    for mark, at in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        place = data.find(mark)
        while place >= 0:
            data[place + at] |= 1
            place = data.find(mark, place + 4)
    return bytes(data)


def _many(files: Files, _: Path) -> bytes:
    return stored({**files, **{f"x{n}": b"" for n in range(50_000)}})


def _lying_directory(files: Files, folder: Path) -> bytes:
    data = bytearray(rezip(files, folder / "f", folder / "made.zip").read_bytes())
    end = data.rfind(b"PK\x05\x06")
    struct.pack_into("<I", data, end + 12, 0xFFFFFF)
    return bytes(data)


def _flood(rows: int) -> bytes:
    return table_bytes(pa.table({"item_id": [""] * rows}), use_dictionary=False, compression="zstd")


def _nulls(rows: int) -> bytes:
    made = pa.table({"item_id": pa.nulls(rows, pa.string())})
    return table_bytes(made, use_dictionary=False, compression="zstd")


def _lying_page(files: Files) -> bytes:
    """A page whose own header says that it unpacks to 2 GB, where the footer says little."""
    data = bytearray(files[LEDGER])
    at = 4 + 1  # magic, then the page header: field 1 (type), field 2 (size when unpacked) as zigzag varints
    start = at + 2
    end = start
    while data[end] & 128:
        end += 1
    size = end - start + 1
    largest = bytes([0xFE] + [0xFF] * (size - 2) + [0x7F])
    data[start : end + 1] = largest
    return bytes(data)


def _footer(files: Files) -> bytes:
    return files[LEDGER][:-8] + struct.pack("<I", 0x7FFFFFFF) + b"PAR1"


def _metadata(_: Files) -> bytes:
    made = pa.table({"item_id": ["x"]}).replace_schema_metadata({"a": "b" * 40_000_000})
    return table_bytes(made, use_dictionary=False)


HOSTILE: dict[str, Callable[[Files, Path], bytes]] = {
    "no ZIP file": lambda *_: b"not a zip file" * 100,
    "an empty file": lambda *_: b"",
    "truncated": lambda files, folder: rezip(files, folder / "f", folder / "m.zip").read_bytes()[:-1000],
    "cut within a member": lambda files, folder: rezip(files, folder / "f", folder / "m.zip").read_bytes()[1000:],
    "something before it": lambda files, folder: b"#!/bin/sh\n" + rezip(files, folder / "f", folder / "m.zip").read_bytes(),
    "something after it": lambda files, folder: rezip(files, folder / "f", folder / "m.zip").read_bytes() + b"x",
    "a deflated bomb": lambda files, _: stored({**files, PLAN: b" " * 300_000_000}, compression=zipfile.ZIP_DEFLATED),
    "a bzip2 bomb": lambda files, _: stored({**files, PLAN: b" " * 200_000_000}, compression=zipfile.ZIP_BZIP2),
    "a path that leads up": lambda files, _: stored({**files, "../escaped": b"x"}),
    "an absolute path": lambda files, _: stored({**files, "/tmp/weighbridge-escaped": b"x"}),
    "a path with a drive": lambda files, _: stored({**files, "C:\\escaped": b"x"}),
    "a path with a dot": lambda files, _: stored({**files, "./data/frozen/../x": b"x"}),
    "a link": _linked,
    "a folder": lambda files, _: stored({**files, "data/": b""}),
    "a file that nobody knows": lambda files, _: stored({**files, "stages/__init__.py": b"raise SystemExit"}),
    "a member twice": _twice,
    "encrypted": _encrypted,
    "fifty thousand members": _many,
    "a directory that lies": _lying_directory,
    "no list": _rezipped(lambda files: files.pop(bundled.BUNDLE.as_posix()), follow=False),
    "no bill": _rezipped(lambda files: files.pop(BILL), follow=False),
    "a list with another key": _rezipped(
        lambda files: files.update({bundled.BUNDLE.as_posix(): b'{"schema": "weighbridge.bundle/2"}'}), follow=False
    ),
    "half a signature": _rezipped(lambda files: files.update({bundled.STATEMENT.as_posix(): b"{}"})),
    "a signature that is none": _rezipped(
        lambda files: files.update({bundled.STATEMENT.as_posix(): b"{}", bundled.SIGNATURE.as_posix(): b"x" * 100})
    ),
    "a bill of another path": _rezipped(
        lambda files: files.update({BILL: files[BILL].replace(b"data/exclusions.jsonl", b"/etc/../etc/passwd")})
    ),
    "deep JSON": _billed(PLAN, lambda _: b"[" * 200_000 + b"]" * 200_000),
    "wide JSON": _billed(PLAN, lambda _: b"[" + b"[]," * 15_000_000 + b"[]]"),
    "huge JSON": _billed(PLAN, lambda _: b'{"a": "' + b"x" * 100_000_000 + b'"}'),
    "an integer of a million digits": _billed(PLAN, lambda _: b'{"a": ' + b"9" * 1_000_000 + b"}"),
    "NaN": _billed(PLAN, lambda files: files[PLAN].replace(b'"trial_budget": 2', b'"trial_budget": NaN')),
    "a byte-order mark": _billed(PLAN, lambda files: b"\xef\xbb\xbf" + files[PLAN]),
    "Parquet of another schema": _billed(LEDGER, lambda _: table_bytes(pa.table({"x": [1]}), use_dictionary=False)),
    "Parquet that is none": _billed(LEDGER, lambda _: b"PAR1" + b"x" * 100 + b"PAR1"),
    "Parquet of a hundred million rows": _billed(LEDGER, lambda _: _nulls(100_000_000)),
    "Parquet that unpacks to much": _billed(LEDGER, lambda _: _flood(20_000_000)),
    "Parquet with a page that lies": _billed(LEDGER, _lying_page),
    "Parquet with a footer that lies": _billed(LEDGER, _footer),
    "Parquet with huge metadata": _billed(LEDGER, _metadata),
    "Parquet with a dictionary": _billed(LEDGER, lambda _: table_bytes(pa.table({"x": ["a"] * 1000}))),
}  # fmt: skip


@pytest.mark.parametrize("what", sampled(HOSTILE, 3))
def test_it_is_refused_in_a_line(what: str, sound: Path, tmp_path: Path) -> None:
    target = tmp_path / "inner"
    (target / "tmp").mkdir(parents=True)
    (target / "hostile.zip").write_bytes(HOSTILE[what](members(sound), tmp_path / "made"))
    before = sorted(p for p in tmp_path.rglob("*") if "made" not in p.parts)
    done = subprocess.run(
        [sys.executable, "-c", CODE, "hostile.zip"],
        cwd=target, capture_output=True, text=True, timeout=120, check=False,
        env={"PYTHONPATH": str(Path(__file__).parents[2]), "TMPDIR": str(target / "tmp"), "PATH": "/usr/bin:/bin"},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    said, peak = done.stdout.strip().rsplit("\n", 1)
    assert re.match(r"[12] ", said), said
    assert "\n" not in said
    assert "verified" not in said
    assert int(peak) < MOST_MEMORY
    assert sorted(p for p in tmp_path.rglob("*") if "made" not in p.parts) == before
    assert not Path("/tmp/weighbridge-escaped").exists()


def test_the_sound_one_is_not_refused(sound: Path, tmp_path: Path) -> None:
    again = rezip(said_digests(members(sound), tmp_path / "d"), tmp_path / "f", tmp_path / "again.zip")
    assert again.read_bytes() == sound.read_bytes()


def test_nothing_unchecked_is_bundled(study: Path, tmp_path: Path) -> None:
    (study / layout.REPORT_MD).write_text("better!\n")
    done = subprocess.run(
        [sys.executable, "-m", "stages", "bundle", str(tmp_path / "out.zip")],
        cwd=study, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 1
    assert "reports/report.md" in done.stderr
    assert not (tmp_path / "out.zip").exists()
    rehash(study)
    assert make_bundle(study, tmp_path / "out.zip").exists()
