"""The one way out of a sandbox without a network: a socket on which its agent calls, held by the recorder."""

from __future__ import annotations

import contextlib
import socket
import threading
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

PORT = 8787  # on 127.0.0.1, inside
STUB = Path(__file__).with_name("stub.py")
INSIDE = "/stub.py"

Serve = Callable[[socket.socket], None]
"""Takes a listening socket and serves it, in threads of its own; the socket is its to close."""


@dataclass
class Doorway:
    """Our end of a launch's socket pair, the sandbox's end, and the thread that waits for what comes out."""

    ours: socket.socket
    theirs: socket.socket
    thread: threading.Thread

    @classmethod
    def open(cls, serve: Serve) -> Doorway:
        ours, theirs = socket.socketpair()
        thread = threading.Thread(target=_receive, args=(ours, serve), name="doorway", daemon=True)
        return cls(ours, theirs, thread)

    def close(self) -> None:
        """Stop waiting. A socket that was handed over stays with whoever serves it."""
        with contextlib.suppress(OSError):
            self.ours.shutdown(socket.SHUT_RDWR)
        if self.thread.is_alive():
            self.thread.join()
        self.ours.close()
        self.theirs.close()


def _receive(ours: socket.socket, serve: Serve) -> None:
    """Only the first message counts, which is the stub's: the agent isn't there yet."""
    try:
        _, handles, _, _ = socket.recv_fds(ours, 1, 1)
    except OSError:
        return
    if handles:
        serve(socket.socket(fileno=handles[0]))
