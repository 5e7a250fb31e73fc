"""Each dialect's own spellings, and what no provider may do to a stamp."""

from __future__ import annotations

import base64
import gzip
import json
import struct
import tracemalloc
import zlib
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stages.contract.stamp import Call, Stamp
from stages.session.dialects import DIALECTS, read_call
from stages.session.dialects.headers import seconds
from stages.session.summary import stamp_of
from tests.session.exchanges import ANSWER, HI, NOW, exchange, sse

EVENT_STREAM = {"content-type": "text/event-stream"}


def call(*args: Any, provider: str | None = None, **more: Any) -> Call:
    return read_call(exchange(*args, **more), 1, provider=provider, secret=b"k")


def chunk(text: str | None, **more: Any) -> dict[str, Any]:
    return {"id": "chatcmpl-abcdefgh", "model": "m-1", "choices": [{"delta": {"content": text}, **more}]}


STREAM = sse(chunk(""), chunk("héllo €"), chunk(None, finish_reason="stop"), {"model": "m-1", "choices": [], "usage": {"prompt_tokens": 3, "completion_tokens": 2}})  # fmt: skip


@pytest.mark.parametrize(
    ("text", "unit", "wanted"),
    [
        ("1s", 1, 1),
        ("6m0s", 1, 360),
        ("120ms", 1, 0.12),
        ("1h2m3.5s", 1, 3723.5),
        ("7", 0.001, 0.007),
        ("33", 1, 33),
        ("2026-03-01T10:00:05Z", 1, 5),
        ("2026-03-01T09:00:00Z", 1, 0),
        ("Sun, 01 Mar 2026 10:01:00 GMT", 1, 60),
        ("1772359205", 1, 5),
        ("1772359205000", 0.001, 5),
        ("-1", 1, None),
        ("soon", 1, None),
        ("", 1, None),
        ("1s later", 1, None),
        ("9" * 400, 1, None),
        ("nan", 1, None),
    ],
)
def test_a_time_to_wait_is_seconds_however_it_is_written(text: str, unit: float, wanted: float | None) -> None:
    assert seconds(text, datetime(2026, 3, 1, 10, tzinfo=UTC), unit) == wanted


@pytest.mark.parametrize("cut", range(1, len(STREAM), 3))
def test_a_stream_may_be_split_anywhere(cut: int) -> None:
    pieces = [(10.0, STREAM[:cut]), (20.0, STREAM[cut:])]
    found = call(headers=EVENT_STREAM, pieces=pieces)
    assert (found.failure, found.usage.output_tokens, found.served.model) == (None, 2, ["m-1"])
    whole = STREAM.index(b"\n", STREAM.index("héllo".encode())) + 1
    assert found.timing.first_token_ms == (10.0 if cut >= whole else 20.0)


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_a_stream_may_end_its_lines_in_any_way_and_byte_by_byte(end: str) -> None:
    data = b"\xef\xbb\xbf: hello\n\n" + STREAM
    data = data.replace(b"\n", end.encode())
    found = call(headers=EVENT_STREAM, pieces=[(float(n), data[n : n + 1]) for n in range(len(data))])
    assert (found.failure, found.usage.output_tokens) == (None, 2)


def test_a_stream_that_stops_before_its_end_is_a_failed_call() -> None:
    assert call(headers=EVENT_STREAM, answer=sse(chunk("he"), done=False)).failure == "unfinished_stream"


@pytest.mark.parametrize(
    ("answer", "failure", "code"),
    [
        (b"", "empty_200", None),
        ({"error": {"code": "overloaded", "message": "no quota left"}}, "error_in_200", "overloaded"),
        ({"error": "out of quota, pay more"}, "error_in_200", None),
        ({**ANSWER, "usage": {"prompt_tokens": 3, "completion_tokens": 0}}, "zero_tokens", None),
        ({"id": "x", "model": "m-1", "choices": []}, "empty_200", None),
        (b"<html>log in</html>", "unreadable_200", None),
        (ANSWER, None, None),
    ],
)
def test_a_failure_may_hide_under_200(answer: Any, failure: str | None, code: str | None) -> None:
    found = call(answer=answer)
    assert (found.failure, found.error_code) == (failure, code)
    assert found.quota_state == (None if failure == "error_in_200" else "ok"), "words say nothing of quota"


