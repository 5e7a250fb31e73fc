"""Commands round a study: plan it, rehearse it, calibrate its rule, step down over a family."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from stages.cli.base import AsJson, Here, Study, app, say, show_json


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
        show_json(done.shown())
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
        return show_json(done.shown())
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
        return show_json(rows)
    print("\n".join(family_lines(rows)))


Sizes = Annotated[list[str] | None, typer.Option("--size", metavar="NAME=N", help="A stratum and its items; no pack.")]
Repeats = Annotated[int | None, typer.Option("--repeats", help="Repeats per item and arm.", show_default="the study's")]
Effects = Annotated[list[float] | None, typer.Option("--effect", help="A true difference; may be given again.")]
Rate = Annotated[float | None, typer.Option("--rate", help="The control's pass rate.", show_default="0.5")]
Icc = Annotated[float | None, typer.Option("--icc", help="Its intraclass correlation.", show_default="0.4")]
ClusterSize = Annotated[
    int | None, typer.Option("--cluster-size", help="Items per cluster.", show_default="the pack's")
]
ClusterSd = Annotated[
    float | None,
    typer.Option("--cluster-sd", help="sd of clusters' effects.", show_default="0.2, less near rates of 0 or 1"),
]
Look = Annotated[
    int | None,
    typer.Option("--look", help="Which look at this pack it will be.", show_default="by the last campaign, or 1"),
]
Workers = Annotated[str, typer.Option("--workers", help="Processes, or auto: one per core.")]


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
    cluster_size: ClusterSize = None,
    cluster_sd: ClusterSd = None,
    look: Look = None,
    power: Annotated[float, typer.Option("--power", help="The chance of publishing that is aimed at.")] = 0.8,
    grid: Annotated[bool, typer.Option("--grid", help="Power by items and repeats, at the first effect.")] = False,
    datasets: Annotated[
        int, typer.Option("--datasets", help="Simulated studies of each effect, where few units are simulated.")
    ] = 400,
    workers: Workers = "auto",
    pilot: Annotated[
        Path | None, typer.Option("--pilot", help="A study or pilot whose kept pairs say how items differ.")
    ] = None,
    as_json: AsJson = False,
    figure: Annotated[Path | None, typer.Option("--figure", help="Draw the power as an SVG file.")] = None,
) -> None:
    """Say what a design can find, how often it publishes, and how many items or repeats it needs.

    All by the power of the whole publish rule: a normal model of it, or simulation where few units differ.
    """
    from stages.evidence.assumed import Options
    from stages.evidence.planning import draw_figure, plan_study
    from stages.render.plan import plan_text

    options = Options(
        effect or [],
        rate,
        icc,
        cluster_sd,
        cost_ratio,
        pilot,
        datasets=datasets,
        workers=workers,
        figure=figure,
        power=power,
        grid=grid,
    )
    found = plan_study(study, size or [], repeats, cluster_size, look, options, say)
    if figure is not None:
        draw_figure(found, figure)
    if as_json:
        return show_json(found)
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
    cluster_size: ClusterSize = None,
    cluster_sd: ClusterSd = None,
    look: Look = None,
    seed: Annotated[int, typer.Option("--seed", help="Another seed draws other studies.")] = 0,
    workers: Workers = "auto",
    as_json: AsJson = False,
) -> None:
    """Simulate studies of a design through the publish rule: how often it errs, covers, publishes, exaggerates."""
    from stages.evidence.assumed import Options
    from stages.evidence.calibrating import calibrate_study
    from stages.render.plan import calibration_text

    options = Options(effect or [], rate, icc, cluster_sd, datasets=datasets, seed=seed, workers=workers)
    found = calibrate_study(study, size or [], repeats, cluster_size, look, options, say)
    if as_json:
        return show_json(found)
    print(calibration_text(found), end="")


@app.command(epilog="Example: weighbridge mutate --seed 7 --out data/pack-7")
def mutate(
    seed: Annotated[int | None, typer.Option("--seed", help="Draws the new names: a whole number, from 0.")] = None,
    out: Annotated[
        Path | None, typer.Option("--out", help="The new pack's folder, which mustn't be there yet.")
    ] = None,
    study: Study = Here,
    as_json: AsJson = False,
) -> None:
    """Write the study's pack under other identifiers, within each task's mutation_budget.

    The same seed gives the same bytes. `pack.mutation_seed` in params.yaml freezes the very same pack.
    """
    from stages.contract.study import read_params
    from stages.packs.mutate_write import lines, write_mutated

    found = write_mutated(study / read_params(study).pack.path, seed, out)
    if as_json:
        return show_json(found)
    print("\n".join(lines(found)))
