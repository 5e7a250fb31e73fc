"""Providers and agents that misbehave byte by byte: what goes on, what doesn't, and what is noted of it."""

from __future__ import annotations

import asyncio
import gzip
import itertools
import json
import re
import socket
import ssl
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from urllib.parse import urlsplit

import pytest

pytest.importorskip("aiohttp", reason="the extra `proxy` isn't installed")

from stages.contract.errors import UsageError
from stages.contract.stamp import Call
from stages.session.recorder import Listener, Recorder, limits, recorder
from stages.session.recorder.record import Record, Room
from stages.session.recorder.redact import Redactor

KEY = "sk-marked-key-1234567890"
Answer = bytes | Callable[[socket.socket], None]


@contextmanager
def provider(answer: Answer) -> Iterator[tuple[str, list[bytes]]]:
    """(base URL, the requests) of a server that answers each request with these bytes, well-formed or not."""
    seen: list[bytes] = []
    listening = socket.create_server(("127.0.0.1", 0))

    def one(line: socket.socket) -> None:
        with line:
            line.settimeout(10)
            data = b""
            while not _whole(data):
                data += (more := line.recv(65536))
                if not more:
                    return
            seen.append(data)
            answer(line) if callable(answer) else line.sendall(answer)

    def run() -> None:
        while True:
            try:
                line, _ = listening.accept()
            except OSError:
                return
            threading.Thread(target=one, args=(line,), daemon=True).start()

    threading.Thread(target=run, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{listening.getsockname()[1]}/v1", seen
    finally:
        listening.shutdown(socket.SHUT_RDWR)  # closing alone would leave the thread in accept
        listening.close()


def _whole(data: bytes) -> bool:
    head, mark, body = data.partition(b"\r\n\r\n")
    size = re.search(rb"Content-Length: (\d+)", head)
    return bool(mark) and len(body) == int(size[1] if size else 0)


@contextmanager
def line(url: str, name: str = "openai", key: str | None = KEY) -> Iterator[tuple[Listener, tuple[str, int]]]:
    """(a listener, where it listens)."""
    with Recorder(name, url, key, secret=b"s" * 32) as made:
        listener = made.open("a")
        where = urlsplit(listener.listen())
        yield listener, (where.hostname or "", where.port or 0)


def send(where: tuple[str, int], data: bytes) -> bytes:
    """Everything that comes back, until the connection ends."""
    with socket.create_connection(where, 10) as one:
        one.sendall(data)
        return b"".join(iter(lambda: one.recv(65536), b""))


POST = b"POST /v1/x HTTP/1.1\r\nHost: a\r\nConnection: close\r\nContent-Length: 2\r\n\r\n{}"


def through(answer: Answer, asked: bytes = POST, **more: str | None) -> tuple[bytes, list[Call], list[bytes]]:
    """(what the agent got, the calls, what the provider got)."""
    with provider(answer) as (url, seen), line(url, **more) as (listener, where):  # type: ignore[arg-type]
        return send(where, asked), listener.close(1), seen


def answer(body: bytes, *headers: bytes, status: bytes = b"200 OK") -> bytes:
    lines = (b"Content-Type: application/json", b"Content-Length: %d" % len(body), *headers)
    return b"HTTP/1.1 " + status + b"\r\n" + b"".join(one + b"\r\n" for one in lines) + b"\r\n" + body


OK = answer(b"{}")


# The key


def test_a_key_that_a_provider_repeats_anywhere_reaches_neither_agent_nor_record() -> None:
    key = KEY.encode()
    body = b'{"model": "' + key + b'", "id": "x", "error": {"code": "' + key + b'"}}'
    headers = [name + b": " + key for name in (b"Server", b"Via", b"X-Request-Id", b"CF-Ray", b"X-" + key)]
    got, (call,), _ = through(answer(body, *headers, status=b"403 " + key))
    assert got.startswith(b"HTTP/1.1 403 " + b"*" * len(key))
    assert got.endswith(body.replace(key, b"*" * len(key)))
    assert key not in got
    assert KEY not in call.model_dump_json()
    assert (call.status, call.ended) == (403, "complete")


@pytest.mark.parametrize("asked", [b"Accept-Encoding: gzip", b"Range: bytes=0-9\r\nIf-Range: x", b"TE: trailers"])
def test_an_agent_cannot_have_the_key_packed_or_in_parts(asked: bytes) -> None:
    _, _, (seen,) = through(OK, POST.replace(b"Host: a", b"Host: a\r\n" + asked))
    assert b"\r\nAccept-Encoding: identity\r\n" in seen
    assert not [name for name in (b"gzip", b"Range", b"TE:") if name in seen]
    packed = answer(gzip.compress(KEY.encode()), b"Content-Encoding: gzip")
    got, (call,), _ = through(packed)
    assert b" 502 " in got.splitlines()[0]
    assert b"packed its answer ('gzip')" in got
    assert call.ended == "upstream_reset"
    assert through(packed, key=None)[0].endswith(gzip.compress(KEY.encode())[10:]), "without a key there's none to hide"


def test_the_redactor_passes_any_pieces_of_any_text_but_the_key() -> None:
    text = b"ssk-ab-sk-abcde-ssk-sk-abcdesk-abcd"
    for cuts in itertools.combinations(range(len(text)), 3):
        redactor = Redactor("sk-abcde")
        parts = [text[a:b] for a, b in itertools.pairwise((0, *cuts, len(text)))]
        assert b"".join([*map(redactor.feed, parts), redactor.rest()]) == text.replace(b"sk-abcde", b"*" * 8)


def test_a_word_that_a_local_server_calls_its_key_stays_in_answers() -> None:
    assert through(answer(b'{"x": "none"}'), key="none")[0].endswith(b'{"x": "none"}')


@pytest.mark.parametrize(
    ("name", "asked", "sent"),
    [
        ("google", b"/v1/x?alt=sse&key=dummy&%6bey=dummy", b"/v1/x?alt=sse&key=k%26%2F3456789&key=k%26%2F3456789"),
        ("openai", b"/v1/x?key=of-mine", b"/v1/x?key=of-mine"),
    ],
)
def test_a_key_goes_into_the_query_only_where_its_provider_takes_it_there(name: str, asked: bytes, sent: bytes) -> None:
    _, (call,), (seen,) = through(OK, POST.replace(b"/v1/x", asked), name=name, key="k&/3456789")
    assert seen.split()[1] == sent
    assert "key" not in call.path


@pytest.mark.parametrize("key", ["sk-a\nb", "", " sk-abcdefgh", "sk-é-abcdefgh", "sk-a\x00b"])
def test_a_key_that_no_header_holds_is_refused_without_being_told(key: str) -> None:
    with pytest.raises(UsageError) as told:
        Recorder("openai", None, key)
    assert "sk-" not in str(told.value)


@pytest.mark.parametrize(
    "url", ["ftp://a/v1", "https://u:marked@a/v1", "https://a/v1?key=marked", "https://a:x/", "a.b/v1", "http:///v1"]
)
def test_an_upstream_that_is_no_base_url_is_refused(url: str) -> None:
    with pytest.raises(UsageError, match="no base URL") as told:
        Recorder("generic", url, None)
    assert "marked" not in str(told.value)


# Providers


@pytest.mark.parametrize(
    "sent",
    [
        b"\x00\x01 garbage\r\n\r\n",
        b"HTTP/1.1 42 Odd\r\nContent-Length: 0\r\n\r\n",
        b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\nabc",
        b"HTTP/1.1 200 OK\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Length: 3\r\nContent-Length: 5\r\n\r\nhello",
        b"HTTP/1.1 200 OK\r\nContent-Length: -3\r\n\r\nhello",
        answer(b"{}", b"X: " + b"a" * 70_000),
        b"",
    ],
)
def test_an_answer_that_is_no_http_is_an_error_of_the_recorders(sent: bytes) -> None:
    got, (call,), _ = through(sent)
    assert b" 502 " in got.splitlines()[0]
    assert b"x-weighbridge-recorder: upstream_reset" in got
    assert json.loads(got.split(b"\r\n\r\n")[1])["error"]["code"] == "upstream_reset"
    assert (call.ended, call.failure, call.status) == ("upstream_reset", "upstream_reset", None)


def test_an_answer_shorter_than_it_says_ends_the_agents_connection_too() -> None:
    got, (call,), _ = through(b"HTTP/1.1 200 OK\r\nContent-Length: 30\r\n\r\nhello")
    assert b"Content-Length: 30" in got
    assert got.endswith(b"\r\n\r\nhello")
    assert (call.ended, call.response_bytes) == ("upstream_reset", 5)
    got, (call,), _ = through(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n")
    assert not got.endswith(b"0\r\n\r\n"), "no end of an answer that had none"
    assert call.ended == "upstream_reset"


@pytest.mark.parametrize(
    ("sent", "method", "got"),
    [
        (b"HTTP/1.1 200 OK\r\nContent-Length: 30\r\n\r\n", b"HEAD", b"Content-Length: 30"),
        (b"HTTP/1.1 304 Not Modified\r\nETag: a\r\n\r\n", b"GET", b"ETag: a"),
        (b"HTTP/1.1 103 Early Hints\r\nLink: a\r\n\r\n" + OK, b"GET", b"200 OK"),
        (answer(b"", b"Location: http://127.0.0.1:9/", status=b"307 There"), b"GET", b"Location: http://127.0.0.1:9/"),
        (answer(b"", "X-Name: é".encode()), b"GET", "X-Name: é".encode()),
        (b"HTTP/1.0 200 OK\r\n\r\nuntil the end", b"GET", b"until the end"),
    ],
)
def test_what_is_http_goes_on_as_it_came(sent: bytes, method: bytes, got: bytes) -> None:
    asked = method + b" /v1/x HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n"
    answered, (call,), seen = through(sent, asked)
    assert got in answered
    assert (call.ended, len(seen)) == ("complete", 1), "a redirect is the agent's to follow"
    assert b"aiohttp" not in seen[0]


def test_an_answer_that_comes_a_byte_at_a_time_takes_no_more_room_than_another(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "MAX_KEPT_BYTES", 100_000)
    record = Record(datetime.now(UTC), "POST", "http://a/", Room())
    for _ in range(5000):
        record.piece(b"x")
    assert record.cut
    assert len(record.pieces) < 1000
    assert limits.MAX_TRIAL_BYTES - record.room.left <= 100_000
    assert (record.size, record.exchange().response_bytes) == (5000, 5000)


def test_a_server_whose_certificate_nobody_vouches_for_gets_no_request(tmp_path: Path) -> None:
    words = ["-newkey", "rsa:2048", "-nodes", "-subj", "/CN=localhost", "-keyout", "key.pem", "-out", "cert.pem"]
    try:
        subprocess.run(["openssl", "req", "-x509", *words], cwd=tmp_path, check=True, capture_output=True)
    except OSError:
        pytest.skip("no openssl here")
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(tmp_path / "cert.pem", tmp_path / "key.pem")
    with socket.create_server(("127.0.0.1", 0)) as listening:

        def serve() -> None:
            one, _ = listening.accept()
            try:
                context.wrap_socket(one, server_side=True).recv(1)
            except OSError:
                one.close()

        threading.Thread(target=serve, daemon=True).start()
        with line(f"https://localhost:{listening.getsockname()[1]}/v1") as (listener, where):
            got = send(where, POST)
            (call,) = listener.close(1)
    assert b"ClientConnectorCertificateError" in got
    assert call.ended == "upstream_unreachable"


def test_proxies_of_the_environment_are_not_used(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    assert through(OK)[0].endswith(b"{}")


def test_headers_go_on_before_the_body_comes() -> None:
    waits = threading.Event()

    def slow(line: socket.socket) -> None:
        line.sendall(b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n")
        waits.wait(5)
        line.sendall(b"5\r\nhello\r\n0\r\n\r\n")

    with provider(slow) as (url, _), line(url) as (listener, where), socket.create_connection(where, 3) as one:
        one.sendall(POST)
        assert one.recv(65536).startswith(b"HTTP/1.1 200 OK")
        time.sleep(0.2)
        waits.set()
        assert b"hello" in b"".join(iter(lambda: one.recv(65536), b""))
        (call,) = listener.close(1)
    assert call.timing.headers_ms is not None
    assert call.timing.first_byte_ms is not None
    assert call.timing.first_byte_ms >= call.timing.headers_ms + 200


@pytest.mark.parametrize(
    ("models", "known"),
    [
        (b'{"data": [' + b",".join(b'{"id": "m-%d"}' % n for n in range(9000)) + b"]}", True),
        (b"[" * 200_000, False),
        (b'{"data": [{"id": "\\ud800"}]}', False),
        (b'{"data": [' + b" " * 5_000_000 + b"]}", False),
    ],
)
def test_a_list_of_models_is_read_whole_or_not_at_all(models: bytes, known: bool) -> None:
    with provider(answer(models)) as (url, _), line(url, "vllm") as (listener, where):
        send(where, POST)
        (call,) = listener.close(1)
    assert ("/" in (call.server_id or "")) == known


# Agents


@pytest.mark.parametrize(
    ("asked", "status"),
    [
        (b"HACK /v1/x HTTP/1.1\r\nHost: a\r\n\r\n", 400),
        (b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03", 400),
        (b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 400),
        (b"GET /v1/\xff HTTP/1.1\r\nHost: a\r\n\r\n", 400),
        (POST.replace(b"Content-Length: 2", b"Content-Length: 2\r\nTransfer-Encoding: chunked"), 400),
        (POST.replace(b"Content-Length: 2\r\n\r\n{}", b"Transfer-Encoding: chunked\r\n\r\nZZ\r\nmarked\r\n"), 400),
        (b"GET /v1/..;/admin HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n", 404),
        (b"GET /v1/x HTTP/1.1\r\nHost: a\r\nConnection: Upgrade, close\r\nUpgrade: websocket\r\n\r\n", 501),
        (b"OPTIONS * HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n", 404),
    ],
)
def test_a_request_that_cannot_go_on_is_refused_in_the_providers_form(asked: bytes, status: int) -> None:
    got, calls, seen = through(OK, asked)
    assert int(got.split()[1]) == status
    assert b"x-weighbridge-recorder: " in got
    assert set(json.loads(got.split(b"\r\n\r\n")[1])) == {"type", "error"}
    assert b"marked" not in got
    assert seen == []
    assert all(call.ended == "refused" for call in calls)


def test_an_agent_that_goes_away_within_its_request_is_not_the_providers_fault() -> None:
    with provider(OK) as (url, seen), line(url) as (listener, where):
        with socket.create_connection(where) as one:
            one.sendall(POST.replace(b"Content-Length: 2", b"Content-Length: 200"))
            time.sleep(0.1)
        time.sleep(0.1)
        (call,) = listener.close(1)
        assert seen == []
    assert (call.ended, call.status) == ("client_gone", None)


def test_a_request_that_stops_coming_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "BODY_S", 0.2)
    monkeypatch.setattr(limits, "HEAD_S", 0.4)
    with provider(OK) as (url, seen), line(url) as (listener, where):
        with socket.create_connection(where, 5) as one:
            one.sendall(POST.replace(b"Content-Length: 2", b"Content-Length: 200"))
            assert one.recv(65536).startswith(b"HTTP/1.1 408 ")
        with socket.create_connection(where, 5) as one:
            for _ in range(10):
                try:
                    one.sendall(b"X")
                except OSError:
                    break
                time.sleep(0.1)
            else:
                pytest.fail("a head that never ends holds a connection for ever")
        assert [call.ended for call in listener.close(1)] == ["refused"]
        assert seen == []


def test_bodies_come_chunked_empty_and_after_a_hundred_continue() -> None:
    chunked = b"Transfer-Encoding: chunked\r\n\r\n1\r\n{\r\n1\r\n}\r\n0\r\nX-Trailer: 1\r\n\r\n"
    got, (call,), (seen,) = through(OK, POST.replace(b"Content-Length: 2\r\n\r\n{}", chunked))
    assert got.endswith(b"{}")
    assert seen.endswith(b"Content-Length: 2\r\n\r\n{}")
    assert call.request_bytes == 2
    _, (call,), (seen,) = through(OK, POST.replace(b"Content-Length: 2\r\n\r\n{}", b"Content-Length: 0\r\n\r\n"))
    assert b"Content-Length: 0" in seen
    with provider(OK) as (url, _), line(url) as (listener, where), socket.create_connection(where, 5) as one:
        head, body = POST.split(b"\r\n\r\n")
        one.sendall(head + b"\r\nExpect: 100-continue\r\n\r\n")
        assert one.recv(65536) == b"HTTP/1.1 100 Continue\r\n\r\n"
        one.sendall(body)
        assert b"".join(iter(lambda: one.recv(65536), b"")).endswith(b"{}")
        listener.close(1)


def test_a_client_that_offers_another_http_is_answered_in_this_one() -> None:
    offer = b"Connection: Upgrade, HTTP2-Settings, close\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABkAAQAAP__"
    got, (call,), (seen,) = through(OK, POST.replace(b"Connection: close", offer))
    assert got.startswith(b"HTTP/1.1 200 OK")
    assert (call.ended, call.request_bytes) == ("complete", 2)
    assert not [name for name in (b"Upgrade", b"HTTP2-Settings") if name in seen]


def test_a_closed_line_leaves_no_task() -> None:
    silent = threading.Event()
    with provider(lambda _: bool(silent.wait(5)) or None) as (url, _), Recorder("openai", url, KEY) as made:
        for _n in range(5):
            listener = made.open("a")
            where = urlsplit(listener.listen())
            with socket.create_connection((where.hostname or "", where.port or 0)) as one:
                one.sendall(POST)
                time.sleep(0.02)
                (call,) = listener.close(0)
                assert call.ended == "client_gone"

        async def left() -> int:
            await asyncio.sleep(0.1)
            return len(asyncio.all_tasks()) - 1

        assert made.do(left()) == 0
        silent.set()


def test_a_socket_that_is_handed_over_too_late_is_closed() -> None:
    with provider(OK) as (url, _), line(url) as (listener, _):
        listener.close(0)
        late = socket.create_server(("127.0.0.1", 0))
        where = late.getsockname()
        listener.serve(late)
        with pytest.raises(OSError):
            send(where, POST)


def test_a_call_that_no_dialect_can_read_is_kept_and_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    real = recorder.read_call

    def stumbling(exchange: object, number: int, **more: object) -> Call:
        if exchange.request_body:  # type: ignore[attr-defined]
            raise RecursionError("marked prompt")
        return real(exchange, number, **more)  # type: ignore[arg-type]

    monkeypatch.setattr(recorder, "read_call", stumbling)
    got, (call,), _ = through(OK)
    assert got.endswith(b"{}")
    assert recorder.UNREAD in call.inconsistent
    assert (call.status, call.ended, call.served.model) == (200, "complete", None)


def test_reading_long_streams_does_not_hold_up_the_others() -> None:
    before = sys.getswitchinterval()
    with line("http://127.0.0.1:9/v1"):
        assert sys.getswitchinterval() <= 0.0005
    assert sys.getswitchinterval() == before
