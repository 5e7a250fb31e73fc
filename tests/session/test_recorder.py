"""The recorder between real SDKs and a provider that follows a script: bytes pass, and what happened is noted."""

from __future__ import annotations

import asyncio
import gzip
import http.client
import json
import os
import socket
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any
from urllib.parse import urlsplit

import pytest

pytest.importorskip("aiohttp", reason="the extra `proxy` isn't installed")
from aiohttp import web

from stages.contract.stamp import Call
from stages.session import stamp_of
from stages.session.recorder import Listener, Recorder, limits
from tests.support.provider import Provider, chat, error, scripted

KEY = "sk-marked-key-1234567890"
SECRET = b"s" * 32


@contextmanager
def through(handle: Any, provider: str = "openai", key: str | None = KEY) -> Iterator[tuple[Provider, Listener, str]]:
    """(provider, listener, the base URL that an agent is given)."""
    with scripted(handle) as server, Recorder(provider, server.url, key, secret=SECRET) as recorder:
        listener = recorder.open("a")
        yield server, listener, listener.listen()


def raw(
    base: str, path: str, body: bytes = b"{}", method: str = "POST", **headers: str
) -> tuple[int, dict[str, str], bytes]:
    where = urlsplit(base)
    assert where.hostname
    line = http.client.HTTPConnection(where.hostname, where.port, timeout=20)
    line.request(method, where.path + path, body, {"Content-Type": "application/json", **headers})
    answer = line.getresponse()
    found = answer.status, dict(answer.headers), answer.read()
    line.close()
    return found


def events(model: str, count: int = 3, fingerprint: str = "fp_a") -> list[bytes]:
    one = {"id": "chatcmpl-1", "object": "chat.completion.chunk", "model": model, "system_fingerprint": fingerprint}
    parts = [{**one, "choices": [{"index": 0, "delta": {"content": f"é{n}"}}]} for n in range(count)]
    usage = {**one, "choices": [], "usage": {"prompt_tokens": 5, "completion_tokens": count, "total_tokens": 5 + count}}
    lines = [f"data: {json.dumps(part, ensure_ascii=False)}\n\n".encode() for part in [*parts, usage]]
    return [*lines, b"data: [DONE]\n\n"]


async def stream(request: web.Request, pieces: list[bytes], pause: float = 0.0) -> web.StreamResponse:
    made = web.StreamResponse(headers={"Content-Type": "text/event-stream", "x-request-id": "r"})
    await made.prepare(request)
    for piece in pieces:
        await made.write(piece)
        await asyncio.sleep(pause)
    await made.write_eof()
    return made


# What an SDK meets


def openai_client(base: str) -> Any:
    openai = pytest.importorskip("openai")
    return openai.OpenAI(base_url=base, api_key="dummy", max_retries=2)


def ask(client: Any, **more: Any) -> Any:
    words = {"model": "gamma-1", "messages": [{"role": "user", "content": "a marked prompt"}], "temperature": 0.5}
    return client.chat.completions.create(**{**words, **more})


def test_an_sdk_streams_through_and_the_first_token_is_timed() -> None:
    async def handle(request: web.Request, body: dict[str, Any]) -> Any:
        return await stream(request, events(body["model"]), 0.05)

    with through(handle) as (_, listener, base):
        said = [c.choices[0].delta.content for c in ask(openai_client(base), stream=True, seed=3) if c.choices]
        assert said == ["é0", "é1", "é2"]
        (call,) = listener.close(1)
    assert (call.failure, call.ended, call.served.model, call.served.system_fingerprint) == (
        None, "complete", ["gamma-1"], ["fp_a"],
    )  # fmt: skip
    assert (call.requested.temperature, call.requested.seed) == (["0.5"], ["3"])
    assert (call.usage.input_tokens, call.usage.output_tokens) == (5, 3)
    assert call.timing.first_token_ms is not None
    assert call.timing.total_ms is not None
    assert call.timing.total_ms - call.timing.first_token_ms > 100, "three pauses of 50 ms lie between"
    assert call.conversation_empty is True


