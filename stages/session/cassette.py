"""Cassettes of VCR (YAML): recorded requests and answers, read without building what YAML could make of them.

Only plain data and `!!binary` is read; anchors, aliases and other tags are refused. A cassette tells no times: its
calls start at the answer's date, or at 1970 where it has none.
"""

from __future__ import annotations

import base64
import binascii
import json
import re
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import yaml

from stages.contract.errors import InputError
from stages.contract.text import decode, kind, read_bytes
from stages.session.dialects.headers import moment, one
from stages.session.exchange import Exchange, Headers

MAX_BYTES = 64 * 1024 * 1024
_MAX_DEPTH = 100
_MAX_NODES = 2_000_000
_BINARY = "tag:yaml.org,2002:binary"
_PLAIN_TAGS = (None, "!", "tag:yaml.org,2002:str")
_WORDS: dict[str, Any] = {"null": None, "~": None, "": None, "true": True, "false": False}
_INTEGER = re.compile(r"[-+]?[0-9]{1,60}")
_REAL = re.compile(r"[-+]?(?:[0-9]{1,40}\.[0-9]{0,40}|\.[0-9]{1,40})(?:[eE][-+]?[0-9]{1,3})?")
_UNKNOWN = datetime(1970, 1, 1, tzinfo=UTC)


def read_cassette(path: Path) -> list[Exchange]:
    """The exchanges of a cassette, in its order. Raises InputError."""
    value = _load(path, decode(path, read_bytes(path, MAX_BYTES, "a cassette")))
    found = value.get("interactions", value.get("http_interactions")) if isinstance(value, dict) else None
    if not isinstance(found, list):
        raise InputError(path, "holds no list of interactions", "a cassette as VCR writes it")
    return [_exchange(f"{path}: interaction {n}", one_) for n, one_ in enumerate(found, 1)]


def _exchange(where: str, value: Any) -> Exchange:
    if not isinstance(value, dict) or not all(isinstance(value.get(k), dict) for k in ("request", "response")):
        raise InputError(where, "is no pair", "a mapping with request and response")
    request, response = value["request"], value["response"]
    url = request.get("uri", request.get("url"))
    method = request.get("method")
    if not isinstance(url, str) or not isinstance(method, str):
        raise InputError(where, "its request has no method and uri", "both, as text")
    status = response.get("status", response.get("status_code"))
    status = status.get("code") if isinstance(status, dict) else status
    if status is not None and (isinstance(status, bool) or not isinstance(status, int)):
        raise InputError(where, f"its status is {kind(status)}", "a whole number")
    headers = _headers(response.get("headers"))
    said = moment(one(headers, "date"))
    return Exchange(
        started_at=said or _UNKNOWN,
        method=method.upper(),
        url=url,
        request_headers=_headers(request.get("headers")),
        request_body=_body(where, request),
        status=status,
        response_headers=headers,
        pieces=[(None, _body(where, response))],
        evidence="exported",
    )


def _headers(value: Any) -> Headers:
    found = value.items() if isinstance(value, dict) else ()
    return [
        (name, text.decode("latin-1") if isinstance(text, bytes) else str(text))
        for name, held in found
        for text in (held if isinstance(held, list) else [held])
        if isinstance(text, str | bytes | int | float)
    ]


def _body(where: str, value: dict[str, Any]) -> bytes:
    if "parsed_body" in value:
        try:
            return json.dumps(value["parsed_body"], ensure_ascii=False).encode("utf-8", "surrogatepass")
        except TypeError:
            raise InputError(where, "its parsed_body holds !!binary", "what JSON has, or body with the bytes") from None
    body = value.get("body")
    if isinstance(body, dict) and isinstance(body.get("base64_string"), str):
        try:
            return base64.b64decode(body["base64_string"])
        except binascii.Error:
            raise InputError(where, "its body is no base64", "base64") from None
    if isinstance(body, dict):
        body = body.get("string")
    if body is None:
        return b""
    if isinstance(body, str | bytes):
        return body.encode("utf-8", "surrogatepass") if isinstance(body, str) else body
    raise InputError(where, f"its body is {kind(body)}", "text, !!binary, or parsed_body")


def _load(path: Path, text: str) -> Any:
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    try:
        return _built(yaml.parse(text, Loader=loader))
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        line = f":{mark.line + 1}" if mark is not None else ""
        raise InputError(f"{path}{line}", f"can't be read as a cassette: {error.problem}", "plain YAML") from None
    except (yaml.YAMLError, RecursionError, ValueError) as error:
        raise InputError(path, f"can't be read as a cassette: {type(error).__name__}", "plain YAML") from None


def _refused(event: Any, what: str) -> yaml.MarkedYAMLError:
    return yaml.MarkedYAMLError(problem=what, problem_mark=event.start_mark)


def _built(events: Iterator[Any]) -> Any:
    """Plain data of a stream of events: no recursion, hence no depth that could end the process."""
    top: list[Any] = []
    open_: list[tuple[Any, list[Any]]] = []  # (a list or mapping, the key that waits for its value)
    nodes = 0

    def put(event: Any, value: Any) -> None:
        holder, key = open_[-1] if open_ else (top, [])
        if isinstance(holder, list):
            holder.append(value)
        elif not key:
            if not isinstance(value, str):
                raise _refused(event, "a key that is no text")
            if value in holder:
                raise _refused(event, "a key that stands twice")
            key.append(value)
        else:
            holder[key.pop()] = value

    for event in events:
        if isinstance(event, yaml.AliasEvent) or getattr(event, "anchor", None) is not None:
            raise _refused(event, "an anchor or alias")
        if isinstance(event, yaml.NodeEvent):
            nodes += 1
            if nodes > _MAX_NODES or len(open_) > _MAX_DEPTH:
                raise _refused(event, "nesting or size beyond limits")
        if isinstance(event, yaml.ScalarEvent):
            put(event, _scalar(event))
        elif isinstance(event, yaml.SequenceStartEvent | yaml.MappingStartEvent):
            if event.tag not in (None, "tag:yaml.org,2002:seq", "tag:yaml.org,2002:map"):
                raise _refused(event, "a tag")
            made: Any = [] if isinstance(event, yaml.SequenceStartEvent) else {}
            if isinstance(open_[-1][0] if open_ else [], dict) and not open_[-1][1]:
                raise _refused(event, "a key that is no text")
            put(event, made)
            open_.append((made, []))
        elif isinstance(event, yaml.SequenceEndEvent | yaml.MappingEndEvent):
            open_.pop()
    return top[0] if len(top) == 1 else None


def _scalar(event: Any) -> Any:
    if event.tag == _BINARY:
        try:
            return base64.b64decode(event.value)
        except (binascii.Error, ValueError):
            raise _refused(event, "!!binary that is no base64") from None
    if event.tag not in _PLAIN_TAGS:
        raise _refused(event, "a tag")
    if not event.implicit[0] or event.tag is not None:
        return event.value
    if event.value.lower() in _WORDS:
        return _WORDS[event.value.lower()]
    if _INTEGER.fullmatch(event.value):
        return int(event.value)
    return float(event.value) if _REAL.fullmatch(event.value) else event.value
