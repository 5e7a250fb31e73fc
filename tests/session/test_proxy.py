"""`weighbridge proxy`: trials of another harness by their paths, a stamp for each, nothing lost at its end."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.support.provider import chat, error, scripted

pytest.importorskip("aiohttp", reason="the extra `proxy` isn't installed")

KEY = "sk-marked-key-1234567890"
HI = b'{"model": "gamma-1", "messages": [{"role": "user", "content": "hi"}]}'


async def answers(_: Any, body: dict[str, Any]) -> Any:
    return error(429, "rate_limit_exceeded") if body["model"] == "tired" else chat(body["model"], "yes")


@contextmanager
def standing(folder: Path, url: str, *more: str) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """(the proxy, its origin)."""
    words = ["--provider", "openai", "--upstream", url, "--key-env", "A_KEY", "--port", "0", *more]
    argv = [sys.executable, "-m", "stages", "proxy", *words, "--out", str(folder / "stamps.jsonl")]
    argv += ["--calls", str(folder / "calls.jsonl")]
    env = {**os.environ, "A_KEY": KEY}
    with subprocess.Popen(argv, env=env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as made:
        assert made.stdout
        said = made.stdout.readline()
        assert "recording" in said, said + made.stdout.read()
        try:
            yield made, said.split(" on ")[1].split("/t/")[0]
        finally:
            made.kill()


def ask(
    origin: str, trial: str, model: str = "gamma-1", method: str = "POST", path: str = "/v1/chat/completions"
) -> int:
    body = json.dumps({"model": model, "messages": [{"role": "user", "content": "a marked prompt"}]}).encode()
    asked = urllib.request.Request(f"{origin}/t/{trial}{path}", body, method=method)
    try:
        with urllib.request.urlopen(asked, timeout=20) as answer:
            answer.read()
            return int(answer.status)
    except urllib.error.HTTPError as fault:
        return fault.code


def stamps(folder: Path) -> dict[str, dict[str, Any]]:
    made = [json.loads(line) for line in (folder / "stamps.jsonl").read_text().splitlines()]
    return {f"{one['item_id']}/{one['arm']}/{one['repeat']}/{one['attempt']}": one for one in made}


@pytest.mark.parametrize("end", [signal.SIGINT, signal.SIGTERM])
def test_each_attempt_gets_its_stamp_and_none_is_lost_at_the_end(end: signal.Signals, tmp_path: Path) -> None:
    with scripted(answers) as server, standing(tmp_path, server.url) as (proxy, origin):
        assert [ask(origin, "a-1/candidate/0"), ask(origin, "a-1/candidate/0")] == [200, 200]
        assert ask(origin, "a-1/control/0/2", "tired") == 429
        assert ask(origin, "a-1/candidate/0", method="DELETE", path="") == 204
        assert stamps(tmp_path).keys() == {"a-1/candidate/0/1"}
        assert ask(origin, "a-1/candidate/0") == 409, "an attempt that has its stamp goes on under no name of its own"
        proxy.send_signal(end)
        assert proxy.stdout
        said = proxy.stdout.read()
        assert proxy.wait(20) == 0, said
    assert "2 attempts ended, 3 calls, 1 of which failed" in said
    found = stamps(tmp_path)
    assert found.keys() == {"a-1/candidate/0/1", "a-1/control/0/2"}
    assert [found["a-1/candidate/0/1"][name] for name in ("evidence", "retries", "quota_state")] == [
        "exported",
        1 - 1,
        "ok",
    ]
    assert found["a-1/candidate/0/1"]["status"]["calls"] == 2
    assert found["a-1/control/0/2"]["quota_state"] == "throttled"
    calls = [json.loads(line) for line in (tmp_path / "calls.jsonl").read_text().splitlines()]
    assert [(c["arm"], c["call"]["status"]) for c in calls] == [
        ("candidate", 200),
        ("candidate", 200),
        ("control", 429),
    ]
    everything = said + "".join(path.read_text() for path in tmp_path.iterdir())
    assert not [mark for mark in (KEY, "marked prompt") if mark in everything]
    argv = [sys.executable, "-m", "stages", "stamps", "check", str(tmp_path / "stamps.jsonl")]
    done = subprocess.run(argv, capture_output=True, text=True, check=False)
    assert done.returncode in (0, 1), done.stderr


def test_a_silent_attempt_is_over(tmp_path: Path) -> None:
    with scripted(answers) as server, standing(tmp_path, server.url, "--idle", "1") as (proxy, origin):
        assert ask(origin, "a-1/candidate/0") == 200
        for _ in range(100):
            if (tmp_path / "stamps.jsonl").read_text():
                break
            subprocess.run(["sleep", "0.1"], check=True)
        assert stamps(tmp_path).keys() == {"a-1/candidate/0/1"}
        proxy.send_signal(signal.SIGTERM)
        assert proxy.wait(20) == 0


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--provider", "nobody"], "found 'nobody'"),
        (["--provider", "openai", "--key-env", "NO_SUCH_KEY"], "NO_SUCH_KEY: not set"),
        (["--provider", "vllm"], "no upstream for vllm"),
        (["--provider", "openai", "--host", "0.0.0.0"], "0.0.0.0 is not the loopback"),
        (
            ["--provider", "ollama", "--upstream", "http://127.0.0.1:9", "--host", "300.1.1.1", "--expose"],
            "--host: 300.1.1.1 is no address",
        ),
        (["--provider", "ollama", "--upstream", "http://127.0.0.1:9", "--calls", "x"], "--calls: x is --out, too"),
        (
            ["--provider", "ollama", "--upstream", "http://127.0.0.1:9", "--out", "/nowhere/x"],
            "/nowhere/x: No such file",
        ),
    ],
)
def test_what_cannot_be_started_is_refused_in_one_line(words: list[str], said: str, tmp_path: Path) -> None:
    argv = [sys.executable, "-m", "stages", "proxy", "--out", str(tmp_path / "x"), *words]
    done = subprocess.run(argv, capture_output=True, text=True, check=False, timeout=30, cwd=tmp_path)
    assert (done.returncode, done.stderr.count("\n")) == (2, 1), done.stderr
    assert said in done.stderr


# What ends, and what can't


def within(url: str, grace_s: float) -> Any:
    """A recorder, what stands on it, the stamps that it gives, and where it listens, in this process."""
    import socket
    from contextlib import ExitStack

    from stages.session.recorder import Recorder, Standing

    stack, made = ExitStack(), []
    recorder = stack.enter_context(Recorder("openai", url, KEY))
    standing = Standing(recorder, 600, grace_s, lambda _, __, stamp: made.append(stamp))
    listening = socket.create_server(("127.0.0.1", 0))
    standing.serve(listening)
    return stack, standing, made, f"http://127.0.0.1:{listening.getsockname()[1]}"


async def slowly(_: Any, body: dict[str, Any]) -> Any:
    await asyncio.sleep(float(body["model"]))
    return chat(body["model"], "yes")


@pytest.mark.parametrize(("model", "ended"), [("0.4", "complete"), ("20", "client_gone")])
@pytest.mark.parametrize("how", ["delete", "close"])
def test_a_call_under_way_when_its_attempt_ends_is_in_its_stamp(model: str, ended: str, how: str) -> None:
    with scripted(slowly) as server:
        stack, standing, made, origin = within(server.url, 1.0 if ended == "complete" else 0.1)
        with stack, ThreadPoolExecutor(1) as pool:
            asked = pool.submit(ask, origin, "a-1/candidate/0", model)
            time.sleep(0.2)
            if how == "delete":
                assert ask(origin, "a-1/candidate/0", method="DELETE", path="") == 204
                assert [stamp.status.calls for stamp in made] == [1]
            standing.close()
            if ended == "complete":
                assert asked.result(5) == 200
            else:
                with pytest.raises(OSError):
                    asked.result(5)
    (stamp,) = made
    assert stamp.status.last_failure == (None if ended == "complete" else ended)
    assert standing.failed is None


def test_a_line_that_was_never_finished_takes_no_stamp_with_it(tmp_path: Path) -> None:
    (tmp_path / "stamps.jsonl").write_bytes(b'{"item_id": "a-')
    with scripted(answers) as server, standing(tmp_path, server.url) as (proxy, origin):
        assert ask(origin, "a-1/candidate/0") == 200
        proxy.send_signal(signal.SIGTERM)
        assert proxy.wait(20) == 0
    torn, stamp = (tmp_path / "stamps.jsonl").read_bytes().splitlines()
    assert torn == b'{"item_id": "a-'
    assert json.loads(stamp)["item_id"] == "a-1"


def test_a_path_that_names_no_trial_is_refused() -> None:
    with scripted(answers) as server:
        stack, standing, made, origin = within(server.url, 1.0)
        with stack:
            for trial in ("a-1/other/0", "a-1/candidate/x", "../candidate/0", "a%2F1/candidate/0", "a-1/candidate/00"):
                assert ask(origin, trial) == 404, trial
            standing.close()
        assert (server.seen, made) == ([], [])


def test_no_page_in_a_browser_spends_the_key() -> None:
    with scripted(answers) as server:
        stack, standing, _, origin = within(server.url, 1.0)
        with stack:
            for name, value in (
                ("Origin", "https://example.org"),
                ("Sec-Fetch-Site", "cross-site"),
                ("Host", "rebound.example.org"),
                ("Host", "Rebound.Example.ORG.:8787"),
            ):
                asked = urllib.request.Request(f"{origin}/t/a-1/candidate/0/v1/chat/completions", b"{}", {name: value})
                with pytest.raises(urllib.error.HTTPError) as refused:
                    urllib.request.urlopen(asked, timeout=10)
                assert refused.value.code == 403
            assert not server.seen
            for host in ("localhost:8787", "[::1]:1", "127.0.0.1", "host.docker.internal:80", "recorder"):
                asked = urllib.request.Request(f"{origin}/t/a-1/candidate/0/v1/chat/completions", HI, {"Host": host})
                with urllib.request.urlopen(asked, timeout=10) as answer:
                    assert answer.status == 200
            standing.close()


def test_no_page_in_a_browser_spends_the_key_on_the_port_of_a_trial() -> None:
    from stages.session.recorder import Recorder

    with scripted(answers) as server, Recorder("openai", server.url, KEY) as recorder:
        listener = recorder.open("a")
        base = listener.listen()
        for name, value in (("Origin", "https://example.org"), ("Host", "rebound.example.org")):
            asked = urllib.request.Request(f"{base}/chat/completions", HI, {name: value})
            with pytest.raises(urllib.error.HTTPError) as refused:
                urllib.request.urlopen(asked, timeout=10)
            assert refused.value.code == 403
        assert listener.close(0) == []
        assert not server.seen


def test_made_up_attempts_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    from stages.session.recorder import limits

    monkeypatch.setattr(limits, "MAX_TRIALS", 3)
    with scripted(answers) as server:
        stack, standing, made, origin = within(server.url, 1.0)
        with stack:
            assert [ask(origin, f"a-{n}/candidate/0") for n in range(5)] == [200, 200, 200, 503, 503]
            assert ask(origin, "a-0/candidate/0", method="DELETE", path="") == 204
            assert ask(origin, "a-4/candidate/0") == 200
            standing.close()
    assert len(made) == 4


def test_a_stamp_that_cannot_be_written_ends_it_in_one_line() -> None:
    if not Path("/dev/full").exists():
        pytest.skip("no /dev/full here")
    with scripted(answers) as server:
        words = ["--provider", "openai", "--upstream", server.url, "--key-env", "A_KEY", "--port", "0"]
        argv = [sys.executable, "-m", "stages", "proxy", *words, "--out", "/dev/full"]
        env = {**os.environ, "A_KEY": KEY}
        with subprocess.Popen(argv, env=env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as made:
            assert made.stdout
            origin = made.stdout.readline().split(" on ")[1].split("/t/")[0]
            assert ask(origin, "a-1/candidate/0") == 200
            assert ask(origin, "a-1/candidate/0", method="DELETE", path="") == 500
            said = made.stdout.read()
            assert made.wait(20) == 2
    assert said.splitlines() == ["weighbridge: /dev/full: No space left on device; expected room for a line; free some"]


def test_a_terminal_gets_a_table_of_what_is_under_way(tmp_path: Path) -> None:
    import pty

    ours, theirs = pty.openpty()
    with scripted(answers) as server:
        words = ["--provider", "openai", "--upstream", server.url, "--key-env", "A_KEY", "--port", "0"]
        argv = [sys.executable, "-m", "stages", "proxy", *words, "--out", str(tmp_path / "stamps.jsonl")]
        env = {**os.environ, "A_KEY": KEY, "TERM": "xterm", "COLUMNS": "120"}
        with subprocess.Popen(argv, env=env, stdout=theirs, stderr=theirs) as made:
            os.close(theirs)
            said = b""
            while b"/t/" not in said:
                said += os.read(ours, 65536)
            origin = said.decode().split(" on ")[1].split("/t/")[0]
            assert ask(origin, "an-item/candidate/7") == 200
            until = time.monotonic() + 20
            while b"an-item" not in said and time.monotonic() < until:
                said += os.read(ours, 65536)
            made.send_signal(signal.SIGINT)
            try:
                while more := os.read(ours, 65536):
                    said += more
            except OSError:  # its end is closed
                pass
            assert made.wait(20) == 0
    os.close(ours)
    assert b"under way" in said
    assert b"1 attempts ended, 1 calls, 0 of which failed" in said
    assert stamps(tmp_path).keys() == {"an-item/candidate/7/1"}
