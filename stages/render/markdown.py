"""`report.md`: the decision for people, short, every number with what it depends on beside it."""

from __future__ import annotations

from collections import Counter
from typing import Any

MOST_ROWS = 40

STANDING = """\
This is a publish filter on one frozen slice. It is not a causal claim, and it says nothing about the quality of a model:
it is passes within the time budget, on these items, by these two runners, in this session. The items weren't drawn at
random; the error rate holds for exchangeable arms only. A skewed null whose rare winners are missing from the pack can
be published up to 9 % of the time, and a shock to one arm's whole session is seen by no resampling of items: hence
interleaved arms and the envelope.

Not examined: latency, cost, licences, security of the patches, and contamination beyond the canaries that the pack
declares. Don't use it for exploratory chats, demos, packs that can't be frozen, disputed oracles, or a ranking that is
needed this week.
"""


def text(value: object, limit: int = 160) -> str:
    """Hostile text made harmless in Markdown: one line, no markup, no HTML, controls and bidi marks escaped."""
    raw = "".join(c if c.isprintable() else f"\\u{ord(c):04x}" for c in str(value))
    raw = raw if len(raw) <= limit else raw[: limit - 1] + "…"
    return "".join(f"&#{ord(c)};" if c in "\\`*_{}[]<>#|!~&" else c for c in raw)


def number(value: float | None, form: str = "+.3f") -> str:
    """A number, or a dash where it is unknown."""
    return "–" if value is None else format(value, form)


def table(head: list[str], rows: list[list[object]]) -> str:
    """A Markdown table; cells are taken as they are."""
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    return "\n".join([*lines, *("| " + " | ".join(str(c) for c in row) + " |" for row in rows)]) + "\n"


def markdown(
    decision: dict[str, Any],
    says: dict[str, str],
    changes: dict[str, str],
    exclusions: list[dict[str, Any]],
    findings: list[dict[str, Any]],
    ledger: list[dict[str, Any]],
) -> str:
    """The report. `says` and `changes` give the sentences of reasons and rules."""
    parts = [_verdict(decision, says, changes)]
    if decision["mode"] == "benchmark":
        parts += [_strata(decision), _sensitivity(decision), _arms(decision)]
    else:
        parts.append(_transcript(decision, ledger))
    parts += [
        _exclusions(decision, says, exclusions),
        _findings(findings),
        _study(decision),
        "## What this is not\n\n" + STANDING,
        _again(decision),
    ]
    return "\n".join(parts)


def _verdict(d: dict[str, Any], says: dict[str, str], changes: dict[str, str]) -> str:
    lines = [f"# {'Published' if d['decision'] == 'publish' else 'Withheld'}: `{d['reason']}`\n"]
    if d["headline"]:
        lines.append(f"**{text(d['headline'], 2000)}**\n")
    elif d["mode"] == "benchmark":
        c, s = d["counts"], d["summary"]
        figures = f"Δ {number(s['delta'])} [{number(s['lo'])}, {number(s['hi'])}]" if s["delta"] is not None else "no Δ"
        lines.append(
            f"{text(d['candidate']['name'])} {text(d['candidate']['version'])} against {text(d['control']['name'])} "
            f"{text(d['control']['version'])} on slice `{d['slice_id'][:16]}` of {text(d['pack_id'])} {text(d['pack_revision'])} is **not published**. "
            f"The withheld figures: {figures}, {c['items_kept']} items kept, {c['excluded']} of {c['planned']} trials excluded, "
            f"{c['missing']} missing, placebos failed {c['placebos_run'] - c['placebos_passed']}/{c['placebos_run']}, "
            f"registration {d['registration']}.\n"
        )
        if s["mde80_planned_exceeds_minimum"]:
            lines.append(
                f"This design could not reliably detect its own minimum: its MDE80 is {number(s['mde80_planned'], '.3f')}.\n"
            )
    rows: list[list[object]] = [
        [f"`{r}`", text(says[r], 400), text(d["reason_details"][r], 600), text(changes[r], 400)] for r in d["reasons"]
    ]
    if rows:
        lines.append(table(["reason", "what it says", "figures", "what would have to change"], rows))
    if d["departures"]:
        lines.append(f"Departures from the default protocol: {text('; '.join(d['departures']), 1000)}.\n")
    c = d["counts"]
    if c["placebos_run"]:
        lines.append(
            f"{c['placebos_run']} placebo trials, {c['placebos_passed']} passed: the rate of false passes is bounded at "
            f"{100 * d['placebo_bound']:.0f} % with 95 % confidence.\n"
        )
    return "\n".join(lines)