def test_an_sdks_retries_are_counted_and_the_quota_state_is_kept() -> None:
    turns: list[int] = []

    async def handle(_: web.Request, body: dict[str, Any]) -> Any:
        turns.append(1)
        if len(turns) == 1:
            return error(429, "rate_limit_exceeded", **{"retry-after-ms": "5"})
        return error(529, "overloaded_error") if len(turns) == 2 else chat(body["model"], "yes")

    with through(handle) as (_, listener, base):
        assert ask(openai_client(base)).choices[0].message.content == "yes"
        calls = listener.close(1)
    assert [(c.status, c.retry.sdk_count, c.retry.repeated_body_count) for c in calls] == [
        (429, 0, 0), (529, 1, 1), (200, 2, 2),
    ]  # fmt: skip
    stamp = stamp_of("i", "candidate", 0, 1, calls, started_at=calls[0].started_at, evidence="recorded")
    assert (stamp.retries, stamp.quota_state) == (2, "throttled")


def test_a_switch_of_model_or_fingerprint_is_a_change_of_route() -> None:
    async def handle(_: web.Request, body: dict[str, Any]) -> Any:
        turn = len(body["messages"])
        return chat("gamma-1" if turn < 3 else "other", "yes", system_fingerprint=f"fp_{min(turn, 2)}")

    with through(handle) as (_, listener, base):
        client = openai_client(base)
        for turn in range(1, 4):
            ask(client, messages=[{"role": "user", "content": "x"}] * turn)
        stamp = stamp_of(
            "i", "candidate", 0, 1, (c := listener.close(1)), started_at=c[0].started_at, evidence="recorded"
        )
    assert stamp.route_changed is True
    assert stamp.route_what[:2] == ["served model: gamma-1, other", "served system fingerprint: fp_1, fp_2"]


def test_anthropics_sdk_streams_through_and_an_overload_within_the_stream_is_a_failure() -> None:
    anthropic = pytest.importorskip("anthropic")

    def lines(*parts: dict[str, Any]) -> list[bytes]:
        return [f"event: {part['type']}\ndata: {json.dumps(part)}\n\n".encode() for part in parts]

    start = {"type": "message_start", "message": {"id": "msg_01", "type": "message", "role": "assistant", "content": [],
             "model": "claude-x", "stop_reason": None, "stop_sequence": None,
             "usage": {"input_tokens": 4, "output_tokens": 1}}}  # fmt: skip
    text = [
        {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}},
        {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "hi"}},
        {"type": "content_block_stop", "index": 0},
        {"type": "message_delta", "delta": {"stop_reason": "end_turn", "stop_sequence": None}, "usage": {"output_tokens": 2}},
        {"type": "message_stop"},
    ]  # fmt: skip
    turns: list[int] = []

    async def handle(request: web.Request, _: dict[str, Any]) -> Any:
        turns.append(1)
        if len(turns) == 1:
            return await stream(request, lines(start, *text))
        fault = {"type": "error", "error": {"type": "overloaded_error", "message": "no"}}
        return await stream(request, lines(start, text[0], fault))

    with (
        scripted(handle) as server,
        Recorder("anthropic", server.url.removesuffix("/v1"), KEY, secret=SECRET) as recorder,
    ):
        listener = recorder.open("a")
        client = anthropic.Anthropic(base_url=listener.listen(), api_key="dummy", max_retries=0)
        words: dict[str, Any] = {"model": "claude-x", "max_tokens": 9, "messages": [{"role": "user", "content": "x"}]}
        with client.messages.stream(**words) as said:
            assert said.get_final_text() == "hi"
        with pytest.raises(anthropic.APIError), client.messages.stream(**words) as said:
            said.get_final_text()
        good, bad = listener.close(1)
    assert server.seen[0][0]["x-api-key"] == KEY
    assert (good.dialect, good.failure, good.served.model, good.usage.output_tokens) == (
        "anthropic",
        None,
        ["claude-x"],
        2,
    )
    assert (bad.status, bad.error_code) == (200, "overloaded_error")
    assert bad.failure is not None