@pytest.mark.parametrize(
    ("provider", "status", "error", "state"),
    [
        ("openai", 429, {"error": {"code": "rate_limit_exceeded"}}, "throttled"),
        ("openai", 429, {"error": {"code": "insufficient_quota", "type": "insufficient_quota"}}, "exhausted"),
        ("openai", 200, {"error": {"code": "insufficient_quota"}}, "exhausted"),
        ("openai", 500, {"error": {"message": "You exceeded your quota"}}, None),
        ("anthropic", 429, {"type": "error", "error": {"type": "rate_limit_error"}}, "throttled"),
        ("anthropic", 529, {"type": "error", "error": {"type": "overloaded_error"}}, None),
        ("anthropic", 400, {"type": "error", "error": {"type": "billing_error"}}, "exhausted"),
        ("deepseek", 402, {"error": {"message": "Insufficient Balance"}}, "exhausted"),
        ("zai", 429, {"error": {"code": "1113"}}, "exhausted"),
        ("bedrock", 400, {"__type": "com.amazon#ServiceQuotaExceededException"}, "exhausted"),
        (
            "google",
            429,
            {"error": {"code": 429, "status": "RESOURCE_EXHAUSTED", "details": [{"violations": [{"quotaId": "RequestsPerDayPerProject"}]}]}},
            "exhausted",
        ),
        ("google", 429, {"error": {"code": 429, "status": "RESOURCE_EXHAUSTED"}}, "throttled"),
        ("openai", 401, {"error": {"code": "invalid_api_key"}}, None),
    ],
)  # fmt: skip
def test_quota_is_told_by_status_and_codes(provider: str, status: int, error: Any, state: str | None) -> None:
    assert call(answer=error, status=status, provider=provider).quota_state == state


def test_negative_limits_are_unavailable() -> None:
    headers = {"x-ratelimit-limit-tokens": "-1", "x-ratelimit-remaining-tokens": "-1", "x-ratelimit-reset-tokens": "0"}
    found = call(provider="azure", headers=headers)
    assert (found.quota_state, found.quota.limits, found.quota.remaining) == (None, None, None)
    assert found.why["quota_state"] == "x-ratelimit-limit-tokens is negative"
    assert found.quota.token is not None


def test_nothing_left_is_within_budget_and_the_token_is_the_headers_own() -> None:
    left = {"x-ratelimit-remaining-requests": "0", "x-ratelimit-limit-requests": "10", "date": "x"}
    found = call(headers=left)
    assert found.quota_state == "within_budget"
    again = dict(reversed(left.items())) | {"date": "y", "x-request-id": "1"}
    assert call(headers=again).quota.token == found.quota.token
    assert call(headers={**left, "x-ratelimit-limit-requests": "11"}).quota.token != found.quota.token


def test_a_headers_own_processing_time_bounds_the_queue() -> None:
    found = call(provider="openai", headers={"openai-processing-ms": "15"})
    assert (found.queue_ms, found.queue_bound, found.timing.server_claimed_ms) == (5.0, "headers", 15.0)
    assert (call().queue_ms, call().queue_bound) == (25.0, "first_byte")
    more = call(provider="openai", headers={"openai-processing-ms": "900"})
    assert (more.queue_ms, more.queue_bound) == (25.0, "first_byte")
    assert more.inconsistent == ["the server claims 900 ms before its headers, which came after 20 ms"]


def test_a_streams_own_total_is_not_taken_from_the_time_to_its_headers() -> None:
    last = {"choices": [{"delta": {}, "finish_reason": "stop"}], "usage": {"completion_tokens": 1, "total_time": 0.018}}
    found = call(provider="groq", headers=EVENT_STREAM, answer=sse(chunk("a"), last))
    assert (found.timing.server_claimed_ms, found.queue_ms, found.queue_bound) == (18.0, 25.0, "first_byte")


