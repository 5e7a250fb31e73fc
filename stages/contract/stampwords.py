"""What the JSON Schemas of stamp and call say to the author of a logger: a sentence per field, the rule on nulls."""

from __future__ import annotations

from typing import Any

_TRIAL = {
    "item_id": "The task's id, as the plan has it.",
    "arm": "Which arm the attempt belongs to.",
    "repeat": "The repeat of the task in this arm, from 0.",
    "attempt": "The harness's attempt at this trial, from 1; every attempt has a stamp of its own.",
}
_SHARED = {
    "evidence": "Who says so: recorded (our recorder), exported (a harness's log), asserted (a person: never counts).",
    "started_at": "When it started: ISO 8601 with a zone, as text.",
    "requested": "What the requests asked for, as sent.",
    "served": "What the answers say of who served them.",
    "server_id": "Who answered: host and a stable hash of what identifies the server; null where several did.",
    "timing": "Times from the request's start [ms].",
    "queue_ms": "How long was waited before work began [ms]: an upper bound. Of several calls, the largest.",
    "queue_bound": "What the bound is: process_start (local program), headers (less what the server claims to have "
    "worked), first_byte (nothing is claimed), exported (the log says it).",
    "retry": "How often a request was made again, by two ways to count it.",
    "quota_state": "ok, within_budget, throttled or exhausted, by status and codes, never by words; local: no "
    "provider. Of several calls, the worst.",
    "quota": "Quota as the provider's headers told it.",
    "usage": "Tokens and cost where the provider says them. Of several calls the sum, and only if all say it.",
    "conversation_empty": "Whether the first request carries no earlier turn of an assistant; false excludes.",
    "inconsistent": "What contradicts itself, a phrase each; anything here excludes. Empty where nothing does.",
    "why": "For every field that is null its reason, under its name (`queue_ms`), its dotted name (`served.region`) or "
    "its group's (`served`). No reason for a field that has a value.",
}
WORDS: dict[str, dict[str, str]] = {
    "Stamp": _TRIAL
    | _SHARED
    | {
        "retries": "Retries of all calls, summed; of the counter and the repeated bodies the larger.",
        "route_changed": "Whether more than one server, model, provider, region, deployment or fingerprint served, or "
        "another model than was asked for.",
        "route_what": "What changed, such as `asked for a, served b`; empty unless route_changed is true.",
        "status": "How the attempt's calls ended.",
        "access_terms": "The provider's terms as they were read; null where the arm names no source of them.",
    },
    "Call": _SHARED
    | {
        "number": "The request's place in the attempt, from 1.",
        "dialect": "Which provider's dialect it was read by.",
        "method": "Of HTTP.",
        "host": "The provider's host.",
        "path": "Of the request, without its query.",
        "status": "Of HTTP; null where no answer came.",
        "ended": "How the exchange ended.",
        "failure": "A short code of what failed, an error within a 200 and an empty answer too; null for an answer.",
        "error_code": "The provider's own code of the error.",
        "body_hmac": "HMAC-SHA-256 of the request's body under a key of this run: tells the same body, not what it is.",
        "request_bytes": "Size of the request's body [B].",
        "response_bytes": "Size of the answer's body [B].",
    },
    "Requested": {
        "model": "Model names as sent, distinct.",
        "host": "Hosts asked.",
        "temperature": "As sent, as text; `hidden` where a request says nothing of it.",
        "seed": "As sent, as text; `hidden` where a request says nothing of it.",
    },
    "Served": {
        "model": "Model names as answered, distinct.",
        "provider": "The provider behind a router.",
        "region": "Region or site, as headers tell it.",
        "deployment": "Deployment, as headers tell it.",
        "system_fingerprint": "The provider's mark of a configuration.",
        "service_tier": "The tier that served.",
        "response_id_prefix": "What the ids of answers begin with, never a whole id.",
    },
    "Timing": {
        "headers_ms": "To the answer's headers [ms]; of several calls the longest.",
        "first_byte_ms": "To the first byte of the body [ms]; of several calls the longest.",
        "first_token_ms": "To the first token of output [ms]; of several calls the longest.",
        "total_ms": "To the end [ms]; of several calls the sum.",
        "server_claimed_ms": "What the server claims to have worked [ms]; of several calls the sum.",
    },
    "Retry": {
        "sdk_count": "The SDK's own counter, as it sent it.",
        "repeated_body_count": "Requests with the body of one that had failed.",
        "waited_ms": "Between a failed request and the same again, summed [ms].",
        "retry_after_s": "The longest wait that a provider asked for [s].",
    },
    "Quota": {
        "limits": "Kind (`requests`, `input_tokens`, …) to the limit.",
        "remaining": "Kind to what is left of it.",
        "resets_s": "Kind to when it is whole again [s].",
        "token": "A hash of the quota headers.",
    },
    "Status": {
        "calls": "How many requests.",
        "failed": "How many of them failed.",
        "last": "The last one's HTTP status.",
        "last_failure": "The last failure's code; null where none failed.",
    },
    "Usage": {
        "input_tokens": "Tokens of input, cached ones too.",
        "output_tokens": "Tokens of output, reasoning too.",
        "cached_tokens": "Tokens of input that were read from a cache.",
        "reasoning_tokens": "Tokens of output that were reasoning.",
        "cost_usd": "What the provider says it cost [USD].",
    },
    "AccessTerms": {
        "text_sha256": "Digest of the terms' text.",
        "source": "Where they were read.",
        "read_at": "When they were read.",
    },
}
NO_FAULT = {"Stamp": {"status.last_failure"}, "Call": {"failure", "error_code"}}
"""Null here says that nothing failed, and needs no reason."""

