"""`report.md`: the decision for people, short, every number with what it depends on beside it."""

from __future__ import annotations

from collections import Counter
from typing import Any

from stages.render.cells import code, interval, number, table, text
from stages.render.secondary import densities_table, secondary_table
from stages.render.session import session_section
from stages.render.tables import MOST_ROWS, arms_table, sensitivity_table, strata_table

MOST_TRIALS = 500

STANDING = """\
This is a publish filter on one frozen slice. It is no causal claim, and it says nothing about the quality of a model:
it is passes within the time budget, on these items, by these two runners, in this session. The items weren't drawn at
random; the error rate holds for exchangeable arms only. A skewed null whose rare winners are missing from the pack can
be published up to 9 % of the time, and a shock to one arm's whole session is seen by no resampling of items: hence
interleaved arms and the envelope.
"""
NOT_EXAMINED = """\
Not examined: latency, cost, licences, security of the patches, and contamination beyond the canaries that the pack
declares. Don't use it for exploratory chats, demos, packs that can't be frozen, disputed oracles, or a ranking that is
needed this week.
"""
DEMO = """\
A transcript of what happened once, with its date. It compares nothing: outcomes that anybody could look at while the
study was still being changed are no sample, and no share of them is worth printing.
"""


def markdown(
    decision: dict[str, Any],
    says: dict[str, str],
    changes: dict[str, str],
    exclusions: list[dict[str, Any]],
    findings: list[dict[str, Any]],
    ledger: list[dict[str, Any]],
    resampled: dict[str, Any] | None = None,
) -> str:
    """The report. `says` and `changes` give the sentences of reasons and rules; `resampled` is the cross-check's."""
    benchmark = decision["mode"] == "benchmark"
    if benchmark:
        middle = [strata_table(decision, resampled), sensitivity_table(decision, says), arms_table(decision)]
        middle += [secondary_table(decision), densities_table(decision)]
    else:
        middle = [_transcript(decision, ledger)]
    parts = [
        verdict(decision, says, changes),
        *middle,
        exclusions_section(decision, says, exclusions),
        session_section(decision),
        findings_section(findings),
        _study(decision),
        f"## What this is not\n\n{STANDING if benchmark else DEMO}\n{NOT_EXAMINED}",
        _again(decision),
    ]
    return "\n".join(parts)


def verdict(d: dict[str, Any], says: dict[str, str], changes: dict[str, str]) -> str:
    lines = [f"# {'Published' if d['decision'] == 'publish' else 'Withheld'}: `{d['reason']}`\n"]
    if d["headline"]:
        lines.append(f"**{text(d['headline'], 4000)}**\n")
    elif d["mode"] == "benchmark":
        lines.append(_withheld(d))
    rows: list[list[object]] = [
        [code(r), text(says[r], 400), text(d["reason_details"][r], 600), text(changes[r], 400)] for r in d["reasons"]
    ]
    if rows:
        lines.append(table(["reason", "what it says", "figures", "what would have to change"], rows))
    c = d["counts"]
    if c["placebos_run"]:
        bound = d["placebo_bound"]
        tail = (
            ""
            if bound is None
            else f": the rate of false passes is bounded at {100 * bound:.0f} % with 95 % confidence"
        )
        lines.append(f"{c['placebos_run']} placebo trials, {c['placebos_passed']} passed{tail}.\n")
    if c["placebos_refused"]:
        lines.append(f"{c['placebos_refused']} placebos were refused by preflight: their oracles don't run.\n")
    return "\n".join(lines)


