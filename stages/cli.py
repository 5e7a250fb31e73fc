"""The command line: parses and calls, nothing else. Heavy rooms are imported where they are used."""

from __future__ import annotations

import io
import json
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import typer

from stages import __version__
from stages.contract.errors import UsageError, WeighbridgeError, one_line

app = typer.Typer(
    name="weighbridge",
    help="Decides whether a paired comparison of two coding agents on a frozen task pack may be published.",
    epilog="The whole study: `dvc repro`. One stage alone: `weighbridge freeze`.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,  # plain help: the same everywhere, and a third of a second sooner
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
task = typer.Typer(no_args_is_help=True, rich_markup_mode=None, help="Author tasks: tag their revisions.")
app.add_typer(task, name="task")

Study = Annotated[Path, typer.Option("--study", "-C", help="The study's folder.", show_default="the current one")]
Here = Path(".")
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]


def say(text: str) -> None:
    """A line for people, on standard error, so that `--json` output stays clean."""
    print(text, file=sys.stderr, flush=True)


def _print(value: Any) -> None:
    print(json.dumps(value, indent=2, sort_keys=True, ensure_ascii=False))


@app.command(epilog="Example: weighbridge freeze")
def freeze(study: Study = Here) -> None:
    """Fix and digest pack, protocol and arms, before any arm starts."""
    from stages.contract.design import shortfalls
    from stages.freeze import freeze as stage

    manifest = stage(study)
    found = f"{manifest.mde80:.3f}" if manifest.mde80 is not None else "none up to 1"
    say(f"frozen: slice {manifest.slice_id[:16]}, {sum(manifest.strata.values())} items, detectable effect {found}")
    for line in shortfalls(manifest.protocol, manifest.strata, manifest.placebos):
        say(f"this study can't publish: {line}")


@app.command(epilog="Example: weighbridge preflight")
def preflight(study: Study = Here) -> None:
    """Show on the frozen bytes that every item is sound, before any arm."""
    from stages.preflight import preflight as stage

    refused = stage(study, say)
    say(f"preflight: {len(refused)} of the pack's items refused")
    for line in refused:
        say(f"  {line}")


@app.command(epilog="Example: WEIGHBRIDGE_SPEND=yes weighbridge run")
def run(study: Study = Here) -> None:
    """Run what is left of both arms' trials, interleaved. Finished trials are never run again."""
    from stages.run import run as stage

    stage(study, say)


@app.command(epilog="Example: weighbridge score")
def score(study: Study = Here) -> None:
    """Judge every patch by the hidden oracle and write the ledger of what it assumed."""
    from stages.score import score as stage

    stage(study, say)


@app.command(epilog="Example: weighbridge exclude")
def exclude(study: Study = Here) -> None:
    """Apply the registered exclusion rules and pair what is left."""
    from stages.exclude import exclude as stage

    stage(study)


@app.command(epilog="Example: weighbridge report")
def report(study: Study = Here) -> None:
    """Decide, and write the report and the bill of materials."""
    from stages.report import report as stage

    decision = stage(study)
    say(f"{decision['decision']}: {decision['reason']}")


@app.command("self-check", epilog="Example: weighbridge self-check")
def self_check(isolation: Annotated[str, typer.Option(help="auto, namespaces or none")] = "auto") -> None:
    """Show that a placebo fails, a right solution passes, and a bad exclusion is refused."""
    from stages.preflight import self_check as check
    from stages.sandbox import find

    if isolation not in ("auto", "namespaces", "none"):
        raise UsageError("--isolation", isolation, "auto, namespaces or none")
    for line in check(find(isolation)):  # type: ignore[arg-type]
        print(line)
    print("self-check ok")


@app.command(epilog="Example: weighbridge explain placebo_passed")
def explain(
    name: Annotated[str, typer.Argument(help="A reason or a rule; without it all are listed.", metavar="[ID]")] = "",
    as_json: AsJson = False,
) -> None:
    """Say what a reason or a rule means and what would have to change."""
    from stages.gate.explain import entries, lookup

    if not name:
        found = entries()
        if as_json:
            return _print(found)
        for entry in found:
            print(f"{entry['id']:34} {entry['kind']:18} {entry['says']}")
        return None
    entry = lookup(name)
    if as_json:
        return _print(entry)
    print(
        f"{entry['id']} ({entry['kind']})\n{entry['says']}"
        + (f"\nTo change it: {entry['change']}" if entry["change"] else "")
    )


@app.command(epilog="Example: weighbridge schema task")
def schema(
    name: Annotated[str, typer.Argument(help="task, pack, params, protocol, arms, stamp, plan, manifest, decision")],
) -> None:
    """Print the JSON Schema of a file or object of the contract."""
    from stages.contract.schemas import json_schema

    _print(json_schema(name))