@pytest.mark.parametrize(("body", "failure"), [(b"", "empty_200"), (b'{"error": {"code": "x"}}', "error_in_200")])
def test_an_answer_that_is_none_is_a_failed_call(body: bytes, failure: str) -> None:
    async def handle(_: web.Request, __: dict[str, Any]) -> Any:
        return web.Response(body=body, content_type="application/json")

    with through(handle) as (_, listener, base):
        assert raw(base, "/chat/completions", b'{"model": "gamma-1"}')[2] == body
        assert [call.failure for call in listener.close(1)] == [failure]


# Bytes and headers


def test_bytes_pass_as_they_are_in_both_directions() -> None:
    packed = gzip.compress(os.urandom(50_000))

    async def handle(request: web.Request, body: dict[str, Any]) -> Any:
        if body["want"] == "packed":
            return web.Response(body=packed, headers={"Content-Encoding": "gzip", "Content-Type": "application/json"})
        if body["want"] == "pieces":
            return await stream(request, [b"\xff\x00", b"\r\n\r\n", b"0\r\n", b"x" * 70_000])
        return web.Response(status=204 if body["want"] == "nothing" else 418, headers={"X-Own": "1"})

    with through(handle, key=None) as (server, listener, base):
        odd = json.dumps({"want": "packed", "text": "\u00e9 \ud83d"}).encode() + b"  \n"
        status, headers, data = raw(base, "/x", odd, **{"Accept-Encoding": "gzip", "X-Mine": "a"})
        assert (status, data, headers["Content-Encoding"]) == (200, packed, "gzip")
        assert server.seen[0][0]["X-Mine"] == "a"
        assert int(server.seen[0][0]["Content-Length"]) == len(odd)
        status, headers, data = raw(base, "/x", b'{"want": "pieces"}')
        assert data == b"\xff\x00\r\n\r\n0\r\n" + b"x" * 70_000
        assert headers["Transfer-Encoding"] == "chunked"
        assert raw(base, "/x", b'{"want": "nothing"}')[::2] == (204, b"")
        assert raw(base, "/x", b'{"want": "tea"}')[:2][0] == 418
        assert [call.request_bytes for call in listener.close(1)] == [len(odd), 18, 19, 15]


def test_the_key_goes_to_the_provider_and_nowhere_else_and_cookies_go_nowhere() -> None:
    async def handle(request: web.Request, _: dict[str, Any]) -> Any:
        echo = f"{request.headers['Authorization']} {request.headers.get('Cookie')} {request.headers.get('X-Api-Key')}"
        halves = [echo[:17].encode(), echo[17:].encode()]
        if request.path.endswith("cut"):
            return await stream(request, halves, 0.05)
        return web.Response(text=echo, headers={"Set-Cookie": "a=marked-cookie", "X-Echo": echo})

    with through(handle) as (_, listener, base):
        mine = {"Authorization": "Bearer mine", "Cookie": "c=marked-cookie", "X-Api-Key": "other"}
        for path in ("/whole", "/cut"):
            _, headers, data = raw(base, path, **mine)
            assert data == b"Bearer " + b"*" * len(KEY) + b" None None"
            assert not {"Set-Cookie", "X-Echo"} & headers.keys()
        told = "".join(call.model_dump_json() for call in listener.close(1))
    assert not [mark for mark in (KEY, "marked-cookie", "Bearer", "mine") if mark in told]


def test_a_key_in_the_query_is_replaced() -> None:
    async def handle(request: web.Request, _: dict[str, Any]) -> Any:
        return web.Response(text=request.query_string.replace(KEY, "real"))

    with through(handle, "google") as (_, listener, base):
        assert raw(base, "/x?alt=sse&key=dummy-1234567")[2] == b"alt=sse&key=real"
        (call,) = listener.close(1)
    assert "key" not in call.path
    assert "dummy-1234567" not in call.model_dump_json()


