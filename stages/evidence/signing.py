"""Signatures: an in-toto statement over a bundle's bill and list, signed and checked by OpenSSH's own `ssh-keygen -Y`.

The statement's subjects are digests, its predicate is the decision. Whoever checks one names the signer and a file of
allowed signers; without them a signature only shows that somebody held its key.
"""

from __future__ import annotations

import base64
import binascii
import shutil
import subprocess
import tempfile
import textwrap
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from stages.contract import bundled, layout
from stages.contract.digest import file_sha256, pretty
from stages.contract.errors import InputError, UsageError, one_line
from stages.contract.text import read_bytes, read_json
from stages.evidence.checking import Check
from stages.evidence.opening import Opened

NAMESPACE = "weighbridge"
TYPE = "https://in-toto.io/Statement/v1"
PREDICATE = "tag:weighbridge,2026:decision/1"
SUBJECTS = [layout.BILL, bundled.BUNDLE]
MAX_BYTES = 64 * 1024
_BEGIN, _END = b"-----BEGIN SSH SIGNATURE-----\n", b"-----END SSH SIGNATURE-----\n"


@dataclass(frozen=True)
class Signer:
    """Who must have signed, and OpenSSH's file of allowed signers, which says by which keys they do."""

    identity: str
    allowed: Path


def statement_of(root: Path, decision: dict[str, Any]) -> dict[str, Any]:
    """The statement on a bundle's files below `root`."""
    return {
        "_type": TYPE,
        "subject": [{"name": n.as_posix(), "digest": {"sha256": file_sha256(root / n)}} for n in SUBJECTS],
        "predicateType": PREDICATE,
        "predicate": decision,
    }


def sign(root: Path, key: Path, decision: dict[str, Any]) -> None:
    """Write statement and signature below `root`. Raises UsageError where the key can't sign."""
    if not key.is_file():
        raise UsageError("--sign", f"{key} isn't there", "the file of an SSH key")
    path = root / bundled.STATEMENT
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(pretty(statement_of(root, decision)))
    done = _keygen("sign", "-q", "-n", NAMESPACE, "-f", str(key.resolve()), str(path), data=None)
    if done.returncode or not (root / bundled.SIGNATURE).is_file():
        raise UsageError(
            "--sign", _last(done), "a key that ssh-keygen can sign with", "ssh-add it if it has a passphrase"
        )


def check_signature(found: Opened, signer: Signer | None) -> tuple[Check, str | None]:
    """(the check, who signed: the named signer, or None where nobody vouches for it)."""
    check = Check("signature", "who vouches for these bytes")
    if not found.signed:
        if signer is not None:
            check.differs.append(f"unsigned: expected a signature by {signer.identity}")
        check.note = "unsigned"
        return check, None
    statement, signature = found.root / bundled.STATEMENT, found.root / bundled.SIGNATURE
    data = read_bytes(statement, bundled.MAX_JSON_BYTES, "a statement")
    said = read_json(statement, bundled.MAX_JSON_BYTES)
    if data != pretty(said):
        check.differs.append(f"{bundled.STATEMENT}: isn't written as it would be")
    expected = statement_of(found.root, read_json(found.root / layout.DECISION))
    for key in sorted(expected.keys() | said.keys()):
        if said.get(key) != expected.get(key):
            check.differs.append(f"{bundled.STATEMENT}: {key} isn't of these files: altered after it was signed")
    if _armoured(signature) != read_bytes(signature, MAX_BYTES, "a signature"):
        check.differs.append(f"{bundled.SIGNATURE}: isn't written as ssh-keygen writes it")
    done = _keygen("check-novalidate", "-n", NAMESPACE, "-s", str(signature), data=data)
    if done.returncode:
        check.differs.append(f"{bundled.SIGNATURE}: altered: it isn't of this statement ({_last(done)})")
        return check, None
    fingerprint = next((w for w in done.stdout.split() if w.startswith("SHA256:")), "an unknown key")
    if signer is None:
        check.note = f"made with the key {fingerprint}, for which nobody vouched: give --signer"
        return check, None
    if not signer.allowed.is_file():
        raise UsageError("--allowed-signers", f"{signer.allowed} isn't there", "a file of allowed signers")
    words = ("-I", signer.identity, "-f", str(signer.allowed.resolve()))
    done = _keygen("verify", *words, "-n", NAMESPACE, "-s", str(signature), data=data)
    if done.returncode:
        check.differs.append(f"foreign-signed: by {fingerprint}, which isn't a key of {one_line(signer.identity)}")
        return check, None
    check.note = f"by {signer.identity}, {fingerprint}"
    return check, None if check.differs else signer.identity


def _armoured(signature: Path) -> bytes:
    """The signature's bytes in the one form that ssh-keygen gives them."""
    data = read_bytes(signature, MAX_BYTES, "a signature")
    if not data.startswith(_BEGIN) or not data.endswith(_END):
        return b""
    try:
        raw = base64.b64decode(data[len(_BEGIN) : -len(_END)].replace(b"\n", b""), validate=True)
    except binascii.Error:
        return b""
    lines = textwrap.wrap(base64.b64encode(raw).decode(), 70)
    return _BEGIN + "".join(f"{line}\n" for line in lines).encode() + _END


def _keygen(what: str, *words: str, data: bytes | None) -> subprocess.CompletedProcess[str]:
    program = shutil.which("ssh-keygen")
    if program is None:
        raise UsageError("ssh-keygen", "isn't on PATH", "OpenSSH 8.1 or later, which signs and checks")
    with tempfile.TemporaryFile() as stream:
        stream.write(data or b"")
        stream.seek(0)
        try:
            return subprocess.run(
                [program, "-Y", what, *words],
                stdin=stream,
                capture_output=True,
                text=True,
                errors="replace",
                timeout=60,
            )
        except subprocess.TimeoutExpired:
            raise InputError(
                "ssh-keygen", "gave no answer for a minute", "a key that needs nobody at a terminal"
            ) from None


def _last(done: subprocess.CompletedProcess[str]) -> str:
    lines = (done.stderr or done.stdout).strip().splitlines()
    return one_line(lines[-1] if lines else f"exit code {done.returncode}", 200)