@pytest.mark.parametrize(
    ("url", "request_", "empty"),
    [
        ("https://a/v1/chat/completions", HI, True),
        (
            "https://a/v1/chat/completions",
            {"messages": [*HI["messages"], {"role": "assistant", "content": "x"}]},
            False,
        ),
        ("https://a/v1/chat/completions", {"messages": "hi"}, None),
        ("https://a/v1/chat/completions", b"{", None),
        ("https://a/v1/responses", {"input": "hi"}, True),
        ("https://a/v1/responses", {"input": "hi", "previous_response_id": "resp_1"}, False),
        ("https://a/v1/responses", {"input": [{"role": "user"}, {"type": "function_call"}]}, False),
        ("https://a/v1/messages", HI, True),
        ("https://a/v1beta/models/g:generateContent", {"contents": [{"role": "model"}]}, False),
        ("https://a/v1beta/models/g:streamGenerateContent", {"contents": [{"role": "user"}]}, True),
        ("https://api.cohere.com/v1/chat", {"message": "hi", "chat_history": []}, True),
        ("https://api.cohere.com/v1/chat", {"message": "hi", "chat_history": [1]}, False),
        (
            "https://bedrock-runtime.eu-west-1.amazonaws.com/model/m/converse",
            {"messages": [{"role": "assistant"}]},
            False,
        ),
        ("http://localhost:11434/api/chat", HI, True),
        ("https://a/v1/models", HI, None),
    ],
)
def test_an_empty_conversation_is_seen_in_the_request(url: str, request_: Any, empty: bool | None) -> None:
    assert call(url, request_).conversation_empty is empty


def test_what_was_sent_is_kept_as_sent_or_hidden() -> None:
    asked = call(request={**HI, "temperature": 0.0, "seed": 2**62}).requested
    assert (asked.temperature, asked.seed, asked.model) == (["0"], [str(2**62)], ["m-1"])
    for bad in (float("nan"), float("inf"), True, [1], 10**400):
        assert call(request={**HI, "temperature": bad}).requested.temperature is None
    assert call(request={**HI, "temperature": None}).requested.temperature == ["hidden"]
    ollama = call("http://h:11434/api/chat", {**HI, "options": {"temperature": 0.2, "seed": 7}}).requested
    assert (ollama.temperature, ollama.seed) == (["0.2"], ["7"])


def test_ollama_streams_lines_and_tells_its_time_in_nanoseconds() -> None:
    lines = [{"model": "m", "message": {"content": "a"}, "done": False}, {"model": "m", "done": True, "eval_count": 4}]
    data = "\n".join(map(json.dumps, lines)).encode()
    pieces = [(5.0, data[:10]), (9.0, data[10:])]
    found = call("http://h:11434/api/chat", headers={"content-type": "application/x-ndjson"}, pieces=pieces)
    assert (found.dialect, found.failure, found.usage.output_tokens) == ("ollama", None, 4)
    assert found.timing.first_token_ms == 9.0
    whole = {**lines[0], "done": True, "eval_count": 4, "total_duration": 12_000_000}
    assert call("http://h:11434/api/chat", answer=whole).queue_ms == 8.0


def test_google_streams_one_list_whose_parts_have_their_own_times() -> None:
    parts = [
        {"candidates": [{"content": {"parts": [{"text": "ä"}]}}], "modelVersion": "g-1"},
        {"candidates": [{"finishReason": "STOP"}], "usageMetadata": {"promptTokenCount": 2, "candidatesTokenCount": 3}},
    ]
    data = json.dumps(parts, ensure_ascii=False).encode()
    cut = data.index(b'"finishReason"')
    url = "https://generativelanguage.googleapis.com/v1beta/models/g-1:streamGenerateContent?key=AIzaSecretSecret"
    found = call(url, {"contents": [{"role": "user"}]}, pieces=[(7.0, data[:cut]), (9.0, data[cut:])])
    assert (found.timing.first_token_ms, found.usage.output_tokens, found.served.model) == (7.0, 3, ["g-1"])
    assert "AIza" not in found.model_dump_json()


def frame(payload: bytes, **headers: str) -> bytes:
    head = b"".join(
        bytes([len(k) + 1]) + b":" + k.replace("_", "-").encode() + b"\x07" + struct.pack(">H", len(v)) + v.encode()
        for k, v in headers.items()
    )
    prelude = struct.pack(">II", 16 + len(head) + len(payload), len(head))
    body = prelude + struct.pack(">I", zlib.crc32(prelude)) + head + payload
    return body + struct.pack(">I", zlib.crc32(body))


