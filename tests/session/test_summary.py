"""From calls to a stamp: the delay is the largest, retries the sum over chains, quota the worst, any route change."""

from __future__ import annotations

import gzip
import json
from datetime import timedelta
from typing import Any

import pytest

from stages.contract.stamp import AccessTerms, Call, Stamp
from stages.contract.types import validate
from stages.session.chain import chained, retries
from stages.session.dialects import read_call
from stages.session.summary import stamp_of
from tests.session.exchanges import ANSWER, HI, NOW, exchange

SORRY = {"error": {"code": "rate_limit_exceeded"}}


def calls(*steps: dict[str, Any]) -> list[Call]:
    """Calls a second apart, each of 40 ms."""
    made = []
    for n, step in enumerate(steps):
        step = dict(step)
        sdk = step.pop("sdk", None)
        sent = [] if sdk is None else [("x-stainless-retry-count", str(sdk))]
        step = {"started_at": NOW + timedelta(seconds=n), "request_headers": sent, **step}
        made.append(read_call(exchange(**step), n + 1, secret=b"k"))
    return made


def stamp(*steps: dict[str, Any], **more: Any) -> Stamp:
    return stamp_of("a", "control", 0, 1, calls(*steps), started_at=NOW, evidence="recorded", **more)


OTHER = {**HI, "seed": 2}


@pytest.mark.parametrize(
    ("steps", "wanted"),
    [
        ([{}], 0),
        ([{}, {}], 0),
        ([{"status": 429, "answer": SORRY}, {}], 1),
        ([{"status": 503, "answer": b""}, {"status": 529, "answer": b""}, {}], 2),
        ([{"status": 400, "answer": SORRY}, {}], 0),
        ([{"status": 429, "answer": SORRY}, {"request": OTHER}], 0),
        ([{"status": None, "ended": "upstream_reset", "answer": b""}, {}], 1),
        ([{"ended": "upstream_reset"}, {}], 1),
        ([{"answer": {"error": {"code": "x"}}}, {}], 1),
        ([{"sdk": 0, "status": 429, "answer": SORRY}, {"sdk": 1}], 1),
        ([{"sdk": 1}], 1),
        ([{"sdk": 2, "status": 429, "answer": SORRY}, {"sdk": 3}], 3),
        ([{"status": 429}, {"request": OTHER, "status": 429}, {}, {"request": OTHER}], 2),
        ([{"status": 429}, {}, {"status": 429}, {}, {}], 2),
    ],
)
def test_retries_are_the_sum_over_chains_of_the_larger_count(steps: list[dict[str, Any]], wanted: int) -> None:
    assert retries(chained(calls(*steps))) == wanted
    assert stamp(*steps).retries == wanted


def test_each_count_is_summed_over_chains_by_its_largest() -> None:
    made = stamp({"sdk": 0, "status": 429}, {"sdk": 1, "status": 429}, {"sdk": 2}, {"sdk": 0, "request": OTHER}).retry
    assert made is not None
    assert (made.sdk_count, made.repeated_body_count) == (2, 2)


def test_two_same_requests_at_the_same_time_are_no_retry() -> None:
    both = calls({"status": 429}, {"started_at": NOW})
    assert retries(chained(both)) == 0


def test_waiting_is_from_the_end_of_the_failed_call_to_the_next_start() -> None:
    one, two, three = chained(calls({"status": 429}, {}, {"request": OTHER}))
    assert (one.retry.waited_ms, two.retry.waited_ms, three.retry.waited_ms) == (0, 960, 0)
    assert stamp({"status": 429}, {}).retry.waited_ms == 960
    unknown = chained(calls({"status": 429, "total_ms": None}, {}))[1]
    assert (unknown.retry.repeated_body_count, unknown.retry.waited_ms) == (1, None)


def test_without_a_hash_or_a_counter_retries_are_unknown() -> None:
    bare = [read_call(exchange(request_headers=[]), 1)]
    assert retries(chained(bare)) is None
    made = stamp_of("a", "control", 0, 1, bare, started_at=NOW, evidence="recorded")
    assert (made.retries, made.why["retries"]) == (None, "no counter, and no body to compare")


def test_a_trial_without_a_call_says_that_it_went_past_the_recorder() -> None:
    made = stamp()
    assert made.server_id is made.queue_ms is made.retries is made.quota_state is made.route_changed is None
    assert set(made.why.values()) == {
        "no request reached the recorder (bypass)",
        "the arm names no source of them",
    }


def test_times_are_the_longest_and_the_whole_the_sum() -> None:
    made = stamp({}, {"headers_ms": 200.0, "first_byte_ms": 300.0, "total_ms": 400.0})
    assert made.timing is not None
    assert (made.timing.headers_ms, made.timing.first_byte_ms, made.timing.total_ms) == (200, 300, 440)
    assert (made.queue_ms, made.queue_bound) == (300, "first_byte")


