"""Commands on stamps: read them out of recorded traffic, check a log of them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from stages.cli.base import AsJson, app, show_json
from stages.contract.errors import UsageError, one_line

if TYPE_CHECKING:
    from stages.contract.stamp import Call

stamps = typer.Typer(
    no_args_is_help=True, rich_markup_mode=None, help="Stamps of sessions: read them from logs, check them."
)
app.add_typer(stamps, name="stamps")

Summary = Annotated[bool, typer.Option("--summary", help="A table instead of JSON lines.")]
Provider = Annotated[
    str | None, typer.Option("--provider", help="Whose dialect it is.", show_default="by host and body")
]
Item = Annotated[
    str | None, typer.Option("--item", help="Print the stamp of this item's attempt instead of its calls.")
]
Arm = Annotated[str | None, typer.Option("--arm", help="candidate or control")]
Repeat = Annotated[int | None, typer.Option("--repeat", help="From 0.")]
Attempt = Annotated[int | None, typer.Option("--attempt", help="From 1.", show_default="1")]


@stamps.command("from-har", epilog="Example: weighbridge stamps from-har session.har --summary")
def from_har(
    file: Annotated[Path, typer.Argument(help="A HAR file.")],
    summary: Summary = False,
    provider: Provider = None,
    item: Item = None,
    arm: Arm = None,
    repeat: Repeat = None,
    attempt: Attempt = None,
) -> None:
    """Print the calls of a HAR file as JSON lines, without bodies, keys and queries."""
    from stages.session.traffic import calls_of, read_har

    _print_calls(calls_of(file, read_har(file), provider), summary, item, arm, repeat, attempt)


@stamps.command("from-cassette", epilog="Example: weighbridge stamps from-cassette test_run.yaml --summary")
def from_cassette(
    file: Annotated[Path, typer.Argument(help="A cassette of VCR, YAML.")],
    summary: Summary = False,
    provider: Provider = None,
    item: Item = None,
    arm: Arm = None,
    repeat: Repeat = None,
    attempt: Attempt = None,
) -> None:
    """Print the calls of a cassette as JSON lines, without bodies, keys and queries."""
    from stages.session.cassette import read_cassette
    from stages.session.traffic import calls_of

    _print_calls(calls_of(file, read_cassette(file), provider), summary, item, arm, repeat, attempt)


def _print_calls(
    calls: Sequence[Call],
    summary: bool,
    item: str | None,
    arm: str | None,
    repeat: int | None,
    attempt: int | None,
) -> None:
    from stages.contract.digest import canonical
    from stages.contract.types import plain
    from stages.session.traffic import call_lines, exported_stamp

    if item is not None or arm is not None or repeat is not None or attempt is not None:
        if item is None or arm is None or repeat is None:
            raise UsageError("stamps", "only a part of a trial's name", "--item, --arm and --repeat together")
        number = 1 if attempt is None else attempt
        print(canonical(plain(exported_stamp(calls, item, arm, repeat, number))).decode())
    elif summary:
        for line in call_lines(calls):
            print(one_line(line, 1000))
    else:
        for call in calls:
            print(canonical(plain(call)).decode())


@stamps.command("check", epilog="Example: weighbridge stamps check stamps.jsonl --envelope params.yaml")
def check(
    file: Annotated[Path, typer.Argument(help="Stamps, one JSON object a line, written by any logger.")],
    envelope: Annotated[
        Path | None,
        typer.Option("--envelope", help="params.yaml, a protocol or an envelope.", show_default="no limits"),
    ] = None,
    plan: Annotated[
        Path | None, typer.Option("--plan", help="The plan.json whose trials these are.", show_default="any trial")
    ] = None,
    as_json: AsJson = False,
) -> int:
    """Hold a log of stamps against the schema and an envelope. Exit code 1 outside, 2 where a line is no stamp."""
    from datetime import UTC, datetime

    from stages.session.check import check_log, read_envelope, read_trials_of
    from stages.session.checked import check_lines

    limits = read_envelope(envelope) if envelope is not None else None
    planned = read_trials_of(plan) if plan is not None else None
    checked = check_log(file, limits, planned, datetime.now(UTC))
    if as_json:
        show_json(checked.shown())
    else:
        for line in check_lines(checked):
            print(one_line(line, 1000))
    return checked.exit_code
