"""One request of an agent: to the provider and back, byte for byte, with what came of it and when."""

from __future__ import annotations

import asyncio
import time
from dataclasses import dataclass
from datetime import UTC, datetime

import aiohttp
from aiohttp import web
from multidict import CIMultiDict
from yarl import URL

from stages.contract.stamp import Ended
from stages.session.providers import Provider
from stages.session.recorder import limits, passing
from stages.session.recorder.door import said
from stages.session.recorder.record import Record, ended_itself
from stages.session.recorder.redact import Redactor, without

_BODILESS = ("GET", "HEAD", "DELETE", "OPTIONS")


@dataclass(frozen=True)
class Relay:
    """`upstream` is the provider's base URL, `key` what opens it; `client` is shared by all trials."""

    client: aiohttp.ClientSession
    provider: Provider
    upstream: str
    key: str | None

    async def pass_on(self, request: web.BaseRequest, record: Record, raw: str) -> web.StreamResponse:
        """Ask the provider what the agent asked, and answer with what it answers. `record` is filled on the way.

        `raw` is the path with its query, as the provider is to get it.
        """
        try:
            return await self._passed(request, record, raw)
        except _BrokenOff:
            raise
        except (asyncio.CancelledError, ConnectionError):
            # The agent's connection ended, or its trial did. An SDK hangs up as soon as it has read a stream's last
            # event, which is no breaking off.
            record.ended = "complete" if ended_itself(record) else "client_gone"
            raise
        finally:
            record.total_ms = record.now()

    async def _passed(self, request: web.BaseRequest, record: Record, raw: str) -> web.StreamResponse:
        url = passing.target(raw, self.upstream, self.provider, self.key)
        if request.method == "CONNECT" or url is None:
            return self.refused(record, 404, "no_such_route", f"only {self.upstream} can be reached")
        record.url = passing.origin(self.upstream) + raw
        if "websocket" in request.headers.get("Upgrade", "").lower():  # to others the answer may be plain HTTP
            made = self.refused(record, 501, "no_upgrade", "connections can't be upgraded")
            made.force_close()
            return made
        if request.headers.get("Expect", "").lower() == "100-continue":
            await request.writer.write(b"HTTP/1.1 100 Continue\r\n\r\n")
            request.writer.output_size = 0
        try:
            body = await _read(request, record)
        except TimeoutError:
            return self.refused(record, 408, "too_slow", f"nothing of the request for {limits.BODY_S:g} seconds")
        except web.RequestPayloadError:
            return self.refused(record, 400, "malformed", "the request's body can't be read")
        if body is None:
            return self.refused(record, 413, "too_large", f"at most {limits.MAX_REQUEST_BYTES} bytes in a request")
        onward = passing.onward(passing.texts(request.raw_headers), self.provider, self.key)
        record.body, record.headers = body, list(onward.items())
        record.started_at, record.clock = datetime.now(UTC), time.monotonic()
        try:
            answer = await self.client.request(
                request.method,
                URL(url, encoded=True),
                headers=onward,
                data=body if body or request.method not in _BODILESS else None,
                allow_redirects=False,
            )
        except (aiohttp.ClientConnectorError, aiohttp.ConnectionTimeoutError) as error:
            return said(502, "upstream_unreachable", f"the provider can't be reached ({type(error).__name__})")
        except TimeoutError:
            record.ended = "upstream_timeout"
            return said(504, "upstream_timeout", "the provider gave no answer in time")
        except ValueError:  # a path or a header that can't be sent: nothing was
            return self.refused(record, 400, "malformed", "the request can't be passed on")
        except aiohttp.ServerDisconnectedError:
            record.ended = "upstream_reset"
            return said(502, "upstream_reset", "the provider ended the connection")
        except (aiohttp.ClientError, OSError) as error:
            record.ended = "upstream_reset"
            return said(502, "upstream_reset", f"the provider's answer can't be read ({type(error).__name__})")
        unfit = passing.unfit(answer.status, answer.headers, self.key)
        if unfit is not None:
            answer.close()
            record.ended = "upstream_reset"
            return said(502, "upstream_reset", unfit)
        return await self._answered(request, record, answer)

    async def _answered(
        self, request: web.BaseRequest, record: Record, answer: aiohttp.ClientResponse
    ) -> web.StreamResponse:
        """Stream the answer's body. Where the provider breaks off, so does the agent's connection."""
        try:
            record.headers_ms, record.status = record.now(), answer.status
            record.answer = passing.back(passing.texts(answer.raw_headers), self.key)
            reason = without(answer.reason or "", self.key)
            made = web.StreamResponse(status=answer.status, reason=reason, headers=CIMultiDict(record.answer))
            bare = request.method == "HEAD" or answer.status in (204, 304)
            size = answer.headers.get("Content-Length")
            if size is not None and size.isdecimal():
                made.content_length = int(size)
            elif not bare and request.version >= aiohttp.HttpVersion11:
                made.enable_chunked_encoding()
            redactor = Redactor(self.key)
            record.ended = "client_gone"
            await made.prepare(request)
            try:
                async for piece in answer.content.iter_any():
                    going = redactor.feed(piece)
                    record.piece(going)
                    if going:
                        await made.write(going)
            except TimeoutError:
                return _broken_off(request, record, "upstream_timeout")
            except aiohttp.ClientConnectionResetError:  # writing: the agent is gone
                raise
            except (aiohttp.ClientError, ConnectionError):
                gone = request.transport is None or request.transport.is_closing()
                return _broken_off(request, record, "client_gone" if gone else "upstream_reset")
            rest = redactor.rest()
            if rest:
                record.piece(rest)
                await made.write(rest)
            await made.write_eof()
            record.ended = "complete"
            return made
        finally:
            answer.release() if record.ended == "complete" else answer.close()

    def refused(self, record: Record, status: int, code: str, message: str) -> web.Response:
        """An answer of the recorder's own to a request that it doesn't pass on."""
        record.ended = "refused"
        record.leave()
        return said(status, code, message)


class _BrokenOff(ConnectionResetError):
    """The agent's connection was ended by us, for what `record.ended` says."""


async def _read(request: web.BaseRequest, record: Record) -> bytes | None:
    """A request's body, or None where it is too large, or its trial. Raises TimeoutError where it stops coming."""
    body = bytearray()
    while True:
        async with asyncio.timeout(limits.BODY_S):
            piece = await request.content.readany()
        if not piece:
            return bytes(body)
        body += piece
        if len(body) > limits.MAX_REQUEST_BYTES or not record.hold(len(piece)):
            return None


def _broken_off(request: web.BaseRequest, record: Record, ended: Ended) -> web.StreamResponse:
    """End the agent's connection within the answer, as the provider's ended: no answer may look whole that wasn't."""
    record.ended = ended
    if request.transport is not None:
        request.transport.abort()
    raise _BrokenOff