BEDROCK = "https://bedrock-runtime.eu-west-1.amazonaws.com/model/anthropic.claude/"
AWS = {"content-type": "application/vnd.amazon.eventstream"}


def test_bedrocks_event_stream_is_read_and_a_broken_one_isnt() -> None:
    data = frame(b'{"delta":{"text":"a"}}', event_type="contentBlockDelta")
    data += frame(b'{"stopReason":"end_turn"}', event_type="messageStop")
    data += frame(b'{"usage":{"inputTokens":2,"outputTokens":3},"metrics":{"latencyMs":9}}', event_type="metadata")
    found = call(BEDROCK + "converse-stream", HI, pieces=[(3.0, data[:20]), (4.0, data[20:])], headers=AWS)
    assert (found.failure, found.usage.output_tokens, found.served.region) == (None, 3, ["eu-west-1"])
    assert (found.timing.first_token_ms, found.requested.model) == (4.0, ["anthropic.claude"])
    broken = bytearray(data)
    broken[30] ^= 1
    assert call(BEDROCK + "converse-stream", HI, bytes(broken), headers=AWS).failure == "unreadable_200"
    failed = frame(b'{"message":"slow"}', exception_type="throttlingException")
    found = call(BEDROCK + "converse-stream", HI, failed, headers=AWS)
    assert (found.failure, found.error_code, found.quota_state) == ("error_in_200", "throttlingException", "throttled")


def test_bedrock_wraps_the_events_of_others() -> None:
    inner = {"type": "message_stop", "amazon-bedrock-invocationMetrics": {"inputTokenCount": 5, "outputTokenCount": 6}}
    wrapped = json.dumps({"bytes": base64.b64encode(json.dumps(inner).encode()).decode()}).encode()
    url = BEDROCK + "invoke-with-response-stream"
    asked = {**HI, "anthropic_version": "bedrock-2023-05-31"}
    found = call(url, asked, frame(wrapped, event_type="chunk"), headers=AWS)
    assert (found.usage.input_tokens, found.usage.output_tokens) == (5, 6)


@pytest.mark.parametrize("encoding", ["gzip", "deflate", "raw"])
def test_a_body_that_is_still_compressed_is_unpacked(encoding: str) -> None:
    plain = json.dumps(ANSWER).encode()
    made = {"gzip": gzip.compress(plain), "deflate": zlib.compress(plain), "raw": zlib.compress(plain)[2:-4]}[encoding]
    headers = {"content-encoding": "deflate" if encoding == "raw" else encoding}
    found = call(pieces=[(1.0, made[:9]), (2.0, made[9:])], headers=headers)
    assert (found.failure, found.served.model, found.timing.first_token_ms) == (None, ["m-1"], 2.0)
    assert call(headers=headers).failure is None, "a recorder that undid it leaves the header"


def test_what_isnt_unpacked_has_a_reason() -> None:
    found = call(answer=b"\x8b\x02\x80", headers={"content-encoding": "br"})
    assert found.why["served.model"] == "the body is encoded with br, which isn't read here"
    bomb = gzip.compress(b" " * (80 * 1024 * 1024), 9)
    found = call(answer=bomb, headers={"content-encoding": "gzip"})
    assert "larger than 67,108,864 bytes" in found.why["usage.output_tokens"]


def test_no_credential_gets_into_a_field() -> None:
    key = "sk-real-key-123456"
    answer = {**ANSWER, "model": f"m {key}", "system_fingerprint": key, "error": {"code": key}}
    found = call(f"https://a/v1/{key}/chat/completions", {**HI, "model": key}, answer, headers={"server": key})
    assert key not in found.model_dump_json()


def test_marks_of_another_provider_contradict_only_a_host_that_passes_none_on() -> None:
    foreign = {**ANSWER, "id": "gen-1753242299-QZRAt5", "model": "moonshotai/kimi-k2"}
    assert len(call("https://api.openai.com/v1/chat/completions", answer=foreign).inconsistent) == 2
    assert call("https://gateway.example/v1/chat/completions", answer=foreign).inconsistent == []
    declared = call(answer=foreign, provider="openai").inconsistent
    assert declared == ["the body has marks of openrouter, the arm declares openai"]
    clash = {**ANSWER, "usage": {"prompt_tokens": 3, "completion_tokens": 0, "total_tokens": 1}}
    assert call(answer=clash).inconsistent == [
        "usage says no output tokens, the body has content",
        "usage says 1 tokens in all, and 3 + 0",
    ]
    assert call(request=b'{"model": "a", "model": "b"}').inconsistent == ["a key stands twice in the request"]


