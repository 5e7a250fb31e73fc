"""The command line: parses and calls, nothing else. Heavy rooms are imported where they are used."""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Callable
from typing import Annotated, Any

import typer

from stages import __version__
from stages.cli import evidence, logs, pipeline, planning, proxy, reading, registering, stamps, starting  # noqa: F401 — each registers its commands, in this order
from stages.cli.base import app, say
from stages.contract.errors import WeighbridgeError, one_line

__all__ = ["app", "main"]


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
