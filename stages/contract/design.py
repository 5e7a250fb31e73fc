"""How labels become the strata of the summary, and what they weigh: fixed at freeze, read again by the gate."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from fractions import Fraction

from stages.contract import limits
from stages.contract.errors import InputError
from stages.contract.protocol import Protocol


def merged(protocol: Protocol, label: str) -> str:
    """The stratum of the summary that a label of the pack belongs to."""
    return protocol.merges.get(label, label)


def summary_sizes(protocol: Protocol, sizes: Mapping[str, int]) -> dict[str, int]:
    """Items per stratum of the summary: labels merged as declared, declared case series left out."""
    result: dict[str, int] = {}
    for label, size in sorted(sizes.items()):
        into = merged(protocol, label)
        if into not in protocol.case_series:
            result[into] = result.get(into, 0) + size
    return result


def summary_units(
    protocol: Protocol, items: Iterable[tuple[str, str | None]]
) -> tuple[list[int], list[int], list[float], list[Fraction]]:
    """(items, units, crowds, weights) per stratum of the summary, from the (label, cluster) of each real item.

    A unit is a cluster, or an item without one; a crowd is the mean size of the cluster that an item lies in.
    """
    listed = list(items)
    sizes = Counter(label for label, _ in listed)
    if all(cluster is None for _, cluster in listed):
        made = summary_sizes(protocol, sizes)
        whole = weights(protocol, sizes)
        return list(made.values()), list(made.values()), [1.0] * len(made), [whole[name] for name in made]
    counted: dict[str, Counter[tuple[str, int]]] = {name: Counter() for name in summary_sizes(protocol, sizes)}
    for number, (label, cluster) in enumerate(listed):
        into = merged(protocol, label)
        if into in counted:
            counted[into][("", number) if cluster is None else (cluster, -1)] += 1
    shares = weights(protocol, sizes)
    units = list(counted.values())
    crowds = [sum(m * m for m in own.values()) / own.total() for own in units]
    return [own.total() for own in units], [len(own) for own in units], crowds, [shares[name] for name in counted]


def weights(protocol: Protocol, sizes: Mapping[str, int], kind: object = None) -> dict[str, Fraction]:
    """Weight of each stratum of the summary; they sum to 1.

    `sizes` are those of the frozen pack, so that weights don't move with exclusions. `kind` replaces the protocol's.
    """
    strata = summary_sizes(protocol, sizes)
    chosen = protocol.strata_weights if kind is None else kind
    if isinstance(chosen, dict):
        return {name: chosen[name] for name in strata}
    if chosen == "proportional":
        total = sum(strata.values())
        return {name: Fraction(size, total) for name, size in strata.items()}
    return {name: Fraction(1, len(strata)) for name in strata}


def check_design(protocol: Protocol, sizes: Mapping[str, int], where: object) -> None:
    """Raise InputError where the protocol names strata that the pack hasn't, or hides one that is large enough."""
    for key, names in (
        ("merges", [*protocol.merges, *protocol.merges.values()]),
        ("case_series", protocol.case_series),
    ):
        for name in names:
            if name not in sizes:
                raise InputError(f"{where}: protocol.{key}", f"stratum {name!r}", f"one of {', '.join(sorted(sizes))}")
    for name in protocol.case_series:
        if name in protocol.merges or name in protocol.merges.values():
            raise InputError(f"{where}: protocol.case_series", f"{name!r} is merged too", "one or the other")
        # However high the floor is set: so many as make a study are no case series.
        most = min(protocol.min_stratum_items, limits.FLOOR_KEPT_ITEMS)
        if sizes[name] >= most:
            raise InputError(
                f"{where}: protocol.case_series",
                f"{name!r} has {sizes[name]} items",
                f"fewer than {most} (min_stratum_items {protocol.min_stratum_items})",
                "a stratum that is large enough stays in the summary",
            )
    strata = summary_sizes(protocol, sizes)
    if not strata:
        raise InputError(f"{where}: protocol.case_series", "no stratum left for a summary", "at least one")
    if not isinstance(protocol.strata_weights, dict):
        return
    for name, weight in protocol.strata_weights.items():
        if not weight:
            raise InputError(
                f"{where}: protocol.strata_weights",
                f"{name!r} weighs 0",
                "a weight above 0",
                "a stratum leaves the summary only as a case series, which takes fewer than min_stratum_items",
            )
    if set(protocol.strata_weights) != set(strata):
        raise InputError(
            f"{where}: protocol.strata_weights",
            f"weights for {', '.join(sorted(protocol.strata_weights))}",
            f"one for each of {', '.join(sorted(strata))}",
        )


def bare_kinds(oracles: Iterable[tuple[str, bool]]) -> dict[str, int]:
    """Kind of oracle to the real items that have it, where no placebo has one of that kind; from (kind, placebo).

    A placebo shows that oracles of its own kind can fail, and nothing of another kind's driver.
    """
    listed = list(oracles)
    shown = {kind for kind, placebo in listed if placebo}
    return dict(sorted(Counter(kind for kind, placebo in listed if not placebo and kind not in shown).items()))


def shortfalls(protocol: Protocol, strata: Mapping[str, int], placebos: Mapping[str, int]) -> list[str]:
    """Why a frozen pack can't publish whatever its outcomes are: too few items, or no placebo. A line each."""
    sizes = summary_sizes(protocol, strata)
    found = [
        f"stratum {name} has {size} items, min_stratum_items is {protocol.min_stratum_items}"
        for name, size in sizes.items()
        if size < protocol.min_stratum_items
    ]
    if sum(sizes.values()) < protocol.min_kept_items:
        found.append(f"{sum(sizes.values())} items in the summary, min_kept_items is {protocol.min_kept_items}")
    if not sum(placebos.values()):
        found.append("no placebo, so nothing shows that an oracle can fail")
    return found
