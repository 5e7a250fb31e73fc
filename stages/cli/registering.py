"""Registration of a study before it runs, and of its result afterwards."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from stages.cli.base import AsJson, Here, Study, app, show_json
from stages.contract.errors import UsageError


@app.command(epilog="Example: weighbridge register && dvc repro && weighbridge register --result")
def register(
    result: Annotated[bool, typer.Option("--result", help="Append the decision's digest, after it was made.")] = False,
    withdraw: Annotated[
        bool, typer.Option("--withdraw", help="Say that no trial of this study was run, so that it is no look.")
    ] = False,
    request: Annotated[
        Path | None,
        typer.Option(
            "--request", help="Write a time-stamp request (.tsq) for an authority; append nothing.", show_default=False
        ),
    ] = None,
    token: Annotated[
        Path | None, typer.Option("--token", help="The authority's response (.tsr), RFC 3161.", show_default=False)
    ] = None,
    tsa: Annotated[
        Path | None, typer.Option("--tsa", help="Its root certificates, as PEM.", show_default=False)
    ] = None,
    study: Study = Here,
    as_json: AsJson = False,
) -> None:
    """Name the frozen study in data/registry.jsonl and commit that, before its first trial.

    Without a token it is dated by git alone, whose dates are the author's own (self_dated). With one, an authority has
    witnessed when it stood (witnessed).
    """
    from stages.evidence import registering

    if sum((result, withdraw, request is not None, token is not None)) > 1:
        raise UsageError("register", "several of --result, --withdraw, --request, --token", "one of them")
    if request is not None:
        made = registering.request(study, request)
        said = f"{request}: send it to a time-stamping authority, then register with --token and --tsa"
        return _say({"request": str(request), "look": made.look}, said, as_json)
    new = True
    if result:
        line, new = registering.register_result(study)
    elif withdraw:
        line = registering.withdraw(study)
    else:
        line, new = registering.register(study, token, tsa)
    entry: dict[str, Any] = line.entry.model_dump(mode="json", by_alias=True)
    what = "appended and committed" if new else "stands already"
    said = f"{registering.where(study)}:{line.number} {line.entry.kind} {what}, sha256 {line.sha256}"
    return _say({"line": line.number, "sha256": line.sha256, "new": new, "entry": entry}, said, as_json)


def _say(found: dict[str, Any], said: str, as_json: bool) -> None:
    if as_json:
        show_json(found)
    else:
        print(said)
