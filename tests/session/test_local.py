"""The stamp of a local program, as the harness writes it."""

from __future__ import annotations

import platform
import re
from datetime import UTC, datetime

from stages.contract.digest import canonical
from stages.contract.protocol import Envelope
from stages.contract.types import plain
from stages.session import local_stamp, parse_stamp, server_id, violations
from tests.support.stamps import GROUPS

NOW = datetime(2026, 3, 1, 10, tzinfo=UTC)


def test_a_local_stamp_is_read_back_as_it_was_and_lies_in_the_default_envelope() -> None:
    made = local_stamp("a", "control", 2, 1, NOW, 3.14159)
    again = parse_stamp(canonical(plain(made)).decode(), "here")
    assert again == made
    assert made.queue_ms == 3.142
    assert list(violations([made], 1, Envelope())) == []


def test_each_attempt_after_the_first_is_a_retry_of_the_harness() -> None:
    made = [local_stamp("a", "candidate", 0, n, NOW, 1.0) for n in (1, 2, 3)]
    assert [s.retries for s in made] == [0, 1, 2]
    assert [rule for rule, _ in violations(made, 3, Envelope())] == ["retries"]


def test_the_server_id_names_no_machine() -> None:
    assert re.fullmatch(r"local:[0-9a-f]{16}", server_id())
    assert platform.node() not in server_id()
    assert server_id() == server_id()


def test_a_local_stamp_says_of_every_group_why_it_is_nothing() -> None:
    made = local_stamp("a", "control", 2, 1, NOW, 3.0)
    assert set(made.why.values()) == {"a local program without a provider"}
    assert set(made.why) == set(GROUPS)
    assert (made.queue_bound, made.conversation_empty, made.route_what) == ("process_start", True, [])
