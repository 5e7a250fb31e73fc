"""Whether preflight refused weak oracles by the limit that is frozen."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

from stages.contract import layout
from stages.contract.digest import rational_text
from stages.contract.errors import InputError
from stages.contract.protocol import Protocol


def check_weak(protocol: Protocol, admitted: Mapping[str, Any], checks: Sequence[Mapping[str, Any]]) -> None:
    """Raise InputError where the mutants that passed and the protocol's limit give another word on an item.

    `admitted` maps items to preflight's word, `checks` holds its evidence. The plan doesn't hold the limit, so another
    limit leaves the plan's digest, and with it preflight's files, as they are.
    """
    limit = protocol.mutant_limit()
    mutants: dict[str, list[bool]] = {}
    for row in checks:
        if row["check"] == "mutant":
            mutants.setdefault(row["item_id"], []).append(not row["ok"])
    for item_id, entry in admitted.items():
        passed = mutants.get(item_id, [])
        weak = limit is not None and bool(passed) and Fraction(sum(passed), len(passed)) > limit
        if weak != (entry["rule"] == "oracle_weak"):
            raise InputError(
                f"{layout.ADMITTED}: {item_id}",
                f"{entry['rule'] or 'admitted'}, with {sum(passed)} of {len(passed)} mutants passed",
                "any share" if limit is None else f"oracle_weak beyond {rational_text(limit)}, as frozen",
                "run `weighbridge preflight`",
            )
