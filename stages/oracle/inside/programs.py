"""The tree's programs, on the side of the code under test: run to their end, or served on the sandbox's loopback."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
from collections.abc import Callable
from typing import Any

HOST = "127.0.0.1"
MOST_OUTPUT = 4_000_000

_started: list[subprocess.Popen[bytes]] = []
_place = {"tree": "/ws", "port": ""}


def enter(tree: str) -> None:
    """Programs start in this folder."""
    _place["tree"] = tree


def _words(argv: list[str]) -> list[str]:
    return [
        sys.executable if number == 0 and word in ("python", "python3") else word for number, word in enumerate(argv)
    ]


def _environment(env: dict[str, str] | None) -> dict[str, str]:
    quiet = {"PYTHONDONTWRITEBYTECODE": "1", "PYTHONPYCACHEPREFIX": os.devnull + "/none"}
    return {**os.environ, **quiet, **(env or {})}


def run(argv: list[str], stdin: str | bytes, env: dict[str, str] | None, timeout: float) -> dict[str, Any]:
    """A program's exit code, standard output and standard error (text; what isn't UTF-8 as lone surrogates).

    `returncode` is None when `timeout` [s] ended it. Raises OSError where it can't be started.
    """
    given = stdin.encode("utf-8", "surrogateescape") if isinstance(stdin, str) else stdin
    code: int | None
    try:
        done = subprocess.run(
            _words(argv),
            cwd=_place["tree"],
            env=_environment(env),
            input=given,
            capture_output=True,
            timeout=timeout,
            check=False,
        )
        code, out, err = done.returncode, done.stdout, done.stderr
    except subprocess.TimeoutExpired as late:
        code, out, err = None, late.stdout or b"", late.stderr or b""
    shown = [text[:MOST_OUTPUT].decode("utf-8", "surrogateescape") for text in (out, err)]
    return {"returncode": code, "stdout": shown[0], "stderr": shown[1]}


def serve(argv: list[str], port: int, env: dict[str, str] | None, timeout: float) -> bool:
    """Start a server and wait until it takes connections on the port. False: it didn't in `timeout` [s]."""
    nothing = subprocess.DEVNULL
    child = subprocess.Popen(
        _words(argv), cwd=_place["tree"], env=_environment(env), stdin=nothing, stdout=nothing, stderr=nothing
    )
    _started.append(child)
    _place["port"] = str(port)
    until = time.monotonic() + timeout
    while time.monotonic() < until and child.poll() is None:
        try:
            socket.create_connection((HOST, port), 1.0).close()
            return True
        except OSError:
            time.sleep(0.02)
    return False


def request(
    method: str, path: str, body: str | bytes | None, headers: dict[str, str] | None, timeout: float
) -> dict[str, Any]:
    """Status, headers (lower case) and body of one request to the server that was started last. Raises OSError."""
    import http.client  # half of what the other imports cost together

    connection = http.client.HTTPConnection(HOST, int(_place["port"] or 0), timeout=timeout)
    try:
        connection.request(method, path, body.encode() if isinstance(body, str) else body, headers or {})
        answer = connection.getresponse()
        found = {name.lower(): value for name, value in answer.getheaders()}
        return {"status": answer.status, "headers": found, "body": answer.read(MOST_OUTPUT)}
    finally:
        connection.close()


def stop() -> None:
    """End the servers that were started."""
    while _started:
        child = _started.pop()
        child.kill()
        child.wait()


OPERATIONS: dict[str, Callable[..., Any]] = {"run": run, "serve": serve, "request": request, "stop": stop}
