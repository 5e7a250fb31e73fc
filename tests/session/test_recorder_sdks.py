"""The providers' own SDKs through the recorder, when things go wrong: what they do of it, and what is noted."""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

import pytest

pytest.importorskip("aiohttp", reason="the extra `proxy` isn't installed")
from aiohttp import web

from stages.session import stamp_of
from stages.session.recorder import Listener, Recorder
from tests.support.provider import Provider, chat, error, scripted

openai = pytest.importorskip("openai")
anthropic = pytest.importorskip("anthropic")

KEY, PROMPT, COOKIE = "sk-marked-key-1234567890", "a marked prompt", "marked-cookie"
MESSAGES = [{"role": "user", "content": PROMPT}]


@contextmanager
def through(handle: Any, name: str = "openai") -> Iterator[tuple[Provider, Listener, str]]:
    """(provider, listener, the base URL that an SDK is given)."""
    with scripted(handle) as server:
        url = server.url.removesuffix("/v1") if name == "anthropic" else server.url
        with Recorder(name, url, KEY, secret=b"s" * 32) as recorder:
            listener = recorder.open("a")
            yield server, listener, listener.listen()


def claude(base: str, **more: Any) -> Any:
    return anthropic.Anthropic(base_url=base, api_key="dummy", **more)


def gpt(base: str, **more: Any) -> Any:
    return openai.OpenAI(base_url=base, api_key="dummy", **more)


async def server_sent(request: web.Request, *events: dict[str, Any], pause: float = 0.0) -> web.StreamResponse:
    made = web.StreamResponse(headers={"Content-Type": "text/event-stream", "Set-Cookie": f"a={COOKIE}"})
    await made.prepare(request)
    for event in events:
        await asyncio.sleep(pause)
        await made.write(f"event: {event['type']}\ndata: {json.dumps(event)}\n\n".encode())
    return made


def test_an_overload_is_tried_again_by_anthropics_sdk_and_counted_once() -> None:
    turns: list[int] = []

    async def handle(_: web.Request, body: dict[str, Any]) -> Any:
        turns.append(1)
        if len(turns) == 1:
            fault = {"type": "error", "error": {"type": "overloaded_error", "message": "no"}}
            return web.json_response(fault, status=529, headers={"retry-after": "0"})
        usage = {"input_tokens": 4, "output_tokens": 2}
        said = {"id": "msg_01", "type": "message", "role": "assistant", "model": body["model"], "usage": usage}
        said |= {"content": [{"type": "text", "text": "yes"}], "stop_reason": "end_turn", "stop_sequence": None}
        return web.json_response(said)

    with through(handle, "anthropic") as (server, listener, base):
        said = claude(base).messages.create(model="claude-x", max_tokens=9, messages=MESSAGES)
        assert said.content[0].text == "yes"
        calls = listener.close(1)
    assert [(c.status, c.error_code, c.retry.sdk_count, c.retry.repeated_body_count) for c in calls] == [
        (529, "overloaded_error", 0, 0),
        (200, None, 1, 1),
    ]
    assert [headers["x-stainless-retry-count"] for headers, _ in server.seen] == ["0", "1"]
    stamp = stamp_of("i", "control", 0, 1, calls, started_at=calls[0].started_at, evidence="recorded")
    assert (stamp.retries, stamp.status and stamp.status.failed) == (1, 1)


def test_a_slow_first_byte_is_told_from_slow_headers() -> None:
    async def slow_body(request: web.Request, _: dict[str, Any]) -> Any:
        made = web.StreamResponse(headers={"Content-Type": "application/json"})
        await made.prepare(request)
        assert request.transport is not None
        await asyncio.sleep(0.4)
        await made.write(chat("gamma-1", "yes").body)
        return made

    async def slow_headers(_: web.Request, __: dict[str, Any]) -> Any:
        await asyncio.sleep(0.4)
        return chat("gamma-1", "yes")

    found = {}
    for handle in (slow_body, slow_headers):
        with through(handle) as (_, listener, base):
            assert gpt(base).chat.completions.create(model="gamma-1", messages=MESSAGES).choices
            (found[handle.__name__],) = listener.close(1)
    body, headers = found["slow_body"].timing, found["slow_headers"].timing
    assert headers.headers_ms >= 400
    assert body.headers_ms < 350 < body.first_byte_ms
    assert found["slow_headers"].queue_ms >= 390


