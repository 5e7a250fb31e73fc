"""Recorded exchanges with 20 providers are read as a person reads them. The table was written from the cassettes."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from stages.contract.stamp import Call, Stamp
from stages.session.cassette import read_cassette
from stages.session.dialects import read_call
from stages.session.traffic import calls_of, exported_stamp


def _folder() -> Path | None:
    named = os.environ.get("WEIGHBRIDGE_CASSETTES")
    places = (
        [Path(named)] if named else [p / "shared/data/provider_cassettes" for p in Path(__file__).resolve().parents]
    )
    return next((place for place in places if place.is_dir()), None)


FOLDER = _folder()
pytestmark = pytest.mark.skipif(FOLDER is None, reason="no recorded cassettes here (WEIGHBRIDGE_CASSETTES names them)")

GEMINI_FREE = "google/gemini-2.0-flash-exp:free"
VLLM = "vllm-0.24.0-tp4-6d31f84d"
DEEPSEEK_V4 = "fp_8b330d02d0_prod0820_fp8_kvcache_20260402"
REPLICATE = "ac732df83cea7fff18b8472768c88ad041fa750ff7682a21affe81863cbe77e4"

# number: (dialect, statuses, asked for, served, fingerprints in their order)
READ: dict[str, tuple[str, list[int], list[str], list[str], list[str]]] = {
    "01": ("anthropic", [200, 200], ["claude-sonnet-4-5"], ["claude-sonnet-4-5-20250929"], []),
    "02": ("openrouter", [200, 200], ["openai/gpt-4.1-mini"], ["openai/gpt-4.1-mini"], []),
    "03": ("openrouter", [200, 200], ["openai/gpt-4o"], ["openai/gpt-4o"], []),
    "04": ("openrouter", [200, 200], ["openai/gpt-5-nano"], ["openai/gpt-5-nano"], []),
    "05": (
        "openai",
        [200] * 4,
        ["gpt-4o-2024-08-06"],
        ["gpt-4o-2024-08-06"],
        ["fp_16396ea983", "fp_ba7ef93c30", "fp_a147b6a959"],
    ),
    "06": ("bedrock", [200], ["mistral.devstral-2-123b"], [], []),
    "07": ("openai", [401], ["gpt-4"], [], []),
    "08": ("google", [200] * 3, ["gemini-2.5-flash"], ["gemini-2.5-flash"], []),
    "09": ("cohere", [200], ["rerank-english-v2.0"], [], []),
    "10": ("openai", [401], ["gpt-4o"], [], []),
    "11": ("mistral", [200], ["mistral-small-latest"], ["mistral-small-latest"], []),
    "12": ("openai", [400], ["gpt-4o-mini"], [], []),
    "13": ("portkey", [200], ["gpt-4o-mini"], ["gpt-4o-mini-2024-07-18"], ["fp_b376dfbbd5"]),
    "14": ("anthropic", [200, 200], ["claude-3-5-sonnet-20240620"], ["claude-3-5-sonnet-20240620"], []),
    "15": ("anthropic", [200, 200], ["claude-3-5-sonnet-20240620"], ["claude-3-5-sonnet-20240620"], []),
    "16": (
        "bedrock",
        [200],
        ["arn:aws:sagemaker:us-east-1:767398002385:endpoint/endpoint-quick-start-idr7y"],
        ["/opt/ml/model"],
        ["3.0.1-native"],
    ),
    "17": ("cohere", [200, 200], ["command-r7b-12-2024"], [], []),
    "18": (
        "groq",
        [200] * 6,
        ["llama3-8b-8192"],
        ["llama3-8b-8192"],
        ["fp_179b0f92c9", "fp_a97cfe35ae", "fp_af05557ca2", "fp_873a560973"],
    ),
    "19": ("mistral", [200], ["mistral-tiny"], ["mistral-tiny"], []),
    "20": ("openai", [204, 200], ["gpt-4.1"], ["gpt-4.1-2025-04-14"], []),
    "21": ("openai", [204, 200], ["gpt-4.1"], ["gpt-4.1-2025-04-14"], []),
    "22": ("openai", [204, 200, 200, 204, 200], ["gpt-4o"], ["gpt-4o-2024-08-06"], []),
    "23": ("openai", [200, 204, 200, 200], ["gpt-4o"], ["gpt-4o-2024-08-06"], []),
    "24": (
        "azure",
        [200] * 4,
        ["openllmetry-testing"],
        ["gpt-35-turbo", "gpt-4.1-mini-2025-04-14"],
        ["fp_b6f445fc1c"],
    ),
    "25": (
        "azure",
        [200] * 4,
        ["openllmetry-testing"],
        ["gpt-35-turbo", "gpt-4.1-mini-2025-04-14"],
        ["fp_b6f445fc1c"],
    ),
    "26": ("azure", [200, 404, 404, 404], ["gpt-5-nano"], ["gpt-5-nano-2025-08-07"], []),
    "27": (
        "azure",
        [200] * 5,
        ["openllmetry-testing"],
        ["gpt-35-turbo", "gpt-4.1-mini-2025-04-14"],
        ["fp_b6f445fc1c"],
    ),
    "28": (
        "openai",
        [200] * 6,
        ["gpt-4.1-nano"],
        ["gpt-4.1-nano-2025-04-14"],
        ["fp_38343a2f8f", "fp_f12167b370", "fp_a597f3a3b1"],
    ),
    "29": (
        "openai",
        [200] * 6,
        ["gpt-4.1-nano"],
        ["gpt-4.1-nano-2025-04-14"],
        ["fp_f12167b370", "fp_a597f3a3b1", "fp_f79321c2ab"],
    ),
    "30": ("deepseek", [200], ["deepseek-chat"], ["deepseek-chat"], ["fp_8802369eaa_prod0623_fp8_kvcache"]),
    "31": ("openai", [200, 200, 400], ["gpt-4-vision-preview", "gpt-4o-mini"], ["gpt-4-1106-vision-preview"], []),
    "32": ("replicate", [201, *[200] * 5], [REPLICATE], ["stability-ai/stable-diffusion"], [REPLICATE]),
    "33": (
        "together",
        [200],
        ["mistralai/Mixtral-8x7B-Instruct-v0.1"],
        ["mistralai/Mixtral-8x7B-Instruct-v0.1"],
        [],
    ),
    "34": ("writer", [200], ["palmyra-x4"], ["palmyra-x4"], ["v1"]),
    "35": ("openai", [404], ["non-existent-embedding-model"], [], []),
    "36": ("anthropic", [200] * 3, ["claude-sonnet-4-5"], ["claude-sonnet-4-5-20250929"], []),
    "37": (
        "crusoe",
        [200],
        ["meta-llama/Llama-3.3-70B-Instruct"],
        ["meta-llama/Llama-3.3-70B-Instruct"],
        [VLLM],
    ),
    "38": ("deepseek", [200] * 3, ["deepseek-reasoner"], ["deepseek-v4-flash"], [DEEPSEEK_V4]),
    "39": ("deepseek", [200], ["deepseek-reasoner"], ["deepseek-reasoner"], ["fp_5417b77867_prod0225"]),
    "40": ("groq", [200], ["compound-beta"], ["groq/compound"], []),
    "41": ("groq", [200], ["compound-beta"], ["groq/compound"], []),
    "42": ("huggingface", [200, 200], ["deepseek-ai/DeepSeek-R1"], ["deepseek-ai/DeepSeek-R1"], []),
    "43": ("vertex", [200] * 3, ["gemini-3-flash-preview"], ["gemini-3-flash-preview"], []),
    "44": (
        "groq",
        [200, 200],
        ["meta-llama/llama-4-maverick-17b-128e-instruct"],
        ["meta-llama/llama-4-maverick-17b-128e-instruct"],
        ["fp_992318f10a"],
    ),
    "45": (
        "google+openai",
        [200] * 4,
        ["gemini-2.0-flash-exp", "gpt-4o-mini"],
        ["gemini-2.0-flash-exp", "gpt-4o-mini-2024-07-18"],
        ["fp_b8bc95a0ac"],
    ),
    "46": ("cerebras", [200, 200], ["qwen-3-coder-480b"], ["qwen-3-coder-480b"], ["fp_4405be376d055dc5bff7"]),
    "47": ("openrouter", [429] * 3, [GEMINI_FREE], [], []),
    "48": ("openrouter", [200, 200], ["google/gemini-2.5-flash"], ["google/gemini-2.5-flash"], []),
    "49": ("openrouter", [200], [GEMINI_FREE], ["x-ai/grok-4"], []),
    "50": ("openrouter", [200, 200], ["openai/gpt-5-mini"], ["openai/gpt-5-mini"], []),
    "51": ("openrouter", [200], [GEMINI_FREE], ["x-ai/grok-4"], ["fp_19e21a36c0"]),
    "52": ("zai", [200], ["glm-4.7"], ["glm-4.7"], []),
    "53": (
        "openrouter",
        [200] * 3,
        ["anthropic/claude-sonnet-4.6"],
        ["anthropic/claude-4.6-sonnet-20260217"],
        [],
    ),
    "54": ("azure", [200], ["gpt-4o"], ["gpt-4o-2024-11-20"], ["fp_ded0d14823"]),
    "55": ("openai", [200] * 4, ["gpt-5.5"], ["gpt-5.5-2026-04-23"], []),
    "56": ("openai", [200, 200], ["gpt-4.1-mini"], ["moonshotai/kimi-k2"], ["fpv0_170758dd"]),
    "57": ("openai", [200, 200], ["gpt-4.1-mini"], ["moonshotai/kimi-k2"], ["fpv0_170758dd"]),
}

# (cassette, call from 1, dotted field): value, as the cassette has it
FIELDS: dict[tuple[str, int, str], Any] = {
    ("01", 1, "quota.limits"): {
        "input_tokens": 2_000_000,
        "output_tokens": 400_000,
        "requests": 20_000,
        "tokens": 2_400_000,
    },
    ("01", 1, "quota.remaining"): {
        "input_tokens": 2_000_000,
        "output_tokens": 400_000,
        "requests": 19_999,
        "tokens": 2_400_000,
    },
    ("01", 1, "timing.server_claimed_ms"): 1044,
    ("01", 1, "requested.temperature"): ["1"],
    ("01", 1, "requested.seed"): ["hidden"],
    ("01", 1, "conversation_empty"): True,
    ("01", 2, "conversation_empty"): False,
    ("01", 2, "usage.output_tokens"): 16,
    ("01", 1, "served.service_tier"): ["standard"],
    ("02", 1, "conversation_empty"): None,
    ("02", 2, "usage.cost_usd"): 0.0000468,
    ("06", 1, "served.region"): ["us-east-1"],
    ("06", 1, "timing.server_claimed_ms"): 19273,
    ("07", 1, "error_code"): "invalid_api_key",
    ("07", 1, "failure"): "http_401",
    ("07", 1, "requested.temperature"): ["0"],
    ("08", 1, "usage.output_tokens"): 16 + 76,
    ("08", 1, "usage.reasoning_tokens"): 76,
    ("08", 2, "conversation_empty"): False,
    ("10", 1, "error_code"): "invalid_api_key",
    ("11", 1, "quota.resets_s"): {"ratelimitbysize": 33},
    ("11", 1, "usage.output_tokens"): 2,
    ("12", 1, "error_code"): "invalid_image_url",
    ("14", 2, "usage.cached_tokens"): 1167,
    ("15", 1, "usage.input_tokens"): 4 + 1163,
    ("15", 2, "usage.cached_tokens"): 1163,
    ("15", 1, "quota.limits"): {"input_tokens": 400_000, "output_tokens": 80_000, "requests": 4000, "tokens": 480_000},
    ("16", 1, "timing.server_claimed_ms"): 7123,
    ("16", 1, "retry.sdk_count"): 0,
    ("16", 1, "requested.temperature"): ["0.5"],
    ("17", 1, "usage.input_tokens"): 1531,
    ("17", 1, "timing.server_claimed_ms"): 582,
    ("17", 2, "conversation_empty"): False,
    ("18", 1, "quota.limits"): {"requests": 14_400, "tokens": 30_000},
    ("18", 1, "quota.resets_s"): {"requests": 17.399999999, "tokens": 0.026},
    ("19", 1, "quota.limits"): {"req_10_second": 60, "tokens_minute": 2_000_000, "tokens_month": 10_000_000_000},
    ("19", 1, "timing.server_claimed_ms"): 683,
    ("20", 1, "failure"): None,
    ("20", 2, "retry.sdk_count"): 1,
    ("20", 2, "requested.temperature"): ["0.3"],
    ("20", 2, "quota.resets_s"): {"requests": 0.006, "tokens": 0},
    ("20", 2, "timing.server_claimed_ms"): 2970,
    ("22", 2, "retry.sdk_count"): 1,
    ("22", 3, "retry.sdk_count"): 0,
    ("22", 3, "conversation_empty"): False,
    ("24", 1, "served.region"): ["East US 2"],
    ("24", 2, "served.deployment"): ["openllmetry-testing"],
    ("24", 1, "quota.limits"): None,
    ("24", 2, "quota.limits"): {"requests": 120, "tokens": 120_000},
    ("24", 2, "quota.resets_s"): {"requests": 0.5, "tokens": 0.007},
    ("26", 2, "error_code"): "DeploymentNotFound",
    ("26", 1, "usage.reasoning_tokens"): 192,
    ("27", 1, "timing.server_claimed_ms"): 544,
    ("31", 3, "quota.limits"): {"input_images": 50_000, "requests": 30_000, "tokens": 150_000_000},
    ("31", 3, "error_code"): "invalid_image_url",
    ("32", 1, "quota.remaining"): {"requests": 599},
    ("33", 1, "quota.limits"): {"requests": 2},
    ("33", 1, "requested.temperature"): ["hidden"],
    ("34", 1, "requested.temperature"): ["0.7"],
    ("34", 1, "usage.output_tokens"): 37,
    ("35", 1, "error_code"): "model_not_found",
    ("36", 2, "retry.retry_after_s"): 52,
    ("38", 1, "usage.cached_tokens"): 512,
    ("42", 1, "served.provider"): ["together"],
    ("42", 1, "retry.retry_after_s"): 30,
    ("43", 1, "served.region"): ["global"],
    ("43", 1, "served.service_tier"): ["ON_DEMAND"],
    ("45", 1, "timing.server_claimed_ms"): 407,
    ("45", 3, "timing.server_claimed_ms"): 784,
    ("47", 1, "error_code"): "429",
    ("47", 1, "quota_state"): "throttled",
    ("47", 3, "retry.repeated_body_count"): 2,
    ("48", 1, "served.provider"): ["Google AI Studio"],
    ("48", 1, "usage.cost_usd"): 0.0003253,
    ("49", 1, "served.provider"): ["xAI"],
    ("49", 1, "usage.cost_usd"): 0.00333825,
    ("50", 2, "usage.cost_usd"): 0.00435825,
    ("53", 1, "usage.cost_usd"): 0.01058775,
    ("54", 1, "timing.server_claimed_ms"): 315,
    ("54", 1, "served.deployment"): ["gpt-4o"],
    ("55", 2, "conversation_empty"): False,
    ("56", 1, "served.provider"): ["Novita"],
    ("56", 2, "served.provider"): ["Moonshot AI"],
    ("57", 2, "served.provider"): ["Fireworks"],
}


def calls(number: str) -> list[Call]:
    assert FOLDER is not None
    (path,) = FOLDER.glob(f"{number}__*.yaml")
    return calls_of(path, read_cassette(path))


def stamp(number: str) -> Stamp:
    return exported_stamp(calls(number), "a", "candidate", 0, 1)


@pytest.mark.parametrize("number", sorted(READ))
def test_each_cassette_is_read_as_it_is_written(number: str) -> None:
    dialect, statuses, asked, served, fingerprints = READ[number]
    found = stamp(number)
    assert "+".join(dict.fromkeys(c.dialect for c in calls(number))) == dialect
    assert [c.status for c in calls(number)] == statuses
    assert found.requested is not None
    assert found.served is not None
    assert (found.requested.model or []) == asked
    assert (found.served.model or []) == served
    assert (found.served.system_fingerprint or []) == fingerprints


@pytest.mark.parametrize(("number", "call", "field"), sorted(FIELDS))
def test_a_field_is_what_the_cassette_says(number: str, call: int, field: str) -> None:
    value: Any = calls(number)[call - 1]
    for part in field.split("."):
        value = getattr(value, part)
    wanted = FIELDS[number, call, field]
    assert value == (pytest.approx(wanted) if isinstance(wanted, float) else wanted)


def test_an_sdks_retry_is_counted_though_its_first_try_is_not_in_the_log() -> None:
    assert {number: stamp(number).retries for number in READ if stamp(number).retries} == {
        "20": 1,
        "21": 1,
        "22": 1,
        "23": 1,
        "47": 2,
    }


def test_the_edited_cassettes_are_the_only_ones_that_contradict_themselves() -> None:
    assert {number for number in READ if stamp(number).inconsistent} == {"56", "57"}
    assert stamp("56").inconsistent == [
        "the body has marks of openrouter, the host is openai's",
        "served a model of moonshot, which openai doesn't serve",
    ]


def test_a_served_model_that_wasnt_asked_for_is_a_change_of_route() -> None:
    changed = {number for number, (_, _, asked, served, _) in READ.items() if served and asked != served}
    several = {number for number, row in READ.items() if len(row[4]) > 1}
    unknown = {number for number, row in READ.items() if not row[3]}
    for number in READ:
        wanted = True if number in changed | several else None if number in unknown else False
        assert stamp(number).route_changed is wanted, number
    assert stamp("38").route_what == ["asked for deepseek-reasoner, served deepseek-v4-flash"]


def test_a_servers_identity_stays_from_call_to_call() -> None:
    several = {number for number in READ if len({c.server_id for c in calls(number) if c.failure is None}) > 1}
    assert several == {"45", "56", "57"}, "two hosts, and two whose provider changes"


def test_what_is_no_request_to_a_model_says_so() -> None:
    first = calls("22")[0]
    assert (first.status, first.failure, first.conversation_empty) == (204, None, None)
    assert first.why["served.model"] == "nothing is asked of a model"
    assert stamp("22").conversation_empty is True


def test_nothing_of_a_prompt_an_answer_or_a_key_gets_out() -> None:
    assert FOLDER is not None
    for number in READ:
        text = " ".join(c.model_dump_json() for c in calls(number)) + stamp(number).model_dump_json()
        for word in (
            "pelican",
            "joke",
            "OPENAI_API_KEY",
            "strawberry",
            "api-version",
            "req_0",
            "req_8",
            "user_2wT5",
            "cf_bm",
        ):
            assert word not in text, (number, word)
        assert "IQoJb3JpZ2luX2VjEFka" not in text


def _same(call: Call) -> dict[str, Any]:
    return {**call.model_dump(), "timing": None}


@pytest.mark.parametrize("number", sorted(READ))
def test_pieces_and_damage_change_no_field_and_raise_nothing(number: str) -> None:
    assert FOLDER is not None
    (path,) = FOLDER.glob(f"{number}__*.yaml")
    for one in read_cassette(path):
        ((_, body),) = one.pieces
        parts = [(None, body[n : n + 7]) for n in range(0, len(body), 7)]
        assert _same(read_call(replace(one, pieces=parts), 1)) == _same(read_call(one, 1))
        for n in range(0, len(body), max(len(body) // 20, 1)):
            read_call(replace(one, pieces=[(1.0, body[:n])]), 1)
            damaged = body[:n] + bytes([body[n] ^ 0x15]) + body[n + 1 :]
            read_call(replace(one, pieces=[(1.0, damaged)], request_body=damaged), 1)
