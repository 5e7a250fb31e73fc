"""An attempt's line to its provider: a listener of the recorder's that serves this attempt and no other."""

from __future__ import annotations

import os
import socket
from dataclasses import dataclass, field
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from stages.contract.protocol import Arm
from stages.contract.stamp import Call
from stages.sandbox import PORT
from stages.session import PROVIDERS

if TYPE_CHECKING:
    from collections.abc import Callable

    from stages.arms.trial import ArmName, Setting
    from stages.session.recorder import Listener

_GRACE_S = 2.0  # for an answer that was on its way when the agent ended
_SECRET_CHARS = 8  # a shorter value is no secret, and would be cut out of every second word


@dataclass
class Line:
    """`base_url` is what the agent is told; `serve` takes the socket that listens inside its sandbox."""

    listener: Listener
    base_url: str
    serve: Callable[[socket.socket], None] | None
    calls: list[Call] | None = field(default=None)

    @classmethod
    def open(cls, setting: Setting, name: ArmName) -> Line | None:
        """A line of the arm's recorder, or None where the arm has no session."""
        recorder = setting.recorders.get(name)
        if recorder is None:
            return None
        listener = recorder.open(name)
        path = urlsplit(recorder.upstream).path.rstrip("/")
        if setting.isolation.tier == "none":  # the whole machine is in reach; a port of its own is the least
            return cls(listener, listener.listen(), None)
        return cls(listener, f"http://127.0.0.1:{PORT}{path}", listener.serve)

    def close(self) -> list[Call]:
        """End the line; the calls that were made on it, in order. A second time changes nothing."""
        if self.calls is None:
            self.calls = self.listener.close(_GRACE_S)
        return self.calls


def key_variable(arm: Arm) -> str | None:
    """The variable of this machine that holds the key of the arm's provider; None where there is none."""
    if arm.session is None:
        return None
    return arm.session.key_env or PROVIDERS[arm.session.provider].key_env


def secrets_of(arm: Arm) -> dict[str, bytes]:
    """Values of this machine's variables that the arm's agent was given or its recorder holds, by name."""
    key = key_variable(arm)
    names = [*arm.env, *([key] if key else [])]
    values = {name: os.environ.get(name, "").encode("utf-8", "surrogateescape") for name in names}
    return {name: value for name, value in values.items() if len(value) >= _SECRET_CHARS}


def without(text: bytes, hidden: dict[str, bytes]) -> bytes:
    """A transcript in which every such value is replaced by its name in brackets."""
    for name, value in sorted(hidden.items(), key=lambda one: (-len(one[1]), one[0])):
        text = text.replace(value, f"[{name}]".encode())
    return text
