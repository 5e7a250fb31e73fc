"""The hard limits that no protocol can loosen: one that does is withheld."""

from __future__ import annotations

from stages.contract import limits
from stages.contract.digest import rational_text
from stages.contract.protocol import Protocol


def below_floor(protocol: Protocol) -> list[str]:
    """What the protocol sets looser than the hard limits, a phrase each."""
    found = []
    if protocol.alpha > limits.FLOOR_ALPHA:
        found.append(f"alpha {rational_text(protocol.alpha)}, at most {rational_text(limits.FLOOR_ALPHA)}")
    if protocol.max_excluded_share > limits.FLOOR_EXCLUDED_SHARE:
        share, most = rational_text(protocol.max_excluded_share), rational_text(limits.FLOOR_EXCLUDED_SHARE)
        found.append(f"max_excluded_share {share}, at most {most}")
    if protocol.min_stratum_items < limits.FLOOR_STRATUM_ITEMS:
        found.append(f"min_stratum_items {protocol.min_stratum_items}, at least {limits.FLOOR_STRATUM_ITEMS}")
    if protocol.min_kept_items < limits.FLOOR_KEPT_ITEMS:
        found.append(f"min_kept_items {protocol.min_kept_items}, at least {limits.FLOOR_KEPT_ITEMS}")
    if protocol.margin is not None and protocol.margin > limits.FLOOR_MARGIN:
        found.append(f"margin {rational_text(protocol.margin)}, at most {rational_text(limits.FLOOR_MARGIN)}")
    return found
