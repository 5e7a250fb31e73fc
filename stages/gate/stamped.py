"""The stamps of a ledger's trials: whose they are, and which of them are evidence."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

from stages.contract.errors import InputError
from stages.contract.stamp import Stamp
from stages.session import parse_stamps

Key = tuple[str, str, int]
Stamps = dict[Key, list[Stamp | str]]


def own_stamps(key: Key, column: str) -> list[Stamp | str]:
    """The stamps of a trial; one that can't be read, or is another trial's, is a text that says so."""
    return [_own(one, key) for one in parse_stamps(column, f"stamps of {key[0]}")]


def _own(stamp: Stamp | str, key: Key) -> Stamp | str:
    if isinstance(stamp, str) or (stamp.item_id, stamp.arm, stamp.repeat) == key:
        return stamp
    return f"a stamp of {stamp.item_id} ({stamp.arm}, repeat {stamp.repeat})"


def evidence_of(stamps: Sequence[Stamp | str]) -> list[Stamp]:
    """Those that a recorder or a harness wrote."""
    return [s for s in stamps if isinstance(s, Stamp) and s.evidence != "asserted"]


def is_local(stamp: Stamp) -> bool:
    """Whether it is that of a program without a provider."""
    return stamp.quota_state == "local" and stamp.requested is None and stamp.served is None


def moment(text: str, where: object) -> datetime:
    """A time as tables hold it. Raises InputError."""
    try:
        made = datetime.fromisoformat(text)
    except ValueError:
        raise InputError(f"{where}: started_at", f"found {text!r}", "a time in ISO 8601", "score again") from None
    if not 1970 <= made.year < 9999:
        raise InputError(f"{where}: started_at", f"found {text!r}", "a year from 1970 to 9998", "score again")
    return made if made.tzinfo else made.replace(tzinfo=UTC)


def ran(row: Mapping[str, Any]) -> tuple[datetime, datetime]:
    """When the last attempt of a ledger's row started and ended. Raises InputError."""
    started = moment(row["started_at"], f"ledger row of {row['item_id']}")
    try:
        return started, started + timedelta(seconds=row["wall_s"])
    except (OverflowError, ValueError):
        raise InputError(f"ledger row of {row['item_id']}: wall_s", f"found {row['wall_s']}", "seconds") from None
