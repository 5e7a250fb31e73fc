"""The tables of figures in a benchmark's report: strata, the whole rule run again, arms."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from stages.render.cells import code, interval, number, p_value, table, text

MOST_ROWS = 40


def strata_table(d: dict[str, Any], resampled: dict[str, Any] | None = None) -> str:
    """Every original label, and the summary as the last row."""
    rows: list[list[object]] = []
    for name, row in d["strata"].items():
        label = text(name) + (f" (in {text(row['merged_into'])})" if row["merged_into"] else "")
        kept = f"{row['items']}/{row['items_planned']}"
        if row["case_series"]:
            more = f" and {len(row['series']) - MOST_ROWS} more" if len(row["series"]) > MOST_ROWS else ""
            shown = ", ".join(f"{text(r['item_id'])} {r['gains']:+d}/{r['pairs']}" for r in row["series"][:MOST_ROWS])
            rows.append(
                [label, kept, f"case series: {shown or 'no item'}{more}", "", _won(row), _won(row["pair_wins"])]
            )
        else:
            rows.append([label, kept, number(row["delta"]), interval(row), _won(row), _won(row["pair_wins"])])
    s, w = d["summary"], d["win_rate"]
    rows.append(["**summary**", s["items"], number(s["delta"]), interval(s), "", ""])
    fine = [
        f"Exact bootstrap distribution of these items ({s['kind']})",
        f"tails read at {number(s['tail_level'], '.6g')}",
        f"alpha spent {number(s['alpha_spent'], '.6g')} of {number(s['alpha'], '.6g')}",
        f"exact sign-flip p {p_value(s['p_sign_flip'])}",
        f"MDE80 achieved {number(s['mde80'], '.3f')}, planned {number(s['mde80_planned'], '.3f')}",
        f"Δ under equal weights {number(s['delta_equal'])}, proportional {number(s['delta_proportional'])}",
        f"all kept items won / lost / tied {_won(w)}, their pairs {_won(w['pair_wins'])}",
    ]
    if s["interval_why"]:
        fine.append(f"no interval: {text(s['interval_why'], 300)}")
    if s["bracket_width"]:
        fine.append(f"the interval is bracketed, {s['bracket_width']:.6g} wide at each end")
    if resampled:
        fine.append(
            f"as a cross-check that never decides, {resampled['replicates']:,} resamples (seed {resampled['seed']}) "
            f"give {interval(resampled)}"
        )
    head = ["stratum", "items kept", "Δ", level(s), "items won / lost / tied", "pairs won / lost / tied"]
    return f"## Strata\n\n{table(head, rows)}\n{'; '.join(fine)}.\n"


def level(summary: dict[str, Any]) -> str:
    """What an interval's column is called: its confidence is what the spent alpha leaves."""
    return f"{100 * (1 - summary['alpha_spent']):.6g} % interval"


def _won(row: dict[str, Any]) -> str:
    return f"{row['wins']} / {row['losses']} / {row['ties']}"


def sensitivity_table(d: dict[str, Any], says: dict[str, str]) -> str:
    """What the decision would be, had exclusions, timeouts or order been counted otherwise."""
    block, a = d["sensitivity"], d["asymmetry"]
    named = [(name.replace("_", " "), row) for name, row in block.items() if row and "decision" in row]
    named += [(f"by order: {name.replace('_', ' ')}", row) for name, row in (block["by_order"] or {}).items()]
    rows: list[list[object]] = [
        [name, row["decision"], code(row["reason"]), number(row["delta"]), interval(row)] for name, row in named
    ]
    tail = f"Exclusions: candidate {a['candidate']}, control {a['control']}, asymmetry p {p_value(a['p'])}"
    tail += "" if a["could_fire"] else " (so few that no split of them could have shown asymmetry)"
    head = ["counted", "decision", "reason", "Δ", level(d["summary"])]
    again = f"## The whole rule, run again\n\n{table(head, rows)}\n{tail}.\n"
    costs = {"holds": "nothing", "fails": "it withholds, with others", "alone": "**it alone withholds**"}
    guards: list[list[object]] = [
        [code(guard), costs[state], text(says.get(guard, ""), 400)] for guard, state in block["guards"].items()
    ]
    return f"{again}\nWhat the guards beyond size, effect and interval cost here:\n\n" + table(
        ["guard", "costs", "what it would say"], guards
    )


def arms_table(d: dict[str, Any]) -> str:
    """Secondary figures of each arm, counts beside every rate. None of them can crown."""
    one, two = d["arms"]["candidate"], d["arms"]["control"]
    few = "densities_why" in one

    def pair(label: str, show: Callable[[dict[str, Any]], object]) -> list[object]:
        return [label, show(one), show(two)]

    def rate(count: str, share: str, form: str = ".3f", shy: bool = False) -> Callable[[dict[str, Any]], str]:
        return lambda a: f"{a[count]} ({'case series' if shy else number(a[share], form)})"

    def used(a: dict[str, Any]) -> str:
        return f"{number(a['cpu_s_median'], '.2f')}, {number(a['max_rss_kb_median'], ',.0f')}"

    rows = [
        pair("oracle passes (rate)", rate("passes", "oracle_pass_rate")),
        pair("passes inside the contract (rate)", rate("inside_contract_passes", "inside_contract_rate")),
        pair("timeouts (rate)", rate("timeouts", "timeout_rate")),
        pair("passes after the time limit", lambda a: a["late_passes"]),
        pair("aborts (rate)", rate("aborts", "abort_rate")),
        pair("broken, of them tampering", lambda a: f"{a['broken']}, {a['tamper']}"),
        pair("inside the envelope", lambda a: number(a["envelope_rate"], ".3f")),
        pair(
            "assumptions: imports + environment + files",
            lambda a: f"{a['invented_imports']} + {a['invented_env']} + {a['unauthorised_files']} = {a['violations']}",
        ),
        pair("generated lines", lambda a: a["generated_lines"]),
        pair("assumptions (per 1,000 lines)", rate("violations", "assumption_per_kloc", ".1f", few)),
        pair("beyond the three kinds (per 1,000 lines)", rate("extended", "extended_per_kloc", ".1f", few)),
        pair("trials with interface drift (rate)", rate("interface_drift", "interface_drift_rate", shy=few)),
        pair("items whose repeats disagree (rate)", rate("flips", "flip_rate")),
        pair("items with the same patch in all repeats", lambda a: number(a["identical_patches"], "d")),
        pair("canary hits", lambda a: a["canary_hits"]),
        pair("temperature", lambda a: text(", ".join(a["temperature"]))),
        pair("median wall time [s], observational", lambda a: number(a["wall_s_median"], ".2f")),
        pair("median share of the time budget", lambda a: number(a["budget_share_median"], ".3f")),
        pair("median CPU time [s], memory peak [KiB]", used),
        pair("median load of the machine", lambda a: number(a["load_1m_median"], ".2f")),
    ]
    head = "## Arms\n\nOracle pass rate is a mean over trials, never pass@k.\n\n"
    return head + table(["", "candidate", "control"], rows)
