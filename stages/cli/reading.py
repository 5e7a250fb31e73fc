"""Commands that look something up: reasons, schemas, trials, this machine; and the tags of tasks."""

from __future__ import annotations

from typing import Annotated

import typer

from stages.cli.base import AsJson, Here, Study, app, say, show_json, task
from stages.contract.errors import one_line


@app.command(epilog="Example: weighbridge explain placebo_passed")
def explain(
    name: Annotated[
        str, typer.Argument(help="A reason, a rule or a finding of a log; without it all are listed.", metavar="[ID]")
    ] = "",
    as_json: AsJson = False,
) -> None:
    """Say what a reason, a rule or a finding means; of a reason, what would have to change too."""
    from stages.gate.explain import entries, lookup

    if not name:
        found = entries()
        if as_json:
            return show_json(found)
        for entry in found:
            print(f"{entry['id']:34} {entry['kind']:18} {entry['says']}")
        return None
    entry = lookup(name)
    if as_json:
        return show_json(entry)
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

    show_json(json_schema(name))


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
        return show_json(found)
    for key, value in found.items():
        if key != "findings" or not value:
            print(f"{key:22} {one_line(value) if value != [] else 'none'}")
        for one in value if key == "findings" else ():
            where = f"{one['path']}:{one['line']}"
            said = f"{where} {one['kind']} {one['symbol']} ({one['counted']}, {one['seen']}, {one['how']})"
            print(f"{key:22} {one_line(said, 1000)}")
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
        return show_json(found)
    for key, value in found.items():
        if key == "limits":
            for name, limit in found["limits"].items():
                held = "held" if limit["held"] is True else limit["held"]
                print(f"{'limit':16} {name} {limit['limit']:,}: {one_line(held)}")
        elif isinstance(value, dict):
            print(f"{key:16} {', '.join(k if v is True else f'{k} {v}' for k, v in value.items()) or 'none'}")
        elif isinstance(value, list):
            for line in value:
                print(f"{key:16} {one_line(line)}")
        else:
            print(f"{key:16} {one_line(value)}")


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
