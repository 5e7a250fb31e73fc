"""A provider on the loopback that follows a script: real HTTP, every fault of a session at the trial that asks for it."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from aiohttp import web

Handler = Callable[[web.Request, dict[str, Any]], Any]


@dataclass
class Provider:
    """`url` is its base; `seen` are the requests in their order, with headers and body."""

    url: str = ""
    seen: list[tuple[dict[str, str], dict[str, Any]]] = field(default_factory=list)


@contextmanager
def scripted(handle: Handler) -> Iterator[Provider]:
    """A server whose answers `handle(request, its JSON)` gives, an awaitable of a response."""
    made, ready, loop = Provider(), threading.Event(), asyncio.new_event_loop()

    async def answer(request: web.Request) -> web.StreamResponse:
        raw = await request.read()
        body = json.loads(raw) if raw else {}
        made.seen.append((dict(request.headers), body))
        found: web.StreamResponse = await handle(request, body)
        return found

    async def start() -> None:
        app = web.Application(client_max_size=2**27)
        app.router.add_route("*", "/{path:.*}", answer)
        runner = web.AppRunner(app, shutdown_timeout=0.1)
        await runner.setup()
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        made.url = f"http://127.0.0.1:{runner.addresses[0][1]}/v1"
        stop.append(runner)
        ready.set()

    stop: list[web.AppRunner] = []

    def run() -> None:
        loop.run_until_complete(start())
        loop.run_forever()
        loop.run_until_complete(stop[0].cleanup())
        for task in asyncio.all_tasks(loop):  # answers that nobody waits for any more
            task.cancel()
        loop.run_until_complete(asyncio.sleep(0.01))
        loop.close()

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    assert ready.wait(10)
    try:
        yield made
    finally:
        loop.call_soon_threadsafe(loop.stop)
        thread.join(10)


def chat(model: str, text: str, /, *, headers: dict[str, str] | None = None, **more: Any) -> web.Response:
    """An answer in OpenAI's form."""
    body = {
        "id": "chatcmpl-abc123",
        "object": "chat.completion",
        "model": model,
        "choices": [{"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": "stop"}],
        "usage": {"prompt_tokens": 12, "completion_tokens": 3, "total_tokens": 15},
        **more,
    }
    return web.json_response(body, headers={"x-request-id": "req-1", "openai-processing-ms": "1", **(headers or {})})


def error(status: int, code: str, **headers: str) -> web.Response:
    """An error in OpenAI's form."""
    return web.json_response({"error": {"message": "no", "type": code, "code": code}}, status=status, headers=headers)