@pytest.mark.parametrize(
    ("body", "failure"),
    [("", "empty_200"), ('{"error": {"code": "x", "message": "no"}}', "error_in_200"), ("<html>", "unreadable_200")],
)
def test_an_sdk_that_takes_an_error_for_an_answer_does_not_make_it_one(body: str, failure: str) -> None:
    async def handle(_: web.Request, __: dict[str, Any]) -> Any:
        return web.Response(text=body, content_type="application/json")

    with through(handle) as (_, listener, base):
        with suppress(openai.OpenAIError, json.JSONDecodeError):
            gpt(base, max_retries=0).chat.completions.create(model="gamma-1", messages=MESSAGES)
        (call,) = listener.close(1)
    assert (call.status, call.failure) == (200, failure)


def test_a_stream_of_responses_is_timed_and_one_that_an_agent_leaves_is_noted() -> None:
    said = {"id": "resp_1", "object": "response", "created_at": 1, "model": "gamma-1", "output": [], "tools": []}
    said |= {"parallel_tool_calls": True, "tool_choice": "auto", "status": "in_progress"}
    usage = {"input_tokens": 5, "output_tokens": 2, "total_tokens": 7}
    usage |= {"input_tokens_details": {"cached_tokens": 0}, "output_tokens_details": {"reasoning_tokens": 0}}
    delta = {"type": "response.output_text.delta", "item_id": "m", "output_index": 0, "content_index": 0, "delta": "a"}
    events = [
        {"type": "response.created", "sequence_number": 0, "response": said},
        *({**delta, "sequence_number": n, "logprobs": []} for n in range(1, 4)),
        {
            "type": "response.completed",
            "sequence_number": 9,
            "response": {**said, "status": "completed", "usage": usage},
        },
    ]

    async def handle(request: web.Request, _: dict[str, Any]) -> Any:
        return await server_sent(request, *events, pause=0.05)

    async def leaves(base: str) -> None:
        async with openai.AsyncOpenAI(base_url=base, api_key="dummy") as client:
            stream = await client.responses.create(model="gamma-1", input=PROMPT, stream=True)
            async for _ in stream:
                break
            await stream.close()

    with through(handle) as (_, listener, base):
        types = [event.type for event in gpt(base).responses.create(model="gamma-1", input=PROMPT, stream=True)]
        assert types == [event["type"] for event in events]
        asyncio.run(leaves(base))
        whole, left = listener.close(1)
    assert (whole.ended, whole.failure, whole.usage.output_tokens) == ("complete", None, 2)
    assert whole.timing.headers_ms < whole.timing.first_token_ms < whole.timing.total_ms  # type: ignore[operator]
    assert left.ended == "client_gone"


def test_key_prompt_and_cookie_are_in_nothing_that_is_given_back_or_said(
    caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]
) -> None:
    turns: list[int] = []
    faults: list[str] = []

    async def handle(request: web.Request, body: dict[str, Any]) -> Any:
        turns.append(1)
        assert request.transport is not None
        if len(turns) == 1:
            return await server_sent(request, {"type": "error", "prompt": PROMPT, "key": KEY})
        if len(turns) == 2:
            request.transport.abort()
        if len(turns) == 3:
            return error(401, "invalid_api_key", **{"x-request-id": f"{KEY} {COOKIE}", "Set-Cookie": f"a={COOKIE}"})
        return chat(body["model"], PROMPT, headers={"server": KEY, "via": KEY})

    with caplog.at_level(logging.DEBUG), through(handle) as (server, listener, base):
        caplog.clear()
        for turn in range(4):
            client = gpt(base, max_retries=0, default_headers={"Cookie": f"a={COOKIE}"})
            try:
                made = client.chat.completions.create(model="gamma-1", messages=MESSAGES, stream=turn == 0)
                list(made) if turn == 0 else None
            except openai.OpenAIError as fault:
                faults.append(f"{fault} {getattr(fault, 'response', None) and fault.response.headers}")
        assert [headers["Authorization"] for headers, _ in server.seen] == [f"Bearer {KEY}"] * 4
        assert not any("Cookie" in headers for headers, _ in server.seen)
        calls = listener.close(1)
    stamp = stamp_of("i", "control", 0, 1, calls, started_at=calls[0].started_at, evidence="recorded")
    lines = [
        record.getMessage() for record in caplog.records if record.name.split(".")[0] in ("weighbridge", "asyncio")
    ]
    assert len(faults) == 2
    assert KEY not in "".join(faults)
    told = "".join([stamp.model_dump_json(), *(call.model_dump_json() for call in calls), *capfd.readouterr(), *lines])
    assert len(calls) == 4
    assert not [mark for mark in (KEY, PROMPT, COOKIE, "dummy") if mark in told]
