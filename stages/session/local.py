"""Stamps of a local agent, recorded by the harness itself in the format that a provider's stamp has."""

from __future__ import annotations

import platform
from datetime import datetime
from functools import cache
from pathlib import Path
from typing import Literal

from stages.contract.digest import sha256
from stages.contract.stamp import Stamp
from stages.session.summary import GROUPS, no_groups

_NO_PROVIDER = "a local program without a provider"


@cache
def server_id() -> str:
    """`local:` and a hash of this machine: stable over a campaign, tells nothing about it."""
    known = platform.node()
    for name in ("/etc/machine-id", "/var/lib/dbus/machine-id"):
        if Path(name).is_file():
            known += Path(name).read_text(encoding="utf-8", errors="replace").strip()
            break
    return f"local:{sha256(known.encode())[:16]}"


def local_stamp(
    item_id: str,
    arm: Literal["candidate", "control"],
    repeat: int,
    attempt: int,
    started_at: datetime,
    queue_ms: float,
) -> Stamp:
    """The stamp of one attempt of a program on this machine.

    `queue_ms`: from when the attempt was due (a worker was free for it) to the start of its process. `retries` are
    the harness's own. A local program has no provider, hence no quota and no route.
    """
    nothing, why = no_groups(_NO_PROVIDER, (*GROUPS, "access_terms"))
    return Stamp(
        item_id=item_id,
        arm=arm,
        repeat=repeat,
        attempt=attempt,
        evidence="recorded",
        started_at=started_at,
        server_id=server_id(),
        queue_ms=round(queue_ms, 3),
        queue_bound="process_start",
        retries=attempt - 1,
        quota_state="local",
        route_changed=False,
        route_what=[],
        conversation_empty=True,
        inconsistent=[],
        why=why,
        **nothing,
    )