def test_a_servers_identity_holds_no_ids_and_follows_what_identifies() -> None:
    url = "https://api.openai.com/v1/chat/completions"
    one = call(url, headers={"server": "cloudflare", "cf-ray": "1-FRA", "x-request-id": "a", "set-cookie": "b"})
    two = call(url, headers={"server": "cloudflare", "cf-ray": "2-SJC", "x-request-id": "c"})
    assert one.server_id == two.server_id
    assert str(one.server_id).startswith("openai:api.openai.com:")
    assert call(url, headers={"server": "nginx"}).server_id != one.server_id
    assert call(url, answer={**ANSWER, "provider": "Novita"}).server_id != call(url).server_id


JSON: st.SearchStrategy[Any] = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.sampled_from([0, 10**12, 10**15, 1e308])
    | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(
            st.sampled_from(
                [
                    "model",
                    "id",
                    "type",
                    "error",
                    "code",
                    "usage",
                    "choices",
                    "delta",
                    "message",
                    "content",
                    "messages",
                    "role",
                    "input",
                    "output",
                    "candidates",
                    "parts",
                    "usageMetadata",
                    "promptTokenCount",
                    "prompt_tokens",
                    "completion_tokens",
                    "total_tokens",
                    "response",
                    "provider",
                    "system_fingerprint",
                    "service_tier",
                    "temperature",
                    "seed",
                    "x_groq",
                    "total_time",
                    "metrics",
                    "bytes",
                    "status",
                ]
            ),
            inner,
            max_size=5,
        )
    ),
    max_leaves=12,
)
BODIES = st.binary(max_size=80) | JSON.map(lambda v: json.dumps(v).encode()) | JSON.map(lambda v: sse(v))
NAMES = st.sampled_from(
    [
        "content-type",
        "content-encoding",
        "server",
        "via",
        "date",
        "retry-after",
        "retry-after-ms",
        "x-ratelimit-limit-requests",
        "server-timing",
        "x-ratelimit-reset-tokens",
        "anthropic-ratelimit-tokens-reset",
        "openai-processing-ms",
        "x-envoy-upstream-service-time",
        "x-stainless-retry-count",
        "authorization",
        "amz-sdk-request",
        "x-amzn-errortype",
        "x-ms-region",
        "cookie",
    ]
) | st.text(max_size=6)
VALUES = st.text(max_size=12) | st.sampled_from(
    [
        "text/event-stream",
        "application/x-ndjson",
        "application/vnd.amazon.eventstream",
        "gzip",
        "deflate",
        "br",
        "-1",
        "1e999",
        "nan",
        "6m0s",
        "9" * 30,
        "2026-13-45T99:99:99Z",
        "Mon, 99 Foo 99999 99:99:99 GMT",
        "attempt=9; max=1",
    ]
)
HEADERS = st.lists(st.tuples(NAMES, VALUES), max_size=6)
URLS = st.sampled_from(
    [
        *(f"https://{d.hosts[0].replace('*', 'x')}/v1/chat/completions" for d in DIALECTS.values() if d.hosts),
        "https://api.cohere.com/v2/chat",
        "https://a/v1/responses",
        "https://a/v1/messages",
        "https://a/models/g:streamGenerateContent",
        BEDROCK + "converse",
        BEDROCK + "invoke",
        "http://h:11434/api/generate",
        "https://api.replicate.com/v1/predictions",
        "https://[::1",
        "https://u:p@h:99999/\ud800",
        "",
    ]
) | st.text(max_size=20)
TIMES = st.none() | st.floats() | st.sampled_from([0.0, 1e12])