def _strata(d: dict[str, Any]) -> str:
    rows: list[list[object]] = []
    for name, row in d["strata"].items():
        kept = f"{row['items']}/{row['items_planned']}"
        wins = f"{row['wins']} / {row['losses']} / {row['ties']}"
        if row["case_series"]:
            shown = ", ".join(f"{text(r['item_id'])} {r['gains']:+d}/{r['pairs']}" for r in row["series"][:MOST_ROWS])
            rows.append([text(name), kept, f"case series: {shown}", "", wins])
        else:
            rows.append([text(name), kept, number(row["delta"]), f"[{number(row['lo'])}, {number(row['hi'])}]", wins])
    s, w = d["summary"], d["win_rate"]
    rows.append(
        [
            "**summary**",
            d["counts"]["items_kept"],
            number(s["delta"]),
            f"[{number(s['lo'])}, {number(s['hi'])}]",
            f"{w['wins']} / {w['losses']} / {w['ties']}",
        ]
    )
    fine = (
        f"Exact bootstrap distribution of these items ({s['kind']}), tails read at {number(s['tail_level'], '.6g')}, "
        f"alpha spent {number(s['alpha_spent'], '.6g')} of {number(s['alpha'], '.6g')}; exact sign-flip p {number(s['p_sign_flip'], '.6g')}; "
        f"MDE80 achieved {number(s['mde80'], '.3f')}, planned {number(s['mde80_planned'], '.3f')}; "
        f"Δ under equal weights {number(s['delta_equal'])}, proportional {number(s['delta_proportional'])}.\n"
    )
    return (
        "## Strata\n\n"
        + table(["stratum", "items kept", "Δ", "interval", "items won / lost / tied"], rows)
        + "\n"
        + fine
    )


def _sensitivity(d: dict[str, Any]) -> str:
    block = d["sensitivity"]
    named = [
        (name, block[name])
        for name in ("as_observed", "excluded_fail", "worst_candidate", "worst_control", "timeouts_pass")
    ]
    named += [(f"by order: {name}", row) for name, row in block["by_order"].items()]
    rows: list[list[object]] = [
        [
            name.replace("_", " "),
            row["decision"],
            f"`{row['reason']}`",
            number(row["delta"]),
            f"[{number(row['lo'])}, {number(row['hi'])}]",
        ]
        for name, row in named
    ]
    a = d["asymmetry"]
    tail = f"Exclusions: candidate {a['candidate']}, control {a['control']}, asymmetry p {a['p']:.6g}"
    tail += "" if a["could_fire"] else " (so few that no split of them could have shown asymmetry)"
    return (
        "## The whole rule, run again\n\n"
        + table(["counted", "decision", "reason", "Δ", "interval"], rows)
        + f"\n{tail}.\n"
    )


def _arms(d: dict[str, Any]) -> str:
    one, two = d["arms"]["candidate"], d["arms"]["control"]

    def pair(label: str, show: Any) -> list[object]:
        return [label, show(one), show(two)]

    def rate(part: str, share: str) -> Any:
        return lambda a: f"{a[part]} ({number(a[share], '.3f')})"

    few = d["counts"]["items_kept"] < 36
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
        pair(
            "assumptions per 1,000 lines",
            lambda a: "case series" if few else number(a["assumption_per_kloc"], ".1f"),
        ),
        pair(
            "beyond the three kinds, per 1,000 lines",
            lambda a: f"{a['extended']} ({number(a['extended_per_kloc'], '.1f')})",
        ),
        pair("trials with interface drift (rate)", rate("interface_drift", "interface_drift_rate")),
        pair("items whose repeats disagree (rate)", rate("flips", "flip_rate")),
        pair("items with the same patch in all repeats", lambda a: a["identical_patches"]),
        pair("canary hits", lambda a: a["canary_hits"]),
        pair("temperature", lambda a: text(", ".join(a["temperature"]))),
        pair("median wall time [s], observational", lambda a: number(a["wall_s_median"], ".2f")),
    ]
    return "## Arms\n\nOracle pass rate is a mean over trials, never pass@k.\n\n" + table(
        ["", "candidate", "control"], rows
    )


