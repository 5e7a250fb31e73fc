"""What a design can detect before its trials: recorded by freeze, and read again for a later look."""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction

from stages.contract.design import summary_units
from stages.contract.protocol import Protocol
from stages.stats import mde80


def planned_mde80(protocol: Protocol, labels: Iterable[tuple[str, str | None]], alpha: Fraction) -> float | None:
    """MDE80 of a pack at the alpha that is spent, from the (stratum, cluster) of each real item; None as `mde80`."""
    items, units, crowds, shares = summary_units(protocol, labels)
    return mde80(items, shares, protocol.trial_budget, alpha, units=units, crowds=crowds)