@settings(max_examples=300, deadline=None)
@given(
    URLS, BODIES, BODIES, HEADERS, HEADERS, st.none() | st.integers(-5, 1000), TIMES, TIMES,
    st.sampled_from(["complete", "client_gone", "refused"]), st.integers(0, 80), st.text(max_size=5),
    st.none() | st.sampled_from([*DIALECTS, "nobody"]), st.datetimes(timezones=st.just(UTC)),
)  # fmt: skip
def test_nothing_that_a_provider_or_an_agent_sends_raises(
    url: str,
    asked: bytes,
    answer: bytes,
    sent: list[tuple[str, str]],
    got: list[tuple[str, str]],
    status: int | None,
    headers_ms: float | None,
    total_ms: float | None,
    ended: Any,
    cut: int,
    method: str,
    provider: str | None,
    started: datetime,
) -> None:
    made = exchange(
        url,
        asked,
        pieces=[(headers_ms, answer[:cut]), (total_ms, answer[cut:])],
        request_headers=sent,
        status=status,
        headers_ms=headers_ms,
        first_byte_ms=total_ms,
        total_ms=total_ms,
        ended=ended,
        method=method or "POST",
        response_bytes=-1,
    )
    made = type(made)(**{**vars(made), "response_headers": got})
    found = read_call(made, 1, provider=provider, secret=b"k")
    assert Call.model_validate_json(found.model_dump_json()) == found
    both = [found, read_call(type(made)(**{**vars(made), "started_at": started}), 2, provider=provider, secret=b"k")]
    stamp = stamp_of("a", "control", 0, 1, both, started_at=NOW, evidence="recorded")
    assert Stamp.model_validate_json(stamp.model_dump_json()) == stamp


@pytest.mark.parametrize(
    "answer",
    [
        b"[" * 100_000,
        b'{"model":' * 50_000 + b"1" + b"}" * 50_000,
        b'{"model": "\\ud800", "usage": {"prompt_tokens": 1e999, "completion_tokens": NaN}}',
        b'{"usage": {"prompt_tokens": ' + b"9" * 5000 + b"}}",
        b'{"model": {"a": 1}, "choices": {"0": 1}, "usage": [], "id": 5}',
        b'{"choices": [null, 1, {"delta": []}]}',
        b"\xff\xfe\x00",
        b"data: {\n\ndata: [1]\n\n",
        b"data: " * 10_000,
    ],
)
def test_malformed_answers_are_null_with_their_reasons(answer: bytes) -> None:
    found = call(answer=answer)
    assert found.served.model is None
    assert found.usage.output_tokens is None
    assert found.failure is not None
    assert found.why["served.model"]


def test_bodies_that_would_fill_the_memory_are_not_built() -> None:
    many = b'{"model":"m-1","messages":[' + b"{}," * 2_100_000 + b"{}]}"
    tracemalloc.start()
    one = read_call(exchange(request=many), 1)
    two = read_call(exchange(answer=many), 1)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 60_000_000
    assert (one.requested.model, one.why["requested.model"]) == (
        None,
        "the request's body holds more than 2,000,000 values",
    )
    assert two.why["usage.output_tokens"] == "the body holds more than 2,000,000 values"


@pytest.mark.parametrize(
    ("answer", "headers"),
    [(b"{}" * 300_000, {}), (b"data: {}\n\n" * 300_000, {"content-type": "text/event-stream"})],
)
def test_a_stream_of_nothing_is_not_read_without_end(answer: bytes, headers: dict[str, str]) -> None:
    made = read_call(exchange(answer=answer, headers=headers), 1)
    assert made.why["usage.output_tokens"] == "more than 100,000 objects in the stream"


def test_headers_that_stand_twice_and_disagree_say_nothing() -> None:
    made = exchange()
    twice = [("x-ratelimit-limit-requests", "5"), ("X-RateLimit-Limit-Requests", "6"), ("retry-after", "1")]
    found = read_call(type(made)(**{**vars(made), "response_headers": [*twice, ("Retry-After", "2")]}), 1)
    assert found.quota.limits is None
    assert found.why["quota.limits"] == "x-ratelimit-limit-requests says two different things"
    assert found.retry.retry_after_s is None
    assert found.why["body_hmac"] == "no key to hash it by"


def test_bodies_are_hashed_under_the_runs_key_only() -> None:
    one, two = (read_call(exchange(), 1, secret=key).body_hmac for key in (b"a", b"b"))
    assert one != two
    assert NOW.tzinfo is not None
