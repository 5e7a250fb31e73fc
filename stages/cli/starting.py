"""A study of one's own, begun."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path
from typing import Annotated

import typer

from stages.cli.base import app
from stages.contract.errors import UsageError


@app.command(epilog="Example: weighbridge init demo --example && cd demo && dvc repro")
def init(
    folder: Annotated[Path, typer.Argument(help="A new folder.", metavar="DIR")],
    example: Annotated[bool, typer.Option("--example", help="The example: its pack and two offline agents.")] = False,
    pack: Annotated[
        Path | None, typer.Option("--pack", help="A pack of your own, which is copied.", show_default=False)
    ] = None,
    from_logs: Annotated[bool, typer.Option("--from-logs", help="A study of logs that another harness wrote.")] = False,
    candidate: Annotated[str, typer.Option(help="Name of the candidate.")] = "candidate",
    candidate_command: Annotated[
        str, typer.Option(help="Its command, as words; a stand-in that changes nothing by default.", show_default=False)
    ] = "",
    control: Annotated[str, typer.Option(help="Name of the control.")] = "control",
    control_command: Annotated[str, typer.Option(help="Its command.", show_default=False)] = "",
    repeats: Annotated[int | None, typer.Option(help="Repeats per item and arm.", show_default="3")] = None,
    budget: Annotated[int | None, typer.Option(help="Seconds per trial.", show_default="60")] = None,
) -> None:
    """Write a study that `dvc repro` runs at once, with this package and nothing else. Asks where nothing is said."""
    from stages.evidence.starting import Arm, Start, start

    if not (example or pack or from_logs):
        if not sys.stdin.isatty():
            raise UsageError("init", "nothing to start from", "--example, --pack PATH or --from-logs")
        said = typer.prompt("Pack to start from (a folder; `example` or `logs`)", default="example")
        example, from_logs = said == "example", said == "logs"
        pack = None if example or from_logs else Path(said)
        if pack is not None:
            candidate = typer.prompt("Name of the candidate", default=candidate)
            candidate_command = typer.prompt("Its command (empty: a stand-in)", default="", show_default=False)
            control = typer.prompt("Name of the control", default=control)
            control_command = typer.prompt("Its command (empty: a stand-in)", default="", show_default=False)
            repeats = typer.prompt("Repeats per item and arm", default=3, type=int)
            budget = typer.prompt("Seconds per trial", default=60, type=int)
    one = Arm(candidate, _words("--candidate-command", candidate_command))
    two = Arm(control, _words("--control-command", control_command))
    for line in start(folder, Start(example, pack, from_logs, one, two, repeats, budget)):
        print(line)


def _words(option: str, command: str) -> list[str] | None:
    try:
        return shlex.split(command) or None
    except ValueError as error:
        raise UsageError(option, f"{command} ({error})", "words as a shell would split them") from None
