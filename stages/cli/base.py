"""What all commands share: the application, its options, and how it says things."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Annotated, Any

import typer

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


def show_json(value: Any) -> None:
    print(json.dumps(value, indent=2, sort_keys=True, ensure_ascii=False))
