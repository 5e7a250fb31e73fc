"""Runs inside a sandbox, before the agent: hands a listening socket out, then becomes the agent.

Executed as a file by `python -I -S` with a descriptor, a port and the agent's words. Nothing else is routable
inside, so whoever holds the socket outside is all that the agent can reach, and knows which trial it serves.
"""

from __future__ import annotations

import array
import os
import socket
import sys


def main() -> None:
    channel, port = socket.socket(fileno=int(sys.argv[1])), int(sys.argv[2])
    with socket.socket() as listener:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(("127.0.0.1", port))
        listener.listen(128)
        channel.sendmsg([b"x"], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", [listener.fileno()]))])
    channel.close()
    try:
        os.execvp(sys.argv[3], sys.argv[3:])
    except OSError as error:
        sys.stderr.write(f"can't start {sys.argv[3]!r}: {error.strerror}\n")
        sys.exit(127)


main()
