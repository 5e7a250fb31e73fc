"""Ids, patches and reasons of SWE-bench's family of logs, as text that may go into a table."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Any

from stages.contract.errors import InputError, one_line
from stages.contract.limits import MAX_PATH_CHARS, PATCH_BYTES
from stages.ingest import secrets

_PRO = re.compile(r"instance_(.+?)-[0-9a-f]{40}(?:-v.*)?")
_SMITH = re.compile(r"([^.]+__[^.]+)\.[0-9a-f]{8}(?:\..*)?")
_NUMBERED = re.compile(r"(.+__.+)-\d+")
_SECRETS = re.compile(
    r"(?i)\b(?:sk|pk|rk|gh[opsur]|glpat|xox[abprs]|hf|AKIA|AIza)[-_]?[A-Za-z0-9_-]{12,}"
    r"|\beyJ[\w-]{8,}(?:\.[\w-]+)*"
    r"|(?<=://)[^/\s@]+(?=@)"
    r"|(?:(?<=bearer )|(?<=basic ))\S+"
    r"|[\w.+-]+@[\w-]+\.[\w.-]+"
    r"|(?:(?<=token=)|(?<=key=)|(?<=password=)|(?<=secret=)|(?<=token: )|(?<=key: )|(?<=cookie: )|(?<=tion: ))\S{6,}"
)
REASON_CHARS = 200


def repository(item: str) -> str | None:
    """The repository that an instance id names, as `owner__name`; None where it names none.

    `django__django-11206`, `instance_NodeBB__NodeBB-<sha>-v<sha>` (SWE-bench Pro: commit of 40 hex digits, and after it
    an optional version that starts with v), `owner__name.<sha8>.kind__hash` (SWE-smith).
    """
    for shape in (_PRO, _SMITH, _NUMBERED):
        if found := shape.fullmatch(item):
            return found[1]
    return None


def item_id(where: object, value: Any) -> str:
    """An instance id: printable text of at most 240 characters. Raises InputError."""
    if not isinstance(value, str):
        raise InputError(where, "the instance id isn't text", "an instance id, such as django__django-11206")
    if not value.strip() or len(value) > MAX_PATH_CHARS or not value.isprintable():
        raise InputError(where, f"{value[:80]!r} is no instance id", f"1 to {MAX_PATH_CHARS} printable characters")
    return value


def patch_bytes(where: object, value: Any) -> bytes | None:
    """The diff's bytes; None of null. Raises InputError."""
    if value is None:
        return None
    if not isinstance(value, str):
        raise InputError(where, "the patch isn't text", "a unified diff as text, or null")
    try:
        made = value.encode()
    except UnicodeEncodeError:
        raise InputError(where, "the patch has half of a surrogate pair", "whole Unicode text") from None
    if len(made) > PATCH_BYTES:
        raise InputError(where, f"the patch has {len(made):,} bytes", f"at most {PATCH_BYTES:,}")
    return made


def flag(where: object, name: str, value: Any) -> bool | None:
    """true, false or null. Raises InputError."""
    if value is not None and not isinstance(value, bool):
        raise InputError(where, f"`{name}` is {one_line(repr(value), 40)}", "true, false or null")
    return value


def text_of(value: Any, most: int = 240) -> str | None:
    """A printable text without secrets; None of anything else."""
    if not isinstance(value, str) or not value.strip():
        return None
    return without_secrets(one_line(value.strip().encode("utf-8", "replace").decode(), most))


def without_secrets(text: str) -> str:
    """Keys, tokens, credentials in addresses and e-mail addresses cut out."""
    return secrets.clean(_SECRETS.sub("[cut]", text), "[cut]")


def first_line(text: str) -> str:
    """The first line that isn't blank, without secrets, at most 200 characters."""
    line = next((line.strip() for line in text[:65_536].splitlines() if line.strip()), "")
    safe = line.encode("utf-8", "replace").decode()
    return one_line(without_secrets(safe[: 4 * REASON_CHARS]), REASON_CHARS)


def is_infrastructure(error: str, declared: Sequence[str]) -> bool:
    """Whether an error holds one of the texts that people declared to be the harness's own faults."""
    return any(text and text in error for text in declared)


def joined(reasons: Iterable[str]) -> str | None:
    """Several reasons as one text, each once; None of none."""
    made = "; ".join(dict.fromkeys(r for r in reasons if r))
    return one_line(made, REASON_CHARS) if made else None