@app.command(epilog="Example: weighbridge show repair-ring-centroid candidate 0 --json")
def show(
    item: Annotated[str, typer.Argument(help="Item id.")],
    arm: Annotated[str, typer.Argument(help="candidate or control")],
    repeat: Annotated[int, typer.Argument(help="Repeat, from 0.")],
    study: Study = Here,
    as_json: AsJson = False,
) -> None:
    """Show one trial: revision, digests, verdict, what it assumed, its patch."""
    from stages.evidence.show import show_trial

    found, patch = show_trial(study, item, arm, repeat)
    if as_json:
        return _print(found)
    for key, value in found.items():
        print(f"{key:22} {one_line(value)}")
    print(patch, end="")


@app.command(epilog="Example: weighbridge trial repair-ring-centroid candidate 0 --shell")
def trial(
    item: Annotated[str, typer.Argument(help="Item id.")],
    arm: Annotated[str, typer.Argument(help="candidate or control")],
    repeat: Annotated[int, typer.Argument(help="Repeat, from 0.")] = 0,
    shell: Annotated[
        bool, typer.Option("--shell", help="A shell in the trial's workspace instead of the agent.")
    ] = False,
    study: Study = Here,
) -> int:
    """Enter one trial again for debugging. Nothing is written to the journal."""
    from stages.evidence.debug import debug_trial

    return debug_trial(study, item, arm, repeat, shell_only=shell, say=say)


@app.command(epilog="Example: weighbridge doctor")
def doctor(as_json: AsJson = False) -> None:
    """Say which isolation this machine gives, which limits hold, and what would give better ones."""
    from stages.evidence.doctor import examine_machine

    found = examine_machine()
    if as_json:
        return _print(found)
    for key, value in found.items():
        print(f"{key:22} {one_line(value)}")


@task.command("tag", epilog="Example: weighbridge task tag repair-ring-centroid")
def task_tag(
    item: Annotated[list[str] | None, typer.Argument(help="Item ids; without any, every task of the pack.")] = None,
    study: Study = Here,
) -> None:
    """Write a git tag `tasks/<item_id>/<rev>` for the committed state of tasks."""
    from stages.contract.study import read_params
    from stages.packs.tags import tag_tasks

    for line in tag_tasks(study, study / read_params(study).pack.path, item or []):
        print(line)


@app.command(epilog="Example: weighbridge aa")
def aa(
    again: Annotated[bool, typer.Option("--again", help="Another one, with another seed.")] = False,
    study: Study = Here,
    as_json: AsJson = False,
) -> int:
    """Run the control against itself through every stage. Exit code 1 if the harness crowns a copy of it."""
    from stages.evidence.rehearsal import rehearse_aa
    from stages.evidence.rehearsed import aa_lines

    done = rehearse_aa(study, again=again, say=say)
    if as_json:
        _print(done.shown())
    else:
        print("\n".join(aa_lines(done)))
    return 1 if done.record.failed else 0


@app.command(epilog="Example: weighbridge pilot --items 6")
def pilot(
    items: Annotated[int, typer.Option("--items", help="How many real items; the digest of each says which.")],
    study: Study = Here,
    as_json: AsJson = False,
) -> None:
    """Run both arms on a few items under a journal of its own: what a plan needs to know, and never a look."""
    from stages.evidence.rehearsal import rehearse_pilot
    from stages.evidence.rehearsed import pilot_lines

    done = rehearse_pilot(study, items, say=say)
    if as_json:
        return _print(done.shown())
    print("\n".join(pilot_lines(done)))


@app.command(epilog="Example: weighbridge family ../first-candidate ../second-candidate")
def family(
    studies: Annotated[list[Path], typer.Argument(help="Folders of finished studies.", metavar="STUDY…")],
    as_json: AsJson = False,
) -> None:
    """Step down (Holm) over finished studies of one family: candidates against one control on one slice."""
    from stages.evidence.family import family_lines, step_down

    rows = step_down(studies)
    if as_json:
        return _print(rows)
    print("\n".join(family_lines(rows)))


Sizes = Annotated[list[str] | None, typer.Option("--size", metavar="NAME=N", help="A stratum and its items; no pack.")]
Repeats = Annotated[int | None, typer.Option("--repeats", help="Repeats per item and arm.", show_default="the study's")]
Effects = Annotated[list[float] | None, typer.Option("--effect", help="A true difference; may be given again.")]
Rate = Annotated[float | None, typer.Option("--rate", help="The control's pass rate.", show_default="0.5")]
Icc = Annotated[float | None, typer.Option("--icc", help="Its intraclass correlation.", show_default="0.4")]
Clusters = Annotated[int | None, typer.Option("--clusters", help="Items per cluster.", show_default="the pack's")]
ClusterSd = Annotated[float | None, typer.Option("--cluster-sd", help="sd of clusters' effects.", show_default="0.2")]
Look = Annotated[int, typer.Option("--look", help="Which look at this pack it will be.")]