def _withheld(d: dict[str, Any]) -> str:
    c, s, slice_ = d["counts"], d["summary"], d["slice_id"][:16]
    arms = [f"{text(d[arm]['name'])} {text(d[arm]['version'])}" for arm in ("candidate", "control")]
    figures = "no Δ" if s["delta"] is None else f"Δ {number(s['delta'])}, interval {interval(s)}"
    said = [
        f"{s['items']} items in the summary",
        f"{c['excluded']} of {c['planned']} trials excluded, {c['missing']} missing",
        f"placebos failed {c['placebos_run'] - c['placebos_passed']}/{c['placebos_run']}",
        f"registration {d['registration']}",
    ]
    if s["mde80_planned_exceeds_minimum"]:
        planned = number(s["mde80_planned"], ".3f") if s["mde80_planned"] is not None else "beyond any difference"
        said.append(f"this design could not reliably detect its own minimum, its MDE80 is {planned}")
    if d["departures"]:
        said.append(f"departs from the default protocol in {text(', '.join(d['departures']), 1000)}")
    return (
        f"{' against '.join(arms)} on slice `{slice_}` of {text(d['pack_id'])} {text(d['pack_revision'])} "
        f"is **not published**. The withheld figures: {figures}; {'; '.join(said)}.\n"
    )


def _transcript(d: dict[str, Any], ledger: list[dict[str, Any]]) -> str:
    ordered = sorted(ledger, key=lambda r: (r["item_id"], r["repeat"], r["arm"]))
    rows: list[list[object]] = [
        [text(r["item_id"]), r["arm"], r["repeat"], r["status"], text(r["started_at"])] for r in ordered[:MOST_TRIALS]
    ]
    more = f"\n{len(ordered) - MOST_TRIALS} more trials are in the ledger.\n" if len(ordered) > MOST_TRIALS else ""
    head = f"## Transcript, {text(d['started_at'])}\n\nStudy mode: {d['mode']}. "
    head += "Outcomes with their dates, nothing else.\n\n"
    return head + table(["item", "arm", "repeat", "outcome", "started"], rows) + more


def exclusions_section(d: dict[str, Any], says: dict[str, str], exclusions: list[dict[str, Any]]) -> str:
    share, lines = d["excluded_share"], ["## Exclusions\n"]
    if share:
        lines.append(f"{share['pairs']} of {share['of']} pairs of admitted items excluded, at most {share['limit']}.\n")
    if not exclusions:
        return "\n".join([*lines, "None.\n"])
    rows: list[list[object]] = [
        [
            code(r["rule"]),
            r["scope"],
            text(r["item_id"]),
            r["arm"] or "",
            "" if r["repeat"] is None else r["repeat"],
            text(r["time"] or ""),
            text(r["evidence"]) if r["accepted"] else f"**refused**: {text(r['refused_why'])}",
        ]
        for r in exclusions[:MOST_ROWS]
    ]
    lines.append(table(["rule", "scope", "item", "arm", "repeat", "time", "evidence"], rows))
    if len(exclusions) > MOST_ROWS:
        lines.append(f"The first {MOST_ROWS} of {len(exclusions)}; all are in `data/kept/exclusions.parquet`.\n")
    lines += [
        f"- {code(rule)}: {text(says[rule], 400)}" for rule in sorted({r["rule"] for r in exclusions} & set(says))
    ]
    return "\n".join([*lines, ""])


def findings_section(findings: list[dict[str, Any]]) -> str:
    if not findings:
        return "## Assumptions found\n\nNone.\n"
    times = Counter((f["arm"], f["kind"], f["symbol"], f["counted"], f["seen"]) for f in findings)
    common = sorted(times.items(), key=lambda pair: (-pair[1], pair[0]))[:MOST_ROWS]
    rows: list[list[object]] = [[arm, *map(text, words), count] for (arm, *words), count in common]
    head = "## Assumptions found\n\nThe most frequent; all are in `data/ledger/findings.parquet`.\n\n"
    return head + table(["arm", "kind", "symbol", "counted", "seen", "times"], rows)


def _ran_at(where: dict[str, Any]) -> str:
    """The commit and the harness that the campaign started with."""
    state, harness = where["git"] or {}, where["harness"] or {}
    commit = "no commit" if not state.get("head") else f"commit {code(str(state['head'])[:12])}"
    clean = state.get("clean")
    kept = "" if clean is None else ", pack and parameters " + ("as committed" if clean else "not as committed")
    return f"{commit}{kept}; weighbridge {text(harness.get('version', 'unknown'))}"