def test_quota_is_the_worst_and_a_limit_that_cant_be_read_makes_it_unknown() -> None:
    none_left = {"headers": {"x-ratelimit-remaining-tokens": "0"}}
    negative = {"headers": {"x-ratelimit-limit-tokens": "-1"}}
    empty = {"status": 429, "answer": {"error": {"code": "insufficient_quota"}}}
    assert stamp({}, none_left).quota_state == "within_budget"
    assert stamp(none_left, {"status": 429}, {}).quota_state == "throttled"
    assert stamp({"status": 429}, empty, {}).quota_state == "exhausted"
    assert stamp({}, {"status": 503}, {}).quota_state == "ok"
    assert stamp({}, negative).quota_state is None
    assert stamp(negative, empty).quota_state == "exhausted"


def test_quota_is_of_each_kind_the_least() -> None:
    def left(n: int) -> dict[str, Any]:
        names = {"limit": 10, "remaining": n, "reset": 10 - n}
        return {"headers": {f"x-ratelimit-{k}-requests": str(v) for k, v in names.items()}}

    made = stamp(left(5), left(3), left(4)).quota
    assert made is not None
    assert (made.limits, made.remaining, made.resets_s) == ({"requests": 10}, {"requests": 3}, {"requests": 7})


@pytest.mark.parametrize(
    ("steps", "what"),
    [
        ([{}, {}], []),
        ([{}, {"answer": {**ANSWER, "model": "m-2"}}], ["served model: m-1, m-2", "asked for m-1, served m-2"]),
        (
            [{"answer": {**ANSWER, "system_fingerprint": f}} for f in ("fp_1", "fp_2")],
            ["served system fingerprint: fp_1, fp_2"],
        ),
        ([{"request": {**HI, "model": "m"}}], ["asked for m, served m-1"]),
        ([{}, {"status": 429, "answer": SORRY}], []),
    ],
)
def test_any_difference_in_who_served_is_a_change_of_route(steps: list[dict[str, Any]], what: list[str]) -> None:
    made = stamp(*steps)
    assert (made.route_changed, made.route_what) == (bool(what), what)


def test_two_servers_have_no_identity_in_common() -> None:
    made = stamp({}, {"url": "https://other.example/v1/chat/completions"})
    assert made.server_id is None
    assert made.why["server_id"].startswith("2 servers: compatible:api.example.com:")
    assert made.route_changed is True


def test_where_no_answer_names_a_model_the_route_is_unknown() -> None:
    made = stamp({"answer": {**ANSWER, "model": None}})
    assert (made.route_changed, made.why["route_changed"]) == (None, "no answer names the model that served it")


@pytest.mark.parametrize("body", [b"\x28\xb5\x2f\xfd", b"no JSON"])
def test_a_request_that_cannot_be_read_leaves_the_route_unknown(body: bytes) -> None:
    packed = [("content-encoding", "zstd"), ("x-stainless-retry-count", "0")]
    made = stamp({}, {"request": body, "request_headers": packed})
    assert (made.route_changed, made.route_what) == (None, [])
    assert made.why["route_changed"].startswith("what model was asked for isn't known: the request")


def test_a_packed_request_is_read() -> None:
    packed = {"request": gzip.compress(json.dumps(HI).encode()), "request_headers": [("content-encoding", "gzip")]}
    made = stamp({**packed, "answer": {**ANSWER, "model": "m-2"}})
    assert (made.route_what, made.conversation_empty) == (["asked for m-1, served m-2"], True)


def test_the_first_request_to_a_model_says_whether_the_conversation_was_empty() -> None:
    listing = {"method": "GET", "url": "https://api.example.com/v1/models", "request": b""}
    later = {"request": {"model": "m-1", "messages": [*HI["messages"], {"role": "assistant", "content": "x"}]}}
    assert stamp(listing, {}, later).conversation_empty is True
    assert stamp(later, {}).conversation_empty is False
    assert stamp(listing).conversation_empty is None


def test_tokens_are_summed_and_a_part_is_no_sum() -> None:
    made = stamp({}, {}).usage
    assert made is not None
    assert (made.input_tokens, made.output_tokens) == (6, 4)
    partly = stamp({}, {"answer": {**ANSWER, "usage": None}})
    assert partly.usage is not None
    assert partly.usage.input_tokens is None
    assert partly.why["usage.input_tokens"] == "1 of 2 answers don't say; the others sum to 3"


def test_failures_are_counted_and_the_last_is_named() -> None:
    made = stamp({"status": 429, "answer": SORRY}, {"answer": b""}).status
    assert made is not None
    assert (made.calls, made.failed, made.last, made.last_failure) == (2, 2, 200, "empty_200")


def test_a_stamp_is_read_back_as_it_was() -> None:
    terms = AccessTerms(text_sha256="0" * 64, source="https://example.com/terms", read_at=NOW)
    for made in (stamp({}, {"status": 429}), stamp(), stamp({}, access_terms=terms)):
        assert validate(Stamp, made.model_dump(mode="json"), "here") == made