@app.command(epilog="Example: weighbridge plan --size repair=60 --size migration=30 --repeats 3 --figure power.svg")
def plan(
    study: Study = Here,
    size: Sizes = None,
    repeats: Repeats = None,
    effect: Effects = None,
    rate: Rate = None,
    icc: Icc = None,
    cost_ratio: Annotated[
        float | None, typer.Option("--cost-ratio", help="Cost of a new item over that of one trial.")
    ] = None,
    clusters: Clusters = None,
    cluster_sd: ClusterSd = None,
    look: Look = 1,
    pilot: Annotated[
        Path | None, typer.Option("--pilot", help="A study or pilot whose kept pairs say how items differ.")
    ] = None,
    as_json: AsJson = False,
    figure: Annotated[Path | None, typer.Option("--figure", help="Draw the power as an SVG file.")] = None,
) -> None:
    """Say what a design can detect, how often it publishes, and how many items or repeats it needs."""
    from stages.evidence.assumed import Options
    from stages.evidence.planning import draw_figure, plan_study
    from stages.render.plan import plan_text

    options = Options(effect or [], rate, icc, cluster_sd, cost_ratio, pilot, figure=figure)
    found = plan_study(study, size or [], repeats, clusters, look, options, say)
    if figure is not None:
        draw_figure(found, figure)
    if as_json:
        return _print(found)
    print(plan_text(found), end="")


@app.command(epilog="Example: weighbridge calibrate --size repair=60 --size migration=30 --effect 0.15")
def calibrate(
    study: Study = Here,
    size: Sizes = None,
    repeats: Repeats = None,
    datasets: Annotated[int, typer.Option("--datasets", help="Simulated studies of each effect.")] = 2000,
    effect: Effects = None,
    rate: Rate = None,
    icc: Icc = None,
    clusters: Clusters = None,
    cluster_sd: ClusterSd = None,
    look: Look = 1,
    seed: Annotated[int, typer.Option("--seed", help="Another seed draws other studies.")] = 0,
    workers: Annotated[str, typer.Option("--workers", help="Processes, or auto: one per core.")] = "auto",
    as_json: AsJson = False,
) -> None:
    """Simulate studies of a design through the publish rule: how often it errs, covers, publishes, exaggerates."""
    from stages.evidence.assumed import Options
    from stages.evidence.calibrating import calibrate_study
    from stages.render.plan import calibration_text

    options = Options(effect or [], rate, icc, cluster_sd, datasets=datasets, seed=seed, workers=workers)
    found = calibrate_study(study, size or [], repeats, clusters, look, options, say)
    if as_json:
        return _print(found)
    print(calibration_text(found), end="")


def _version(value: bool) -> None:
    if value:
        print(__version__)
        raise typer.Exit


@app.callback()
def _root(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    pass


def main() -> None:
    """Run the command line; user errors are one line and exit 2 (or 1 for a check that said no)."""
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")  # names of files may hold what a terminal can't show
    raise SystemExit(_guarded(lambda: app(prog_name="weighbridge", standalone_mode=False)))


# Typer carries a click of its own in some versions, so its errors are found by what its own class descends from.
_Misuse = next(c for c in typer.BadParameter.__mro__ if c.__name__ == "ClickException")
_INTERRUPTED = 130


def _guarded(call: Callable[[], object]) -> int:
    """Carry a command out and return its exit code; whatever goes wrong is said in a line."""
    try:
        code = call()
        sys.stdout.flush()
        if code == _INTERRUPTED:  # Typer's own answer in some versions
            raise KeyboardInterrupt
        return code if isinstance(code, int) else 0
    except WeighbridgeError as error:
        hint = "; DVC took this stage's outputs away before it ran: "
        hint += "`git checkout dvc.lock data reports && dvc checkout` brings them back"
        say(f"weighbridge: {error}{hint if os.environ.get('DVC_STAGE') else ''}")
        return error.exit_code
    except typer.Exit as error:
        return error.exit_code
    except (KeyboardInterrupt, typer.Abort):
        say("weighbridge: interrupted; finished trials are kept")
        return _INTERRUPTED
    except (BrokenPipeError, SystemExit):  # what Typer makes of a reader that went away; nothing else here exits
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # or Python complains when it flushes at exit
        return 141
    except Exception as error:
        if isinstance(error, _Misuse):
            return _misused(error)
        if os.environ.get("WEIGHBRIDGE_DEBUG"):
            raise
        say(f"weighbridge: internal error, {type(error).__name__}: {one_line(error)}; this is our bug")
        say("  please report the command, `weighbridge --version`, and what it prints with WEIGHBRIDGE_DEBUG=1 set")
        return 70


def _misused(error: Any) -> int:
    """Say what was wrong with the command line, or print the help that was asked for by naming no command."""
    context: Any = getattr(error, "ctx", None)
    if type(error).__name__ == "NoArgsIsHelpError":
        say(context.get_help())
    else:
        command = context.command_path if context is not None else "weighbridge"
        say(f"weighbridge: {one_line(error.format_message()).rstrip('.')}; see `{command} --help`")
    return 2