@pytest.mark.parametrize(
    "line",
    [
        "GET http://example.org/v1/x HTTP/1.1",
        "CONNECT example.org:443 HTTP/1.1",
        "GET /v1/../admin HTTP/1.1",
        "GET /v1/%2e%2e/admin HTTP/1.1",
        "GET /v1/%252e%252e/admin HTTP/1.1",
        "GET //example.org/v1/x HTTP/1.1",
        "GET /v1@example.org/ HTTP/1.1",
        "GET /other HTTP/1.1",
        "GET /v1x HTTP/1.1",
    ],
)  # fmt: skip
def test_nothing_else_can_be_reached(line: str) -> None:
    async def handle(_: web.Request, __: dict[str, Any]) -> Any:
        return web.Response(text="reached")

    with through(handle) as (server, listener, base):
        where = urlsplit(base)
        with socket.create_connection((where.hostname, where.port or 0)) as one:
            one.sendall(f"{line}\r\nHost: localhost\r\nConnection: close\r\n\r\n".encode())
            said = b"".join(iter(lambda: one.recv(65536), b""))
        assert said.split(b" ")[1] in (b"400", b"404"), said
        calls = listener.close(1)
        assert server.seen == []
    assert [call.ended for call in calls] in (["refused"], [])


# What goes wrong


def close_calls(handle: Any, path: str = "/chat/completions") -> Call:
    with through(handle) as (_, listener, base):
        try:
            _, headers, _ = raw(base, path)
        except (http.client.HTTPException, OSError):
            headers = {}
        else:
            assert headers["x-weighbridge-recorder"] == "upstream_reset", "an answer that looks whole"
        (call,) = listener.close(1)
    return call


def test_a_provider_that_breaks_off_is_noted_and_its_answer_does_not_look_whole() -> None:
    async def before(request: web.Request, _: dict[str, Any]) -> Any:
        assert request.transport is not None
        request.transport.abort()
        return web.Response()

    async def within(request: web.Request, _: dict[str, Any]) -> Any:
        made = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
        await made.prepare(request)
        await made.write(events("gamma-1")[0])
        await asyncio.sleep(0.05)
        assert request.transport is not None
        request.transport.abort()
        return made

    assert (close_calls(before).ended, close_calls(before).status) == ("upstream_reset", None)
    call = close_calls(within)
    assert (call.ended, call.status, call.served.model) == ("upstream_reset", 200, ["gamma-1"])
    assert call.failure is not None


def test_a_provider_that_cannot_be_reached_or_is_silent_is_noted(monkeypatch: pytest.MonkeyPatch) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    with Recorder("openai", f"http://127.0.0.1:{port}/v1", KEY) as recorder:
        listener = recorder.open("a")
        status, headers, body = raw(listener.listen(), "/x")
        assert (status, headers["x-weighbridge-recorder"]) == (502, "upstream_unreachable")
        assert json.loads(body)["error"]["type"] == "upstream_unreachable"
        (call,) = listener.close(1)
    assert (call.ended, call.status) == ("upstream_unreachable", None)
    monkeypatch.setattr(limits, "IDLE_S", 0.2)
    silent = socket.create_server(("127.0.0.1", 0))
    with silent, Recorder("openai", f"http://127.0.0.1:{silent.getsockname()[1]}/v1", KEY) as recorder:
        listener = recorder.open("a")
        assert raw(listener.listen(), "/x")[0] == 504
        assert [call.ended for call in listener.close(1)] == ["upstream_timeout"]