def _study(d: dict[str, Any]) -> str:
    looks, iso = d["looks"], d["isolation"]
    rows: list[list[object]] = [
        ["slice", f"`{d['slice_id']}`"],
        ["study", f"`{d['study_id']}`"],
        ["manifest", f"`{d['manifest_sha256']}`"],
        ["started", text(d["started_at"])],
        ["ran at", _ran_at(d["ran_at"])],
        ["look", f"{looks['look']} (earlier: {len(looks['earlier'])})"],
        ["candidates tried on this slice", f"{text(', '.join(looks['candidates']))} (family {looks['family']})"],
        ["isolation", f"{text(', '.join(iso['tiers']))} (requested {iso['requested']}; {text(iso['why'])})"],
        ["registration", _registered(d)],
        ["earlier uses of these items", _uses(d)],
        ["control against itself (A/A)", _aa(d["rehearsals"])],
        ["items that a pilot had run", _piloted(d["rehearsals"]["piloted"])],
        *([key, text(value, 400)] for key, value in sorted(d["disclosure"].items()) if value),
    ]
    return "## Study\n\n" + table(["", ""], rows)


_WORDS = {
    "none": "none: nothing shows that this study was fixed before its trials",
    "self_dated": "self-dated: committed before the first trial by the author's own dates",
    "witnessed": "witnessed: a time-stamping authority saw it before the first trial",
}


def _registered(d: dict[str, Any]) -> str:
    """Whether the study was named before its trials, and who says so."""
    entry = (d["lineage"] or {}).get("registry")
    if entry is None:
        return _WORDS["none"] if d["registration"] == "none" else text(d["registration"])
    said = f"{_WORDS[d['registration']]}; line {entry['line']} of {entry['entries']}, {code(entry['sha256'][:16])}"
    if entry["commit"]:
        said += f", commit {code(entry['commit'][:12])} of {text(entry['committed_at'])}"
    if entry["witness"]:
        said += f"; seen {text(entry['witness']['at'])} under root {code(entry['witness']['root_sha256'][:16])}"
    return said


def _uses(d: dict[str, Any]) -> str:
    """How often the items were tried before, and which left the pack since."""
    line = d["lineage"]
    if line is None:
        return text(d["lineage_why"])
    said = [f"{line['earlier_plans']} earlier plans, {line['fresh']} items new to them"]
    for key, words in (
        ("reused", "used before"),
        ("changed", "used before with other bytes"),
        ("left", "left the pack"),
    ):
        if line[key]["count"]:
            named = ", ".join(text(item) for item in line[key]["items"][:5])
            more = f" and {line[key]['count'] - 5} more" if line[key]["count"] > 5 else ""
            said.append(f"{line[key]['count']} {words} ({named}{more})")
    if line["mutation_seed"] is not None:
        said.append(f"identifiers renamed by seed {line['mutation_seed']}")
    return "; ".join(said)


def _aa(rehearsals: dict[str, Any]) -> str:
    """The last run of the control against itself, or that there was none."""
    seen = rehearsals["aa"]
    if seen is None:
        return text(rehearsals["aa_why"])
    crowned = "**crowned a copy of the control**" if seen["would_publish"] else f"withheld ({code(seen['reason'])})"
    many = f"the last of {seen['runs']}, {seen['crowned']} of which failed; " if seen["runs"] > 1 else ""
    return f"{many}{text(seen['at'])}: Δ {number(seen['delta'])}, interval {interval(seen)}, {crowned}"


def _piloted(items: list[str]) -> str:
    if not items:
        return "none"
    more = f" and {len(items) - MOST_ROWS} more" if len(items) > MOST_ROWS else ""
    return f"{len(items)}: {', '.join(text(i) for i in items[:MOST_ROWS])}{more}"


def _again(d: dict[str, Any]) -> str:
    return (
        "## Run it again\n\n"
        "`sha256sum -c reports/run_bill.txt` checks the bytes, `dvc repro` derives the decision from them anew, and\n"
        f"`weighbridge explain {d['reason']}` says what the reason means.\n"
    )
