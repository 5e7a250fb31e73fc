"""Which agents may see which variables of this machine where an arm's calls are recorded."""

from __future__ import annotations

import pytest

from stages.arms.recording import recording
from stages.contract.errors import InputError
from stages.contract.protocol import Arms
from stages.contract.types import validate

pytest.importorskip("aiohttp", reason="the extra `proxy` isn't installed")


@pytest.mark.parametrize("other", ["candidate", "control"])
def test_no_arm_is_given_the_key_of_the_others_provider(other: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-marked-key-1234567890")
    arms = {
        name: {"name": name, "version": "1", "command": ["agent"], "env": ["OPENAI_API_KEY"] if name == other else []}
        for name in ("candidate", "control")
    }
    arms["candidate"]["session"] = {"provider": "openai"}
    made = validate(Arms, arms, "arms")
    with pytest.raises(InputError) as refused, recording(made, lambda _: None):
        pass
    assert str(refused.value).startswith(f"params.yaml: arms.{other}.env: found OPENAI_API_KEY")
