"""mini-swe-agent, as it is published, sandboxed, as an arm: stamps, calls and patches of a real agent's trials."""

from __future__ import annotations

import importlib.metadata
import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from stages.contract import layout, parquet, tables
from tests.support.mini import make_study, stage, write
from tests.support.provider import chat, scripted

pytest.importorskip("aiohttp", reason="the extra `proxy` isn't installed")
pytest.importorskip("minisweagent", reason="mini-swe-agent isn't installed")

VERSION = importlib.metadata.version("mini-swe-agent")
COMMANDS = (
    "grep -rl 'a - b' --include='m_*.py' . | xargs sed -i 's/a - b/a + b/'",
    "echo COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT",
)


def arm() -> dict[str, Any]:
    """The arm as the README has it."""
    text = (Path(__file__).parents[2] / "README.md").read_text(encoding="utf-8")
    block = text.split("<!-- arm mini-swe-agent -->")[1].split("```yaml")[1].split("```")[0]
    made: dict[str, Any] = yaml.safe_load(block)["candidate"]
    return made


async def told(_: Any, body: dict[str, Any]) -> Any:
    """The next command of the script, as a tool call; how far the talk is says which."""
    turn = sum(message["role"] == "assistant" for message in body["messages"])
    call = {
        "id": f"call_{turn}",
        "type": "function",
        "function": {"name": "bash", "arguments": json.dumps({"command": COMMANDS[min(turn, 1)]})},
    }
    message = {"role": "assistant", "content": "As told.", "tool_calls": [call]}
    return chat(body["model"], "", choices=[{"index": 0, "message": message, "finish_reason": "tool_calls"}])


@pytest.mark.heavy
def test_three_tasks_are_solved_by_a_real_agent_and_every_call_is_stamped(tmp_path: Path) -> None:
    with scripted(told) as server:
        candidate = arm()
        assert candidate["version"].split(".")[0] == VERSION.split(".")[0], "the README's pin is of another generation"
        candidate |= {"version": VERSION, "model": "gamma-1"}
        candidate["session"] |= {"upstream": server.url, "key_env": "A_KEY"}
        root = make_study(
            tmp_path / "study",
            3,
            placebos=0,
            protocol={"trial_budget": 1, "time_budget_s": 120, "tools": {"network": "provider"}},
        )
        words = yaml.safe_load((root / "params.yaml").read_text())
        words["arms"]["candidate"] = candidate
        words["protocol"]["envelope"] = {"servers": ["openai:*", "local:*"], "quota_states": ["ok", "local"]}
        write(root / "params.yaml", yaml.safe_dump(words))
        stage(root, "freeze", "preflight")
        stage(root, "run", env={"A_KEY": "sk-marked-key-1234567890", "WEIGHBRIDGE_SPEND": "yes"})
    stage(root, "score", "exclude")
    mine = [r for r in parquet.read(root / layout.LEDGER, tables.LEDGER).to_pylist() if r["arm"] == "candidate"]
    said = parquet.read(root / layout.TRANSCRIPTS, tables.TRANSCRIPTS).to_pylist()
    assert [row["status"] for row in mine] == ["passed"] * 3, [r["content"][-3000:] for r in said]
    assert [(row["unauthorised_files"], row["invented_imports"]) for row in mine] == [(0, 0)] * 3
    for row in mine:
        stamp = json.loads(json.loads(row["stamps"])[0])
        assert (stamp["evidence"], stamp["retries"], stamp["quota_state"]) == ("recorded", 0, "ok")
        assert (stamp["requested"]["model"], stamp["served"]["model"]) == (["gamma-1"], ["gamma-1"])
        assert (stamp["route_changed"], stamp["conversation_empty"]) == (False, True)
        assert stamp["status"]["calls"] == 2
        assert stamp["usage"]["input_tokens"] == 24
    assert not parquet.read(root / layout.EXCLUSIONS, tables.EXCLUSIONS).to_pylist()