def test_an_agent_that_goes_away_is_noted_and_the_providers_answer_is_let_go() -> None:
    gone = threading.Event()

    async def handle(request: web.Request, body: dict[str, Any]) -> Any:
        try:
            return await stream(request, events(body["model"])[:3] * 200, 0.02)
        except (ConnectionError, asyncio.CancelledError):
            gone.set()
            raise

    with through(handle) as (_, listener, base):
        where = urlsplit(base)
        with socket.create_connection((where.hostname, where.port or 0)) as one:
            body = b'{"model": "gamma-1"}'
            one.sendall(b"POST /v1/chat/completions HTTP/1.1\r\nHost: x\r\nContent-Length: 20\r\n\r\n" + body)
            assert one.recv(65536)
        assert gone.wait(5), "the provider's connection is closed as soon as nobody reads"
        (call,) = listener.close(1)
    assert call.ended == "client_gone"


def test_a_trial_that_ends_cuts_its_calls_off_after_the_grace() -> None:
    async def handle(request: web.Request, body: dict[str, Any]) -> Any:
        return await stream(request, events(body["model"])[:3] * 500, 0.05)

    with through(handle) as (_, listener, base), ThreadPoolExecutor(1) as pool:
        asked = pool.submit(lambda: raw(base, "/chat/completions", b'{"model": "gamma-1"}'))
        time.sleep(0.3)
        clock = time.monotonic()
        (call,) = listener.close(0.2)
        assert time.monotonic() - clock < 3
        with pytest.raises((http.client.HTTPException, OSError)):
            asked.result(5)
    assert (call.ended, call.served.model) == ("client_gone", ["gamma-1"])


