"""HAR files and cassettes become calls by the same dialects; what is no such file is refused in one line."""

from __future__ import annotations

import base64
import gzip
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from stages.contract.errors import InputError
from stages.session.cassette import read_cassette
from stages.session.traffic import calls_of, exported_stamp, read_har
from tests.session.exchanges import ANSWER, HI

KEY = "sk-marked-secret-123456"
CASSETTE = """\
interactions:
- request:
    body: '{"model": "m-1", "messages": [{"role": "user", "content": "marked prompt"}]}'
    headers:
      authorization: [Bearer sk-marked-secret-123456]
      cookie: [session=marked-cookie]
    method: POST
    uri: https://api.example.com/v1/chat/completions?key=sk-marked-secret-123456
  response:
    body:
      string: !!binary |
        GZIPPED
    headers:
      Content-Encoding: [gzip]
      Date: ['Sun, 01 Mar 2026 10:00:00 GMT']
      set-cookie: [marked-cookie]
    status: {code: 200, message: OK}
- request:
    headers: {}
    method: post
    parsed_body: {model: m-1, temperature: 0.5, seed: 3, messages: [{role: user, content: marked prompt}]}
    uri: https://api.example.com/v1/chat/completions
  response:
    headers: {date: 'Sun, 01 Mar 2026 10:00:01 GMT'}
    parsed_body: {model: m-1, choices: [{message: {content: marked answer}, finish_reason: stop}]}
    status: {code: 200}
version: 1
""".replace("GZIPPED", base64.b64encode(gzip.compress(json.dumps(ANSWER).encode())).decode())


def har(**changes: Any) -> dict[str, Any]:
    entry = {
        "startedDateTime": "2026-03-01T10:00:00.000Z",
        "time": 600.0,
        "request": {
            "method": "POST",
            "url": f"https://api.example.com/v1/chat/completions?key={KEY}",
            "headers": [
                {"name": "Authorization", "value": f"Bearer {KEY}"},
                {"name": "Cookie", "value": "session=marked-cookie"},
            ],
            "postData": {"mimeType": "application/json", "text": json.dumps(HI)},
        },
        "response": {
            "status": 200,
            "headers": [{"name": "Content-Type", "value": "application/json"}],
            "content": {
                "size": 9,
                "encoding": "base64",
                "text": base64.b64encode(json.dumps(ANSWER).encode()).decode(),
            },
        },
        "timings": {"blocked": 1.0, "dns": -1, "connect": 10.0, "ssl": 9.0, "send": 2.0, "wait": 500.0, "receive": 87},
    }
    return {"log": {"version": "1.2", "entries": [{**entry, **changes}]}}


def written(tmp_path: Path, value: Any, name: str = "a.har") -> Path:
    path = tmp_path / name
    path.write_text(value if isinstance(value, str) else json.dumps(value))
    return path


def test_a_har_file_gives_calls_with_their_times(tmp_path: Path) -> None:
    path = written(tmp_path, har())
    (call,) = calls_of(path, read_har(path))
    assert (call.evidence, call.status, call.failure, call.served.model) == ("exported", 200, None, ["m-1"])
    assert (call.queue_ms, call.queue_bound, call.timing.total_ms) == (513.0, "first_byte", 600.0)
    assert call.why["timing.first_token_ms"] == "the log has no times"
    assert (call.host, call.path) == ("api.example.com", "/v1/chat/completions")


def test_a_har_body_that_was_left_out_is_unknown_and_no_failure(tmp_path: Path) -> None:
    path = written(tmp_path, har(response={"status": 200, "headers": [], "content": {"size": 900}}))
    (call,) = calls_of(path, read_har(path))
    assert (call.failure, call.usage.output_tokens) == (None, None)
    gone = written(tmp_path, har(response={"status": 0, "headers": [], "content": {}}))
    assert calls_of(gone, read_har(gone))[0].failure == "upstream_unreachable"


