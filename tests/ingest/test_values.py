from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stages.contract.errors import InputError
from stages.ingest import values

KEYS = [
    "sk-proj-abcdefgh12345678",
    "ghp_abcdefghijklmnopqrstuvwx",
    "AKIAABCDEFGHIJKLMNOP",
    "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2lnbmF0dXJl",
    "Zm9vYmFyYmF6cXV4MTIzNDU2Nzg5MEFCQ0RFRg",
]


@pytest.mark.parametrize("key", KEYS)
def test_keys_are_cut_from_texts(key: str) -> None:
    assert key not in str(values.clean(f"call failed with {key} at once"))


@pytest.mark.parametrize(
    ("text", "gone"),
    [
        ("Authorization: Bearer abc.def", "abc.def"),
        ('{"api_key": "hunter2"}', "hunter2"),
        ("X_API_TOKEN=t0p", "t0p"),
        ("clone https://me:pw@git.example/x", "me:pw"),
        ("ask jane.doe@example.org", "jane"),
        ("set-cookie: sid=9f", "sid"),
    ],
)
def test_secrets_are_cut_by_what_stands_before_them(text: str, gone: str) -> None:
    assert gone not in str(values.clean(text))


@pytest.mark.parametrize(
    "text",
    [
        "anthropic/claude-sonnet-4-5",
        "hosted_vllm/Qwen3_Coder_480B_A35B_Instruct_FP8",
        "accounts/fireworks/models/llama-v3p1-405b-instruct",
        "exit 137: killed",
    ],
)
def test_names_stay_whole(text: str) -> None:
    assert values.clean(text) == text


def test_a_text_is_its_first_line_and_a_traceback_its_last() -> None:
    assert values.clean("\n first\nsecond") == "first"
    assert values.clean("Traceback (most recent call last):\n  File x\nValueError: no\n") == "ValueError: no"
    assert values.clean("a\x1b[31mb") == "a [31mb"
    assert values.clean(" \n ") is None
    assert len(str(values.clean("x y " * 5000))) <= values.MAX_REASON


def test_times_are_utc_only_with_a_zone() -> None:
    assert values.utc(values.moment("x", "2026-01-31T14:00:00+02:00", "t")) == "2026-01-31T12:00:00.000Z"
    assert values.utc(values.moment("x", "2026-01-31T14:00:00", "t")) is None
    aware, naive = datetime(2026, 1, 1, tzinfo=UTC), datetime(2026, 1, 1)
    assert values.span(aware, naive) is None
    assert values.span(naive.replace(day=2), naive) is None
    assert values.span(naive, naive.replace(day=2)) == 86400.0


@given(st.text(max_size=3000))
def test_any_text_becomes_one_printable_line_or_none(text: str) -> None:
    made = values.clean(text)
    assert made is None or (made.isprintable() and 0 < len(made) <= values.MAX_REASON)


@given(st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.lists(st.integers(), max_size=2))
def test_any_value_is_read_or_refused(value: Any) -> None:
    for read in (
        values.name,
        values.identity,
        values.label,
        values.count,
        values.amount,
        values.mapping,
        values.moment,
    ):
        try:
            read("x", value, "it")
        except InputError as error:
            assert "\n" not in str(error)  # noqa: PT017
    try:
        status, why, _ = values.graded("x", value, None, "it")
    except InputError:
        return
    assert (status is None) != (why is None)
