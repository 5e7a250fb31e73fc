"""The recording proxy on its own."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from stages.cli.base import app, say

_LOOPBACK = ("127.0.0.1", "::1", "localhost")


@app.command(epilog="Example: weighbridge proxy --provider openai --out stamps.jsonl")
def proxy(
    provider: Annotated[str, typer.Option("--provider", help="Whose API it is; `generic` for what speaks OpenAI's.")],
    out: Annotated[Path, typer.Option("--out", help="Stamps are appended here, a JSON line per attempt.")],
    upstream: Annotated[
        str | None, typer.Option("--upstream", help="The provider's base URL.", show_default="its own")
    ] = None,
    key_env: Annotated[
        str | None,
        typer.Option("--key-env", help="The variable that holds the key.", show_default="the provider's own"),
    ] = None,
    calls: Annotated[Path | None, typer.Option("--calls", help="Calls are appended here, a JSON line each.")] = None,
    port: Annotated[int, typer.Option("--port", min=0, max=65535, help="0: any that is free.")] = 8787,
    host: Annotated[str, typer.Option("--host", help="Where it listens.")] = "127.0.0.1",
    expose: Annotated[
        bool,
        typer.Option("--expose", help="Listen elsewhere than on the loopback: whoever reaches it spends your key."),
    ] = False,
    idle: Annotated[
        float, typer.Option("--idle", min=1, help="Seconds of silence after which an attempt is over.")
    ] = 600,
) -> None:
    """Record the calls of a harness of your own, until Ctrl-C.

    Agents call http://HOST:PORT/t/ITEM/ARM/REPEAT[/ATTEMPT] in place of the provider's origin, with the provider's own
    path behind it: /t/repair-1/candidate/0/v1. An attempt is over after a DELETE of its prefix, after --idle, or at the
    end. A path can be forged, so its stamps say `exported`; `dvc repro` gives each trial a socket of its own.
    """
    from stages.contract.errors import UsageError
    from stages.session.standing import stand

    if host not in _LOOPBACK and not expose:
        raise UsageError(
            "--host", f"{host} is not the loopback", "--expose with it", "anybody there would spend your key"
        )
    stand(provider, upstream, key_env, host, port, out, calls, idle, say)