def test_a_cassette_gives_calls_of_both_forms_of_body(tmp_path: Path) -> None:
    path = written(tmp_path, CASSETTE, "a.yaml")
    one, two = calls_of(path, read_cassette(path))
    assert (one.usage.output_tokens, one.queue_ms, one.why["queue_ms"]) == (2, None, "the log has no times")
    assert (two.requested.temperature, two.requested.seed, two.failure) == (["0.5"], ["3"], None)
    stamp = exported_stamp([one, two], "a", "control", 0, 1)
    assert (stamp.evidence, stamp.conversation_empty, stamp.retries) == ("exported", True, 0)
    assert stamp.started_at.isoformat() == "2026-03-01T10:00:00+00:00"


def run(*words: str | Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "stages", "stamps", *map(str, words)]
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)


def test_the_command_prints_calls_a_table_or_a_stamp_and_no_secret(tmp_path: Path) -> None:
    yaml, archive = written(tmp_path, CASSETTE, "a.yaml"), written(tmp_path, har())
    lines = run("from-cassette", yaml)
    assert [json.loads(line)["number"] for line in lines.stdout.splitlines()] == [1, 2]
    assert run("from-cassette", yaml).stdout == lines.stdout, "the same file, the same bytes"
    table = run("from-har", archive, "--summary")
    assert "m-1 -> m-1" in table.stdout
    stamp = run("from-har", archive, "--item", "a", "--arm", "candidate", "--repeat", "2")
    assert (json.loads(stamp.stdout)["repeat"], json.loads(stamp.stdout)["attempt"]) == (2, 1)
    for done in (lines, table, stamp):
        assert (done.returncode, done.stderr) == (0, "")
        assert not [word for word in (KEY, "marked", "hello") if word in done.stdout]
    wrong = run("from-har", archive, "--item", "a", "--arm", "both", "--repeat", "2")
    assert (wrong.returncode, wrong.stderr) == (2, "weighbridge: --arm: found both; expected candidate or control\n")
    none = run("from-har", archive, "--item", "a", "--arm", "control", "--repeat", "0", "--attempt", "0")
    assert (none.returncode, none.stderr.split(";")[0]) == (2, "weighbridge: attempt: found 0")
    assert run("from-har", archive, "--item", "a").returncode == 2
    assert "one of openai, anthropic" in run("from-har", archive, "--provider", "open").stderr
    assert run("from-har", archive, "--item", "..", "--arm", "control", "--repeat", "0").returncode == 2


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        "interactions: 5",
        "interactions: [1]",
        "interactions: [{request: {}, response: {}}]",
        "interactions: [{request: {method: GET, uri: x}, response: {status: {code: ok}}}]",
        "interactions: [{request: {method: GET, uri: x, body: [1]}, response: {}}]",
        "interactions: !!python/object/apply:os.system [true]",
        "interactions: &a [*a]",
        "a: 1\na: 2",
        "{[1]: 2}",
        "interactions: " + "[" * 200,
        "interactions: [\n",
        "interactions: !!binary '%'",
        "a: \x07",
        "interactions: [{request: {method: GET, uri: x, parsed_body: [!!binary aGk=]}, response: {}}]",
    ],
)
def test_what_is_no_cassette_is_refused_in_a_line(tmp_path: Path, text: str) -> None:
    with pytest.raises(InputError) as refused:
        read_cassette(written(tmp_path, text, "a.yaml"))
    assert "a.yaml" in str(refused.value)
    assert str(refused.value).isprintable()


@pytest.mark.parametrize(
    "value",
    [
        "",
        "[]",
        {"log": {}},
        {"log": {"entries": [1]}},
        har(startedDateTime="noon"),
        har(request={"method": "GET"}),
        har(response={"status": "200"}),
        har(response={"status": 200, "content": {"encoding": "base64", "text": "%"}}),
    ],
)
def test_what_is_no_har_file_is_refused_in_a_line(tmp_path: Path, value: Any) -> None:
    with pytest.raises(InputError) as refused:
        read_har(written(tmp_path, value))
    assert "a.har" in str(refused.value)
    assert str(refused.value).isprintable()