EXAMPLE: dict[str, Any] = {
    "item_id": "repair-001",
    "arm": "candidate",
    "repeat": 0,
    "attempt": 1,
    "evidence": "exported",
    "started_at": "2026-01-31T12:00:00.250Z",
    "requested": {"model": ["m-1"], "host": ["api.example"], "temperature": ["0"], "seed": ["hidden"]},
    "served": {
        "model": ["m-1"],
        "provider": None,
        "region": ["eu-west"],
        "deployment": None,
        "system_fingerprint": ["fp_44709d6fcb"],
        "service_tier": ["default"],
        "response_id_prefix": ["chatcmpl"],
    },
    "server_id": "api.example:5f0c2ad19e1b",
    "timing": {
        "headers_ms": 212.4,
        "first_byte_ms": 585.1,
        "first_token_ms": 590.0,
        "total_ms": 4120.7,
        "server_claimed_ms": 180.0,
    },
    "queue_ms": 32.4,
    "queue_bound": "headers",
    "retries": 0,
    "retry": {"sdk_count": 0, "repeated_body_count": 0, "waited_ms": 0, "retry_after_s": None},
    "quota_state": "within_budget",
    "quota": {
        "limits": {"requests": 500},
        "remaining": {"requests": 498},
        "resets_s": {"requests": 0.24},
        "token": "9c1e07",
    },
    "route_changed": False,
    "route_what": [],
    "status": {"calls": 3, "failed": 0, "last": 200, "last_failure": None},
    "usage": {
        "input_tokens": 5120,
        "output_tokens": 804,
        "cached_tokens": 0,
        "reasoning_tokens": 0,
        "cost_usd": None,
    },
    "conversation_empty": True,
    "access_terms": None,
    "inconsistent": [],
    "why": {
        "served.provider": "the answer names none",
        "served.deployment": "no such header",
        "retry.retry_after_s": "no answer asked for a wait",
        "usage.cost_usd": "the provider doesn't say",
        "access_terms": "the arm names no source of them",
    },
}


def described(name: str, schema: dict[str, Any]) -> dict[str, Any]:
    """The schema of `Stamp` or `Call` with a sentence per field and the rule that a null has its reason."""
    parts = schema.get("$defs", {})
    for title, words in WORDS.items():
        for field, words_of in (parts.get(title) or (schema if title == name else {})).get("properties", {}).items():
            if field in words:
                words_of["description"] = words[field]
    return {**schema, "allOf": [*_reasons(name, schema)], **({"examples": [EXAMPLE]} if name == "Stamp" else {})}


def _reasons(name: str, schema: dict[str, Any]) -> list[dict[str, Any]]:
    """If a field is null, `why` names it; if a part of a group is, its dotted name or the group."""
    made = []
    for field, said in schema["properties"].items():
        kinds = [said, *said.get("anyOf", [])]
        group = next((schema["$defs"][k["$ref"].rpartition("/")[2]] for k in kinds if "$ref" in k), None)
        if any(kind.get("type") == "null" for kind in kinds) and field not in NO_FAULT[name]:
            made.append(_reason({field: {"type": "null"}}, field))
        for inner, part in (group or {}).get("properties", {}).items():
            null = any(kind.get("type") == "null" for kind in part.get("anyOf", []))
            if null and f"{field}.{inner}" not in NO_FAULT[name]:
                here = {"type": "object", "properties": {inner: {"type": "null"}}, "required": [inner]}
                made.append(_reason({field: here}, f"{field}.{inner}", field))
    return made


def _reason(null: dict[str, Any], *names: str) -> dict[str, Any]:
    wanted = [{"required": [name]} for name in names]
    why = {"properties": {"why": {"anyOf": wanted} if len(wanted) > 1 else wanted[0]}, "required": ["why"]}
    return {"if": {"properties": null, "required": list(null)}, "then": why}
