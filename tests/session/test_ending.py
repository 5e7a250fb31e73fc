"""Whether it was the provider that ended an agent."""

from __future__ import annotations

from typing import Any

import pytest

from stages.session import provider_error
from tests.session.test_summary import SORRY, calls

GONE = {"url": "https://api.example.com/v1/models/m-1", "method": "GET", "request": b"", "status": 404, "answer": SORRY}
BUSY = {"status": 529, "answer": SORRY}


@pytest.mark.parametrize(
    ("steps", "said"),
    [
        ([{}], None),
        ([{}, BUSY], "provider error: HTTP 529 rate_limit_exceeded (http_529), the last of 2 calls, 1 of which failed"),
        ([BUSY, {}], None),
        ([{}, {"status": 400, "answer": SORRY}], None),
        ([{}, GONE], None),
        (
            [BUSY, GONE],
            "provider error: HTTP 529 rate_limit_exceeded (http_529), the last of 1 calls, 1 of which failed",
        ),
        ([GONE], "provider error: HTTP 404 rate_limit_exceeded (http_404), the last of 1 calls, 1 of which failed"),
        ([], None),
    ],
)
def test_the_last_call_to_a_model_says_whether_the_provider_ended_the_agent(
    steps: list[dict[str, Any]], said: str | None
) -> None:
    assert provider_error(calls(*steps)) == said
