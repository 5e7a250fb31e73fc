"""The stages of the pipeline, one command each, and the harness's check of itself."""

from __future__ import annotations

from typing import Annotated

import typer

from stages.cli.base import Here, Study, app, say
from stages.contract.errors import UsageError


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
