"""The recorder of one arm: an event loop in a thread of its own, and a listener for each attempt of a trial."""

from __future__ import annotations

import asyncio
import sys
import threading
from collections.abc import Coroutine
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any, Self, TypeVar
from urllib.parse import urlsplit

import aiohttp

from stages.contract.errors import UsageError
from stages.contract.stamp import Call
from stages.session.dialects import read_call
from stages.session.providers import PROVIDERS
from stages.session.recorder import limits
from stages.session.recorder.identity import identity
from stages.session.recorder.listener import Listener
from stages.session.recorder.record import Record
from stages.session.recorder.relay import Relay

T = TypeVar("T")
_WHERE = "the session recorder"
_SWITCH_S = 0.0005
UNREAD = "the recorder couldn't read the call"


class Recorder:
    """Passes calls of an arm's trials on to its one provider. A context manager; `upstream` is the base URL used.

    The `key` is known here and nowhere else; `secret` is what request bodies are hashed by. Raises UsageError for a
    provider that has no URL of its own and was given none, for a URL that is none, and for a key that no header holds.
    """

    def __init__(self, provider: str, upstream: str | None, key: str | None, *, secret: bytes | None = None) -> None:
        known = PROVIDERS[provider]
        base = upstream or known.upstream
        if base is None:
            raise UsageError(_WHERE, f"no upstream for {provider}", "its base URL", "name it")
        if not _is_base(base):
            raise UsageError(_WHERE, "an upstream that is no base URL", "http(s)://HOST[:PORT][/PATH]", "without a key")
        if key is not None and not (key.isascii() and key.isprintable() and key == key.strip() != ""):
            raise UsageError(_WHERE, "a key that no header can hold", "printable ASCII", "mind line breaks and spaces")
        self.provider, self.upstream, self._key, self._secret = provider, base.rstrip("/"), key, secret
        self._loop = asyncio.new_event_loop()
        self._loop.set_exception_handler(lambda *_: None)  # its texts could hold what an agent or a provider sent
        self._thread = threading.Thread(target=self._loop.run_forever, name="recorder", daemon=True)
        # Reading a long stream takes a second: not on the loop that others' bytes wait for.
        self._readers = ThreadPoolExecutor(1, thread_name_prefix="dialect")
        self._client: aiohttp.ClientSession | None = None

    def __enter__(self) -> Self:
        # A thread that reads a long stream would else hold up each step of the loop by 5 ms, and so the times it notes.
        self._interval = sys.getswitchinterval()
        sys.setswitchinterval(min(self._interval, _SWITCH_S))
        self._thread.start()
        self._client = self.do(self._connect())
        return self

    def __exit__(self, *_: object) -> None:
        if self._client is not None:
            self.do(self._client.close())
            self.do(_cancel_others())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._readers.shutdown()
        self._loop.close()
        sys.setswitchinterval(self._interval)

    async def _connect(self) -> aiohttp.ClientSession:
        return aiohttp.ClientSession(
            # Shorter than servers keep an idle connection (uvicorn: 5 s): one that ends in use looks like a fault.
            connector=aiohttp.TCPConnector(limit=0, keepalive_timeout=4),
            timeout=aiohttp.ClientTimeout(
                total=None, connect=limits.CONNECT_S, sock_connect=limits.CONNECT_S, sock_read=limits.IDLE_S
            ),
            cookie_jar=aiohttp.DummyCookieJar(),
            auto_decompress=False,
            trust_env=False,
            skip_auto_headers=("Accept", "Accept-Encoding", "User-Agent", "Content-Type"),
            max_line_size=limits.MAX_HEADER_BYTES,
            max_field_size=limits.MAX_HEADER_BYTES,
        )

    def do(self, work: Coroutine[Any, Any, T]) -> T:
        """The result of work in the event loop, from any other thread."""
        return asyncio.run_coroutine_threadsafe(work, self._loop).result()

    def open(self, label: str) -> Listener:
        """What serves one attempt of a trial and no other; `label` names it in nothing that is stored."""
        assert self._client is not None
        return Listener(self, Relay(self._client, PROVIDERS[self.provider], self.upstream, self._key), label)

    async def identity(self) -> str | None:
        """Who the server is now, for providers whose answers don't say it."""
        assert self._client is not None
        known = PROVIDERS[self.provider]
        headers = {} if self._key is None else {known.header: known.scheme + self._key}
        return await identity(self._client, self.provider, self.upstream, headers)

    def read(self, record: Record, number: int) -> Call:
        """The call that was recorded. Its bodies are gone after this.

        One that a dialect stumbles over is a call all the same, of which nothing but that is known.
        """
        exchange = record.exchange()
        try:
            return read_call(exchange, number, provider=self.provider, secret=self._secret)
        except Exception:  # whose text would hold what was sent
            bare = replace(exchange, url=self.upstream, request_headers=(), request_body=b"", response_headers=())
            bare = replace(bare, pieces=(), cut=frozenset({"request", "response"}))
            call = read_call(bare, number, provider=self.provider, secret=self._secret)
            return call.model_copy(update={"inconsistent": [UNREAD, *call.inconsistent][:20]})

    def submit(self, record: Record, number: int) -> asyncio.Future[Call]:
        """The same, off the loop."""
        return self._loop.run_in_executor(self._readers, self.read, record, number)


def _is_base(url: str) -> bool:
    try:
        parts = urlsplit(url)
        _ = parts.port
    except ValueError:
        return False
    more = parts.query or parts.fragment or parts.username is not None or parts.password is not None
    return parts.scheme in ("http", "https") and bool(parts.hostname) and not more and url.isascii() and " " not in url


async def _cancel_others() -> None:
    """End what is left in the loop: listeners that nobody closed, connections that end in its next round."""
    others = asyncio.all_tasks() - {asyncio.current_task()}
    for one in others:
        one.cancel()
    await asyncio.gather(*others, return_exceptions=True)
    await asyncio.sleep(0)
