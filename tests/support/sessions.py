"""A study whose arms call a provider: the agent, the provider's faults, and which rule each of them breaks."""

from __future__ import annotations

import asyncio
import hashlib
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml
from aiohttp import web

from tests.support.mini import make_study, write
from tests.support.provider import Handler, chat, error

AGENT = '''\
"""Asks its provider three times as an SDK would, with retries, and does what it is told."""
import json, os, pathlib, sys, time, urllib.error, urllib.request

if "--version" in sys.argv:
    print("{name} 1.0.0")
    raise SystemExit
where = os.environ["OPENAI_BASE_URL"] + "/chat/completions"
seed = int(os.environ["WEIGHBRIDGE_SEED"])


def ask(messages):
    body = {{"model": "{model}", "temperature": 0, "seed": seed % 2**31, "user": str(seed), "messages": messages}}
    for attempt in range(4):
        headers = {{"Content-Type": "application/json", "Authorization": "Bearer " + os.environ["OPENAI_API_KEY"],
                   "x-stainless-retry-count": str(attempt)}}
        try:
            with urllib.request.urlopen(urllib.request.Request(where, json.dumps(body).encode(), headers)) as answer:
                return json.loads(answer.read())["choices"][0]["message"]["content"]
        except urllib.error.HTTPError as fault:
            if fault.code not in (429, 500, 502, 503, 504, 529) or attempt == 3:
                sys.exit(f"gave up after HTTP {{fault.code}}")
            time.sleep(0.01)
        except (ValueError, KeyError, IndexError) as fault:
            sys.exit(f"no answer: {{type(fault).__name__}}")


talk = [{{"role": "user", "content": os.environ["WEIGHBRIDGE_STATEMENT"]}}]
for turn in range(3):
    told = ask(talk)
    talk += [{{"role": "assistant", "content": told}}, {{"role": "user", "content": "go on"}}]
    if told == "solve":
        for path in pathlib.Path(".").glob("m_*.py"):
            path.write_text(path.read_text().replace("a - b", "a + b"))
'''

# Fault → the rule that must exclude its trial (None: no rule), and how the trial must have ended.
FAULTS: dict[str, tuple[str | None, str]] = {
    "none": (None, "completed"),
    "one_500": (None, "completed"),
    "two_500": ("retries", "completed"),
    "three_529": ("retries", "completed"),
    "one_429": ("quota_state", "completed"),
    "no_quota": ("retries", "aborted"),  # its quota state, too; the first rule that is broken stands
    "always_503": ("stamp_unavailable", "aborted"),  # no answer says who would have served
    "slow": ("queue_delay", "completed"),
    "other_model": ("route_change", "completed"),
    "model_switch": ("route_change", "completed"),
    "fingerprint": ("route_change", "completed"),
    "foreign": ("foreign_server", "completed"),
    "error_in_200": (None, "aborted"),
    "empty_200": (None, "aborted"),
    "reset": (None, "completed"),
    "bad_request": (None, "completed"),
}
QUEUE_MS = 2000
MODELS = {"candidate": "alpha-1", "control": "beta-1"}


def provider(faults: Mapping[str, str]) -> Handler:
    """A provider that gives each trial the fault under its seed, solving the task or not by the seed's digest."""
    turns: Counter[str] = Counter()

    async def handle(request: web.Request, body: dict[str, Any]) -> web.StreamResponse:
        trial = body["user"]
        turns[trial] += 1
        turn, fault, model = turns[trial], faults.get(trial, "none"), body["model"]
        good = chat(
            "gamma-1" if fault == "other_model" or (fault == "model_switch" and turn > 1) else model,
            "solve" if int(hashlib.sha256(trial.encode()).hexdigest(), 16) % 3 else "wait",
            system_fingerprint="fp_b" if fault == "fingerprint" and turn > 2 else "fp_a",
            headers={"server": "elsewhere" if fault == "foreign" else "here"},
        )
        if fault == "one_500" and turn == 2:
            return error(500, "server_error", server="here")
        if (fault == "two_500" and turn in (2, 3)) or (fault == "always_503"):
            return error(503 if fault == "always_503" else 500, "server_error", server="here")
        if fault == "three_529" and turn < 4:
            return error(529, "overloaded_error", server="here")
        if fault == "one_429" and turn == 1:
            return error(429, "rate_limit_exceeded", server="here", **{"retry-after": "1"})
        if fault == "no_quota" and turn > 1:
            return error(429, "insufficient_quota", server="here")
        if fault == "bad_request" and turn == 3:
            return error(400, "context_length_exceeded", server="here")
        if fault == "error_in_200" and turn > 2:
            return web.json_response({"error": {"message": "no", "code": "internal"}}, headers={"server": "here"})
        if fault == "empty_200" and turn > 2:
            return web.Response(body=b"", content_type="application/json", headers={"server": "here"})
        if fault == "reset" and turn == 2:
            assert request.transport is not None
            request.transport.abort()
        if fault == "slow" and turn == 2:
            await asyncio.sleep(1.5 * QUEUE_MS / 1000)
        return good

    return handle


def make_session_study(root: Path, url: str, server: str, items: int, name: str = "openai", **protocol: Any) -> Path:
    """A study of `items` items and no placebo whose two arms call the provider at `url`, which `server` names."""
    envelope = {
        "servers": [server],
        "max_queue_ms": QUEUE_MS,
        "max_retries": 1,
        "quota_states": ["ok", "within_budget"],
    }
    arms = {
        arm: {
            "session": {"provider": name, "upstream": url, "key_env": "A_KEY"},
            "model": MODELS[arm],
            "seed": {"candidate": 7, "control": 8}[arm],  # apart: the provider tells trials by their seeds
            "command": ["python3", "{install}/agent.py"],
        }
        for arm in MODELS
    }
    make_study(
        root,
        items,
        placebos=0,
        protocol={"tools": {"network": "provider"}, "envelope": envelope, **protocol},
        arms={"candidate": arms["candidate"], "control": arms["control"]},
    )
    for arm, name in (("candidate", "able"), ("control", "poor")):
        write(root / f"data/agents/{name}/agent.py", AGENT.format(name=name, model=MODELS[arm]))
    for number in range(items):  # an oracle that costs nothing: what is tried here is the session
        task = root / f"data/pack/tasks/item-{number}"
        words = yaml.safe_load((task / "task.yaml").read_text(encoding="utf-8"))
        words["oracle"] = {"kind": "command", "command": ["sh", "check.sh"], "path": "oracle", "timeout_s": 30}
        write(task / "task.yaml", yaml.safe_dump(words))
        (task / "oracle/test_oracle.py").unlink()
        check = f"# canary-item-{number}\ngrep -q 'return a + b' \"$WEIGHBRIDGE_TREE\"/m_item_{number}.py\n"
        write(task / "oracle/check.sh", check)
    return root