def test_bodies_and_headers_beyond_the_limits_are_refused_and_long_answers_pass_cut(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(limits, "MAX_REQUEST_BYTES", 1000)
    monkeypatch.setattr(limits, "MAX_KEPT_BYTES", 1000)

    async def handle(_: web.Request, __: dict[str, Any]) -> Any:
        return web.Response(body=b"x" * 100_000)

    with through(handle) as (server, listener, base):
        status, headers, _ = raw(base, "/x", b" " * 1001)
        assert (status, headers["x-weighbridge-recorder"]) == (413, "too_large")
        assert raw(base, "/x", **{"X-Long": "a" * 100_000})[0] == 400
        assert len(raw(base, "/x", b"{}")[2]) == 100_000
        calls = listener.close(1)
        assert len(server.seen) == 1
    assert [(call.ended, call.response_bytes) for call in calls] == [("refused", 0), ("complete", 100_000)]


def test_a_slow_reader_holds_the_provider_back() -> None:
    sent = [0]

    async def handle(request: web.Request, _: dict[str, Any]) -> Any:
        made = web.StreamResponse()
        await made.prepare(request)
        for _n in range(400):
            await made.write(b"x" * 100_000)
            sent[0] += 100_000
        return made

    with through(handle) as (_, listener, base):
        where = urlsplit(base)
        with socket.create_connection((where.hostname, where.port or 0)) as one:
            one.sendall(b"POST /v1/x HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\n{}")
            one.recv(10)
            time.sleep(1)
            held = sent[0]
        listener.close(0)
    assert held < 20_000_000, "of 40 MB no more went out than the sockets hold"


# Many at once


def test_sixty_four_streams_at_once_each_get_their_own_bytes() -> None:
    async def handle(request: web.Request, body: dict[str, Any]) -> Any:
        return await stream(request, [f"data: {body['n']} {n}\n\n".encode() for n in range(20)], 0.02)

    with through(handle) as (_, listener, base), ThreadPoolExecutor(64) as pool:
        said = list(pool.map(lambda n: raw(base, "/x", json.dumps({"n": n}).encode())[2], range(64)))
        assert said == [b"".join(f"data: {n} {k}\n\n".encode() for k in range(20)) for n in range(64)]
        assert len(listener.close(1)) == 64


def test_what_one_trial_asks_is_never_anothers() -> None:
    async def handle(_: web.Request, body: dict[str, Any]) -> Any:
        return chat(body["model"], "x")

    with scripted(handle) as server, Recorder("openai", server.url, KEY, secret=SECRET) as recorder:
        lines = [recorder.open(str(n)) for n in range(8)]
        bases = [line.listen() for line in lines]

        def use(n: int) -> None:
            for _ in range(5):
                raw(bases[n], "/chat/completions", json.dumps({"model": f"m-{n}"}).encode())

        with ThreadPoolExecutor(8) as pool:
            list(pool.map(use, range(8)))
        for n, line in enumerate(lines):
            calls = line.close(1)
            assert [call.requested.model for call in calls] == [[f"m-{n}"]] * 5
            with pytest.raises(OSError):
                raw(bases[n], "/chat/completions")


def test_nothing_is_left_when_it_ends() -> None:
    async def handle(_: web.Request, body: dict[str, Any]) -> Any:
        return chat(body["model"], "x")

    with scripted(handle) as server:
        threads, handles = threading.active_count(), len(os.listdir("/proc/self/fd"))
        for _ in range(3):
            with Recorder("openai", server.url, KEY) as recorder:
                for _n in range(4):
                    listener = recorder.open("a")
                    raw(listener.listen(), "/chat/completions", b'{"model": "m"}')
                    listener.close(0)
        time.sleep(0.2)
        assert threading.active_count() == threads
        assert len(os.listdir("/proc/self/fd")) <= handles + 2  # the scripted server's own, until it sees the end


@pytest.mark.parametrize(("provider", "listed"), [("vllm", "data"), ("ollama", "models")])
def test_a_server_without_a_name_is_known_by_its_version_and_models(provider: str, listed: str) -> None:
    state = {"version": "1", "created": 0}

    async def handle(request: web.Request, body: dict[str, Any]) -> Any:
        if "version" in request.path:
            return web.json_response({"version": state["version"]})
        if request.method == "GET":
            state["created"] += 1
            return web.json_response({listed: [{"id": "m", "name": "m", "created": state["created"]}]})
        return chat(body["model"], "x")

    def one(recorder: Recorder, changed: str = "") -> Call:
        listener = recorder.open("a")
        raw(listener.listen(), "/chat/completions", b'{"model": "m"}')
        state["version"] = changed or state["version"]
        (call,) = listener.close(1)
        return call

    with scripted(handle) as server, Recorder(provider, server.url, None, secret=SECRET) as recorder:
        first, second = one(recorder), one(recorder)
        assert first.server_id == second.server_id
        assert first.inconsistent == []
        third = one(recorder, "2")
        assert third.inconsistent == ["the server's version or models changed"]
        assert one(recorder).server_id != first.server_id


def test_a_trial_can_use_up_neither_descriptors_nor_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "MAX_CONNECTIONS", 8)
    monkeypatch.setattr(limits, "MAX_TRIAL_BYTES", 100_000)
    monkeypatch.setattr(limits, "MAX_CALLS", 5)

    async def handle(_: web.Request, __: dict[str, Any]) -> Any:
        return web.Response(body=b"x" * 80_000)

    with through(handle) as (_, listener, base):
        where = urlsplit(base)
        silent = [socket.create_connection((where.hostname, where.port or 0)) for _ in range(40)]
        ended = 0
        for one in silent:
            one.settimeout(0.3)
            try:
                ended += one.recv(1) == b""
            except TimeoutError:
                continue
            except ConnectionResetError:
                ended += 1
        assert ended == 32, "beyond eight each is closed at once"
        for one in silent:
            one.close()
        time.sleep(0.1)
        assert raw(base, "/x", b" " * 100_001)[0] == 413
        for _n in range(3):
            assert len(raw(base, "/x", b" " * 10_000 + b"{}")[2]) == 80_000
            time.sleep(0.1)  # until it is read, and its room given back
        assert raw(base, "/x")[0] == 200
        assert raw(base, "/x")[0] == 429
        calls = listener.close(1)
    assert len(calls) == 5
    assert [call.response_bytes for call in calls] == [0, *[80_000] * 4]
