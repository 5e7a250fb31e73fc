"""A witness's word on when an entry stood: a time-stamp response by RFC 3161, checked without a network."""

from __future__ import annotations

import base64
from dataclasses import dataclass
from datetime import UTC
from typing import TYPE_CHECKING, Any

from stages.contract.errors import InputError, UsageError, one_line
from stages.contract.registry import MAX_TOKEN_BYTES, Registered

if TYPE_CHECKING:
    from cryptography.x509 import Certificate

_EXPECTED = "a time-stamp response (.tsr) over this entry"


@dataclass(frozen=True)
class Witness:
    """When (UTC) an authority saw an entry, and the digest of the root certificate under which its word verifies."""

    at: str
    root_sha256: str


def _library() -> Any:
    try:
        import rfc3161_client
    except ImportError:
        raise UsageError(
            "rfc3161-client", "isn't installed", "it, to read time stamps", "pip install 'weighbridge[witness]'"
        ) from None
    return rfc3161_client


def request_for(entry: Registered) -> bytes:
    """The request that an authority answers, DER."""
    library = _library()
    asked = library.TimestampRequestBuilder().hash_algorithm(library.HashAlgorithm.SHA256)
    made = asked.data(entry.stamped()).nonce(nonce=False).build()
    return bytes(made.as_bytes())


def roots_of(pem: bytes, where: object) -> list[Certificate]:
    """Certificates of a PEM file. Raises InputError."""
    from cryptography import x509

    try:
        return x509.load_pem_x509_certificates(pem)
    except ValueError as error:
        raise InputError(where, f"can't be read ({one_line(error)})", "certificates as PEM") from None


def pem_of(certificate: Certificate) -> str:
    """One certificate as PEM."""
    from cryptography.hazmat.primitives.serialization import Encoding

    return certificate.public_bytes(Encoding.PEM).decode()


def check_token(
    entry: Registered, response: bytes, roots: list[Certificate], where: object
) -> tuple[Witness, Certificate]:
    """What an authority witnessed, and the root under which it verifies.

    Raises InputError where the response isn't over this entry, or verifies under none of the roots.
    """
    from cryptography.hazmat.primitives.hashes import SHA256

    library = _library()
    if len(response) > MAX_TOKEN_BYTES:
        raise InputError(where, f"{len(response):,} bytes", f"{_EXPECTED}, at most {MAX_TOKEN_BYTES:,} bytes")
    try:
        made = library.decode_timestamp_response(response)
        at = made.tst_info.gen_time.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    except ValueError as error:  # also of an authority that refused
        raise InputError(where, f"can't be read ({one_line(error, 100)})", _EXPECTED) from None
    why = "no root certificate was given"
    for root in roots:
        try:
            library.VerifierBuilder(roots=[root]).build().verify_message(made, entry.stamped())
        except (library.VerificationError, ValueError) as error:
            why = one_line(error, 200)
            continue
        return Witness(at, root.fingerprint(SHA256()).hex()), root
    raise InputError(where, f"isn't a witness of this entry: {why}", _EXPECTED, "ask with `register --request`")


def witnessed(entry: Registered, where: object, roots: list[Certificate] | None = None) -> Witness | None:
    """What the token of an entry shows, under its own root or under `roots`; None where it has none."""
    if entry.token is None:
        return None
    own = roots if roots is not None else roots_of((entry.tsa or "").encode(), where)
    return check_token(entry, base64.b64decode(entry.token), own, where)[0]
