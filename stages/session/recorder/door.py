"""Takes connections from a listening socket, no more at a time than one trial may have, and requests from those."""

from __future__ import annotations

import asyncio
import contextlib
import ipaddress
import json
import logging
import re
import socket
from collections.abc import Awaitable, Callable

from aiohttp import web

from stages.session.recorder import limits

MARK = "x-weighbridge-recorder"
"""A header of answers that the recorder gave itself, with a word on why."""

_PAUSE_S = 0.05  # where this process has no descriptor left, until one is free
_SILENT = logging.getLogger("weighbridge.recorder")  # what happened is in the calls; a log could hold a prompt
_SILENT.addHandler(logging.NullHandler())
_SILENT.propagate = False


def said(status: int, code: str, message: str) -> web.Response:
    """An answer of the recorder's own: an error in the form that SDKs of every provider read."""
    body = {"type": "error", "error": {"type": code, "code": code, "message": f"session recorder: {message}"}}
    return web.Response(
        status=status, body=json.dumps(body).encode(), content_type="application/json", headers={MARK: code}
    )


_OURS = (".localhost", ".internal", ".local")


def from_a_page(request: web.BaseRequest, *, named: bool = False) -> web.Response | None:
    """A refusal for what a page in a browser asks, or None. `named`: this port may have a public name.

    It says where it comes from, or calls this port by a public name that was made to lead here: then its GET looks
    like one of the same origin, and it could read what the key opens.
    """
    name = re.sub(r":[0-9]*\Z", "", request.headers.get("Host", "").lower()).rstrip(".")
    public = not named and "." in name and not name.endswith(_OURS) and not _is_address(name.strip("[]"))
    if public or "Origin" in request.headers or "Sec-Fetch-Site" in request.headers:
        return said(403, "browser", "no page in a browser may spend the key")
    return None


def _is_address(name: str) -> bool:
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True


def server(handler: Callable[[web.BaseRequest], Awaitable[web.StreamResponse]]) -> web.Server:
    """What answers the requests of all connections of a door. Made in the event loop."""
    return web.Server(handler, handler_cancellation=True)


class _Connection(web.RequestHandler):
    """One connection of an agent's. What it can't read as HTTP it answers as everything else that it refuses."""

    def __init__(self, manager: web.Server) -> None:
        super().__init__(
            manager,
            loop=asyncio.get_running_loop(),
            access_log=None,  # type: ignore[arg-type]
            logger=_SILENT,
            keepalive_timeout=limits.HEAD_S,
            auto_decompress=False,
            max_line_size=limits.MAX_HEADER_BYTES,
            max_field_size=limits.MAX_HEADER_BYTES,
            max_headers=limits.MAX_HEADERS,
        )

    def handle_error(
        self,
        request: web.BaseRequest,
        status: int = 500,
        exc: BaseException | None = None,  # noqa: ARG002 - its text would hold what was sent
        message: str | None = None,  # noqa: ARG002
    ) -> web.StreamResponse:
        if request.writer.output_size > 0:
            raise ConnectionResetError
        code = "malformed" if status == 400 else "fault"
        made = said(status, code, "the request can't be read" if status == 400 else "it failed")
        made.force_close()
        return made


class Door:
    """Made in the event loop. Connections beyond the limit are closed at once: no agent uses up our descriptors."""

    def __init__(self, server: web.Server, listening: socket.socket) -> None:
        listening.setblocking(False)
        self.server, self.listening = server, listening
        self.task = asyncio.ensure_future(self._accept())

    async def _accept(self) -> None:
        loop = asyncio.get_running_loop()
        while True:
            try:
                one, _ = await loop.sock_accept(self.listening)
            except OSError:
                await asyncio.sleep(_PAUSE_S)
                continue
            if len(self.server.connections) >= limits.MAX_CONNECTIONS:
                one.close()
                continue
            with contextlib.suppress(OSError):
                await loop.connect_accepted_socket(lambda: _Connection(self.server), one)

    async def close(self) -> None:
        """Take no more."""
        self.task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await self.task
        self.listening.close()
