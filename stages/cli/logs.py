"""Logs of other harnesses."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from stages.cli.base import AsJson, Here, Study, app, say, show_json
from stages.contract.errors import UsageError, one_line

Paths = list[Path] | None
FormatName = Annotated[str, typer.Option("--format", help="The logs' format.")]
StrataFrom = Annotated[
    str | None,
    typer.Option(
        "--strata", help="A field of the log, or a CSV file with item_id and stratum.", show_default="the log's"
    ),
]
ProtocolFile = Annotated[
    Path | None,
    typer.Option(
        "--protocol", help="A file with a protocol block; the rest is at its default.", show_default="defaults"
    ),
]
Columns = Annotated[list[str] | None, typer.Option("--map", help="OURS=THEIRS: a column under another name.")]
Threshold = Annotated[
    str | None, typer.Option("--threshold", help="The least score that passes.", show_default="0 or 1 only")
]
Filter = Annotated[str | None, typer.Option("--filter", help="Which of several scorers or filters counts.")]


@app.command(epilog="Example: weighbridge judge --candidate new.jsonl --control old.jsonl --out judged")
def judge(
    logs: Annotated[
        Paths, typer.Argument(metavar="[LOG]...", help="Logs that hold both arms.", show_default=False)
    ] = None,
    candidate: Annotated[Paths, typer.Option("--candidate", help="A log of the candidate; may be repeated.")] = None,
    control: Annotated[Paths, typer.Option("--control", help="A log of the control; may be repeated.")] = None,
    format_: FormatName = "auto",
    strata: StrataFrom = None,
    protocol: ProtocolFile = None,
    out: Annotated[
        Path | None, typer.Option(help="Where the study is written; new or empty.", show_default="nowhere")
    ] = None,
    columns: Columns = None,
    threshold: Threshold = None,
    candidate_name: Annotated[str | None, typer.Option(help="What the log calls the candidate.")] = None,
    control_name: Annotated[str | None, typer.Option(help="What the log calls the control.")] = None,
    infra_error: Annotated[
        list[str] | None, typer.Option(help="What faults of the harness carry in their text.")
    ] = None,
    filter_: Filter = None,
    repeats: Annotated[
        str, typer.Option(help="Are several paths of an arm one `log`, or a repeat each: `paths`?")
    ] = "log",
    allow: Annotated[Path | None, typer.Option(help="A YAML file with the allowlist of assumptions.")] = None,
    as_json: AsJson = False,
) -> None:
    """Judge logs that another harness wrote. Nothing publishes from logs alone; the numbers and reasons are shown."""
    import tempfile

    from stages.contract.importing import ImportParams
    from stages.contract.types import validate
    from stages.evidence.importing import judge as judged
    from stages.evidence.importing import read_protocol

    given: dict[str, Any] = {
        "logs": [str(p) for p in logs or []],
        "candidate": [str(p) for p in candidate or []],
        "control": [str(p) for p in control or []],
        "format": format_,
        "strata": strata,
        "map": _pairs(columns or []),
        "threshold": threshold,
        "infra_errors": infra_error or [],
        "filter": filter_,
        "repeats": repeats,
        "candidate_name": candidate_name,
        "control_name": control_name,
        "allow": str(allow) if allow else None,
    }
    params = validate(ImportParams, given, "weighbridge judge")
    agreed = read_protocol(protocol)
    where = protocol or "the default protocol"
    if out is not None and out.exists() and (not out.is_dir() or any(out.iterdir())):
        raise UsageError("--out", f"{out} is there already", "a new or an empty folder")
    with tempfile.TemporaryDirectory(prefix="weighbridge-") as folder:
        decision = judged(out or Path(folder), params, agreed, where)
    if as_json:
        show_json(decision)
        return
    for line in _lines(decision):
        print(one_line(line, 2000))
    if out is not None:
        say(f"written: {out}/decision.json, {out}/reports/report.md")


def _pairs(given: list[str]) -> dict[str, str]:
    made: dict[str, str] = {}
    for one in given:
        ours, sign, theirs = one.partition("=")
        if not sign or not ours or not theirs or ours in made:
            raise UsageError("--map", one, "OURS=THEIRS, each of ours once")
        made[ours] = theirs
    return made


def _lines(d: dict[str, Any]) -> list[str]:
    """The decision for a terminal: what was read, the numbers, what stands in the way."""
    c, s = d["counts"], d["summary"]
    delta = "no Δ" if s["delta"] is None else f"Δ {s['delta']:+.4f}"
    limits = f" [{s['lo']:+.4f}, {s['hi']:+.4f}]" if s["lo"] is not None else ""
    p = "" if s["p_sign_flip"] is None else f", sign-flip p {s['p_sign_flip']:.4g}"
    lines = [
        f"{d['decision']}: {d['candidate']['name']} against {d['control']['name']} on {c['items_kept']} items",
        f"  planned {c['planned']} = scored {c['scored']} + excluded {c['excluded']} + missing {c['missing']}",
        f"  withheld figures: {delta}{limits}{p}",
        "  separable by these tables: " + ("yes" if d["would_publish"] else "no"),
    ]
    lines += [f"  as told: {key} {value}" for key, value in d["imported"]["said"].items()]
    lines += [
        f"  read: {f['kind']}: {f['found']}{' (withholds)' if f['withholds'] else ''}" for f in d["findings_of_read"]
    ]
    lines += [f"  {reason}: {d['reason_details'][reason]}" for reason in d["reasons"]]
    return lines


@app.command(epilog="Example: weighbridge ingest")
def ingest(study: Study = Here) -> None:
    """Read the logs that params.yaml names, in the place of freeze to score."""
    from stages.evidence.importing import ingest as stage

    rows = stage(study)
    say(f"ingested: {rows['trials']} trials, {rows['scored']} of them with an outcome")


@app.command(epilog="Example: weighbridge ladder --arm one=runs/one.json --arm two=runs/two.json --figure ladder.svg")
def ladder(
    arm: Annotated[list[str], typer.Option("--arm", help="NAME=PATH; the same name again for another path.")],
    format_: FormatName = "auto",
    strata: StrataFrom = None,
    protocol: ProtocolFile = None,
    columns: Columns = None,
    threshold: Threshold = None,
    filter_: Filter = None,
    figure: Annotated[Path | None, typer.Option(help="An SVG file to draw the ladder in.", show_default="none")] = None,
    as_json: AsJson = False,
) -> None:
    """Judge every neighbouring pair of a leaderboard: which ranks separate. Nobody is crowned."""
    from stages.evidence.importing import draw_ladder, read_protocol
    from stages.evidence.ladder import climb, ladder_lines

    arms: dict[str, list[Path]] = {}
    for one in arm:
        name, sign, path = one.partition("=")
        if not sign or not name or not path:
            raise UsageError("--arm", one, "NAME=PATH")
        arms.setdefault(name, []).append(Path(path))
    given = {
        "format": format_,
        "strata": strata,
        "map": _pairs(columns or []),
        "threshold": threshold,
        "filter": filter_,
    }
    made = climb(arms, given, read_protocol(protocol), protocol or "the default protocol")
    if figure is not None:
        draw_ladder(made, figure)
    if as_json:
        show_json(made)
        return
    for line in ladder_lines(made):
        print(one_line(line, 1000))


@app.command(epilog="Example: weighbridge ledger --task tasks/retry.yaml solution.diff")
def ledger(
    patch: Annotated[Path, typer.Argument(help="A unified diff, or a Python file.", show_default=False)],
    task: Annotated[Path, typer.Option("--task", help="The task's YAML: id, revision, allowlist, interface.")],
    passed: Annotated[
        bool | None, typer.Option("--passed/--failed", help="What the oracle said.", show_default="not known")
    ] = None,
) -> None:
    """Print what one patch assumes beyond its task, as the assumption ledger's JSON object."""
    from stages.evidence.article_ledger import ledger_object

    show_json(ledger_object(task, patch, passed))
