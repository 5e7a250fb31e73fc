"""From inside a sandbox its own recorder is all that can be reached: not the provider, not another trial's line."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from stages.sandbox import PORT, find, run
from tests.support.provider import chat, scripted

pytest.importorskip("aiohttp", reason="the extra `proxy` isn't installed")

AGENT = """
import json, os, socket, sys, urllib.request
own, *others = sys.argv[1:]
reached = []
for where in others:
    try:
        socket.create_connection(("127.0.0.1", int(where)), 1).close()
        reached.append(where)
    except OSError:
        pass
for name in os.listdir("/proc/self/fd"):
    try:
        target = os.readlink("/proc/self/fd/" + name)
    except OSError:
        continue
    if target.startswith("socket:"):
        reached.append(target)
for _ in range(3):
    body = json.dumps({"model": own}).encode()
    asked = urllib.request.Request("http://127.0.0.1:8787/v1/chat/completions", body)
    with urllib.request.urlopen(asked, timeout=10) as answer:
        answer.read()
print(json.dumps(reached))
"""


def test_a_trial_reaches_its_own_line_and_no_other(tmp_path: Path) -> None:
    from stages.session.recorder import Recorder

    isolation = find()
    if isolation.tier != "namespaces":
        pytest.skip(f"no namespaces here: {isolation.why}")

    async def handle(_: Any, body: dict[str, Any]) -> Any:
        return chat(body["model"], "x")

    with scripted(handle) as server, Recorder("openai", server.url, "sk-marked-key-1234567890") as recorder:
        open_port = recorder.open("outside").listen().split(":")[2].split("/")[0]
        provider = server.url.split(":")[2].split("/")[0]

        def trial(number: int) -> tuple[Any, list[Any]]:
            folder = tmp_path / str(number)
            folder.mkdir()
            listener = recorder.open(str(number))
            argv = ["python3", "-I", "-c", AGENT, f"m-{number}", provider, open_port]
            done = run(argv, isolation=isolation, workspace=folder, env={}, timeout_s=30, serve=listener.serve)
            return done, listener.close(1)

        with ThreadPoolExecutor(4) as pool:
            ended = list(pool.map(trial, range(4)))
    assert PORT == 8787
    for number, (done, calls) in enumerate(ended):
        assert json.loads(done.stdout or b"null") == [], done.stderr
        assert [call.requested.model for call in calls] == [[f"m-{number}"]] * 3
    assert len(server.seen) == 12
