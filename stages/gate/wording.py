"""What a decision says in words: its headline, the figures behind each reason, departures from the default protocol."""

from __future__ import annotations

import json
from typing import Any

from stages.contract.digest import rational_text, short
from stages.contract.errors import one_line
from stages.contract.protocol import LATER_RULES, Protocol
from stages.contract.types import plain
from stages.gate.reasons import REASONS
from stages.gate.rule import Judged


def departures(protocol: Protocol, local: bool = False) -> list[str]:
    """What the protocol sets otherwise than the default, as `key value`.

    `local`: no arm has a provider, so the lack of rules that only a provider's stamp can break is no departure.
    """
    default, own = plain(Protocol()), plain(protocol)
    if local:
        older = [rule for rule in default["exclusion_rules"] if rule not in LATER_RULES]
        default["exclusion_rules"] = older if own["exclusion_rules"] == older else default["exclusion_rules"]
    found = {
        key: own[key] for key in sorted(own) if own[key] != default.get(key) and key not in ("campaign", "envelope")
    }
    envelope = own["envelope"]
    found |= {f"envelope.{k}": envelope[k] for k in sorted(envelope) if envelope[k] != default["envelope"].get(k)}
    return [
        f"{key} {value if isinstance(value, str) else json.dumps(value, sort_keys=True)}"
        for key, value in found.items()
    ]


def some(names: list[str], most: int = 5) -> str:
    """The first few names, and how many more there are."""
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return "; ".join(names[:most]) + more


def headline(decision: dict[str, Any]) -> str:
    """One string, never a bare number: slice, difference with interval, signs of strata, what was left out."""
    s, c, arms = decision["summary"], decision["counts"], decision["arms"]
    signs = ", ".join(
        f"{name} {'case series' if row['delta'] is None else format(row['delta'], '+.3f')}"
        for name, row in decision["strata"].items()
    )
    text = (
        f"slice {short(decision['slice_id'])} of {decision['pack_id']} {decision['pack_revision']}: "
        f"{decision['candidate']['name']} {decision['candidate']['version']} against "
        f"{decision['control']['name']} {decision['control']['version']}, "
        f"Δ {s['delta']:+.3f} [{s['lo']:+.3f}, {s['hi']:+.3f}] ({signs}); "
        f"timeouts {arms['candidate']['timeouts']} against {arms['control']['timeouts']}; "
        f"{c['excluded']} of {c['planned']} trials excluded; "
        f"placebos failed {c['placebos_run'] - c['placebos_passed']}/{c['placebos_run']}; "
        f"registration {decision['registration']}"
    )
    if decision["protocol"]["claim"] == "noninferiority":
        text += f"; claimed is only that it isn't worse by {decision['protocol']['margin']} or more"
    if s["mde80_planned_exceeds_minimum"]:
        text += "; could not reliably detect its own minimum"
    if decision["departures"]:
        text += f"; departs from the default protocol in {', '.join(decision['departures'])}"
    return one_line(text, 10_000)


def figures_of(reason: str, protocol: Protocol, base: Judged, parts: dict[str, Any]) -> str:
    """The figures behind a reason that comes from numbers. `parts` are those of `benchmark_figures`."""
    s, block, share, lean = (parts[name] for name in ("summary", "sensitivity", "excluded_share", "asymmetry"))
    interval = "no Δ" if s["delta"] is None else f"Δ {s['delta']:+.4f}"
    interval += f" [{s['lo']:+.4f}, {s['hi']:+.4f}]" if s["lo"] is not None else ""
    least = rational_text(protocol.min_detectable_effect)
    margin = f", margin {rational_text(protocol.margin)}" if protocol.margin else ""
    sizes = ", ".join(f"{name} {count}" for name, count in sorted(base.items.items()))
    labels = ", ".join(f"{name} {float(value):+.4f}" for name, value in sorted(base.labels.items()))
    observed, failed, beside = block["as_observed"], block["excluded_fail"], block["beside_fail"]
    texts = {
        "too_few_clean_tasks": f"{s['items']} items kept in the summary, at least {protocol.min_kept_items}",
        "stratum_too_small": f"{sizes}; at least {protocol.min_stratum_items} each",
        "no_variance": str(s["interval_why"]),
        "below_minimum_detectable_effect": f"{interval}, registered minimum {least}",
        "interval_crosses_zero": interval + margin,
        "bracket_undecided": f"{interval}, bracket {s['bracket_width']}",
        "sign_flip_not_significant": f"p {s['p_sign_flip']}, alpha spent {s['alpha_spent']}",
        "strata_disagree": f"{interval}{margin}, strata {labels}",
        "weights_decide": f"equal {s['delta_equal']}, proportional {s['delta_proportional']}",
        "observed_disagrees": f"as observed: {observed['reason']}, Δ {observed['delta']}",
        "excluded_as_fail_disagrees": f"excluded as fail: {failed['reason']}, Δ {failed['delta']}",
        "beside_as_fail_disagrees": f"passes beside the tests as fails: {beside['reason']}, Δ {beside['delta']}",
        "exclusion_asymmetry": f"p {lean['p']}, candidate {lean['candidate']}, control {lean['control']}",
        "too_many_exclusions": f"{share['pairs']} of {share['of']} pairs, at most {share['limit']}",
    }
    return texts.get(reason, REASONS[reason].says)