def _transcript(d: dict[str, Any], ledger: list[dict[str, Any]]) -> str:
    rows: list[list[object]] = [
        [text(r["item_id"]), r["arm"], r["repeat"], r["status"], text(r["started_at"])] for r in ledger[:500]
    ]
    more = f"\n{len(ledger) - 500} more rows in the ledger.\n" if len(ledger) > 500 else ""
    head = f"## Transcript, {text(d['started_at'])}\n\nA {d['mode']} study: outcomes with their dates, no rates.\n\n"
    return head + table(["item", "arm", "repeat", "outcome", "started"], rows) + more


def _exclusions(d: dict[str, Any], says: dict[str, str], exclusions: list[dict[str, Any]]) -> str:
    share = d["excluded_share"]
    lines = [
        f"## Exclusions\n\n{share['pairs']} of {share['of']} pairs of admitted items excluded, at most {share['limit']}.\n"
    ]
    if len(exclusions):
        rows: list[list[object]] = [
            [
                f"`{text(r['rule'])}`",
                r["scope"],
                text(r["item_id"]),
                r["arm"] or "",
                "" if r["repeat"] is None else r["repeat"],
                text(r["time"] or ""),
                text(r["evidence"] if r["accepted"] else f"refused: {r['refused_why']}"),
            ]
            for r in exclusions[:MOST_ROWS]
        ]
        lines.append(table(["rule", "scope", "item", "arm", "repeat", "time", "evidence"], rows))
        if len(exclusions) > MOST_ROWS:
            lines.append(f"The first {MOST_ROWS} of {len(exclusions)}; all are in `data/kept/exclusions.parquet`.\n")
        for rule in sorted({r["rule"] for r in exclusions} & set(says)):
            lines.append(f"- `{rule}`: {says[rule]}")
        lines.append("")
    return "\n".join(lines)


def _findings(findings: list[dict[str, Any]]) -> str:
    if not len(findings):
        return "## Assumptions found\n\nNone.\n"
    times = Counter((f["arm"], f["kind"], f["symbol"]) for f in findings)
    common = sorted(times.items(), key=lambda pair: (-pair[1], pair[0]))[:MOST_ROWS]
    rows: list[list[object]] = [[arm, kind, text(symbol), count] for (arm, kind, symbol), count in common]
    head = "## Assumptions found\n\nThe most frequent; every one with file and line is in `data/ledger/findings.parquet`.\n\n"
    return head + table(["arm", "kind", "symbol", "times"], rows)


def _study(d: dict[str, Any]) -> str:
    looks, iso = d["looks"], d["isolation"]
    rows: list[list[object]] = [
        ["slice", f"`{d['slice_id']}`"],
        ["study", f"`{d['study_id']}`"],
        ["manifest", f"`{d['manifest_sha256']}`"],
        ["started", text(d["started_at"])],
        ["look", f"{looks['look']} (earlier: {len(looks['earlier'])})"],
        [
            "candidates tried on this slice",
            f"{text(', '.join(looks['candidates']))} (family {looks['family']})",
        ],
        ["isolation", f"{', '.join(iso['tiers'])} (requested {iso['requested']}; {text(iso['why'])})"],
        ["registration", d["registration"]],
        *([key, text(value, 400)] for key, value in sorted(d["disclosure"].items()) if value),
    ]
    return "## Study\n\n" + table(["", ""], rows)


def _again(d: dict[str, Any]) -> str:
    return (
        "## Run it again\n\n"
        "`sha256sum -c reports/run_bill.txt` checks the bytes, `dvc repro` derives the decision from them anew, and\n"
        f"`weighbridge explain {d['reason']}` says what the reason means.\n"
    )
