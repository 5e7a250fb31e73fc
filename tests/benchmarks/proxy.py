"""What the recorder adds to a request, and to the first bytes of many streams at once, against the same provider direct.

Provider, recorder and client are three processes, as they are in a campaign.
"""

from __future__ import annotations

import asyncio
import hashlib
import os
import platform
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

import aiohttp
from aiohttp import web

from tests.benchmarks.fresh import ROOT

REQUESTS, STREAMS, ROUNDS = 400, 64, 7
LIMIT_MS, LIMIT_RATIO = 2.0, 2.5
BODY = b'{"model": "m", "stream": %s, "messages": [{"role": "user", "content": "' + b"x" * 2000 + b'"}]}'


async def _answer(request: web.Request) -> web.StreamResponse:
    body = await request.read()
    if b'"stream": true' not in body:
        message = {"role": "assistant", "content": "y" * 500}
        usage = {"prompt_tokens": 500, "completion_tokens": 100}
        return web.json_response({"id": "chatcmpl-1", "model": "m", "choices": [{"message": message}], "usage": usage})
    made = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
    await made.prepare(request)
    for n in range(20):
        await made.write(b'data: {"id":"c","model":"m","choices":[{"delta":{"content":"%d"}}]}\n\n' % n)
        await asyncio.sleep(0.005)
    await made.write(b"data: [DONE]\n\n")
    return made


async def _provider() -> None:
    app = web.Application()
    app.router.add_post("/v1/chat/completions", _answer)
    runner = web.AppRunner(app)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    print(f"http://127.0.0.1:{runner.addresses[0][1]}/v1", flush=True)
    await asyncio.to_thread(sys.stdin.read)


def _recorder(upstream: str) -> None:
    import resource

    from stages.session.recorder import Recorder

    with Recorder("openai", upstream, "sk-benchmark", secret=b"x" * 32) as recorder:
        listener = recorder.open("benchmark")
        print(listener.listen(), flush=True)
        sys.stdin.read()
        calls = listener.close(1)
    print(len(calls), resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, flush=True)


@contextmanager
def _process(*words: str) -> Iterator[tuple[str, subprocess.Popen[str]]]:
    """(what it says first, the process); it ends when its input does."""
    argv = [sys.executable, "-m", "tests.benchmarks.proxy", *words]
    with subprocess.Popen(argv, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as made:
        assert made.stdout
        assert made.stdin
        try:
            yield made.stdout.readline().strip(), made
        finally:
            made.stdin.close()


async def _sequential(client: aiohttp.ClientSession, bases: list[str], count: int) -> list[list[float]]:
    """Milliseconds of each request, direct and through by turns."""
    took: list[list[float]] = [[] for _ in bases]
    for _ in range(count):
        for place, base in enumerate(bases):
            began = time.perf_counter()
            async with client.post(f"{base}/chat/completions", data=BODY % b"false") as answer:
                await answer.read()
            took[place].append(1000 * (time.perf_counter() - began))
    return took


async def _stream(client: aiohttp.ClientSession, base: str) -> tuple[float, str]:
    """(milliseconds to the first byte of the body, digest of all of it)."""
    began, digest, first = time.perf_counter(), hashlib.sha256(), 0.0
    async with client.post(f"{base}/chat/completions", data=BODY % b"true") as answer:
        async for piece in answer.content.iter_any():
            first = first or 1000 * (time.perf_counter() - began)
            digest.update(piece)
    return first, digest.hexdigest()


async def _client(bases: list[str], quick: bool) -> dict[str, Any]:
    async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0)) as client:
        await _sequential(client, bases, 20)
        took = await _sequential(client, bases, 40 if quick else REQUESTS)
        first: list[list[float]] = [[] for _ in bases]
        digests = set()
        for _ in range(1 if quick else ROUNDS):
            for place, base in enumerate(bases):
                seen = await asyncio.gather(*(_stream(client, base) for _ in range(STREAMS)))
                first[place] += [one for one, _ in seen]
                digests |= {digest for _, digest in seen}
    return {"sequential_ms": took, "first_byte_ms": first, "different_bodies": len(digests)}


def measure(quick: bool = False) -> dict[str, Any]:
    """Milliseconds of single requests and first bytes of streams, direct and through the recorder, in one run."""
    with ExitStack() as stack:
        direct, _ = stack.enter_context(_process("provider"))
        through, recorder = stack.enter_context(_process("recorder", direct))
        found = asyncio.run(_client([direct, through], quick))
        assert recorder.stdin
        assert recorder.stdout
        recorder.stdin.close()
        calls, peak = map(int, recorder.stdout.readline().split())
    cores = os.cpu_count() or 1
    return {**found, "calls": calls, "recorder_kb": peak, "load_1m": os.getloadavg()[0], "cores": cores}


def cost(found: dict[str, Any]) -> tuple[float, float]:
    """(milliseconds added to a request, first bytes of streams at once in multiples of direct), of the medians."""
    (direct, through), (one, other) = found["sequential_ms"], found["first_byte_ms"]
    added = statistics.median(through) - statistics.median(direct)
    return added, statistics.median(other) / statistics.median(one)


def markdown(found: dict[str, Any]) -> str:
    """The table of the recorder's cost."""
    (direct, through), (one, other) = found["sequential_ms"], found["first_byte_ms"]
    added, ratio = cost(found)
    rows = [
        ("one request after the other, median", statistics.median(direct), statistics.median(through), f"+{added:.2f} ms"),
        (f"first byte of {STREAMS} streams at once, median", statistics.median(one), statistics.median(other), f"{ratio:.2f}×"),
        (f"first byte of {STREAMS} streams at once, last", max(one), max(other), f"{max(other) / max(one):.2f}×"),
    ]  # fmt: skip
    return "\n".join(
        [
            f"Recorder: {len(direct)} requests, {len(one)} streams; Python {platform.python_version()}, "
            f"{found['cores']} cores, load {found['load_1m']:.1f}. Bodies that differ from one another: "
            f"{found['different_bodies'] - 1}. Recorder's peak memory {found['recorder_kb'] / 1024:.0f} MiB "
            f"for {found['calls']} calls. Asked for: less than {LIMIT_MS:g} ms and {LIMIT_RATIO:g}×.",
            "",
            "| | direct, ms | recorded, ms | |",
            "|---|---:|---:|---:|",
            *(f"| {name} | {a:.2f} | {b:.2f} | {c} |" for name, a, b, c in rows),
        ]
    )


if __name__ == "__main__":
    if sys.argv[1] == "provider":
        asyncio.run(_provider())
    else:
        _recorder(sys.argv[2])
