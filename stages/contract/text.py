"""Files that people write, read safely: UTF-8 only, bounded YAML without tags or aliases, strict JSON.

The YAML read here is the core schema of YAML 1.2, as DVC reads `params.yaml`: `yes` is a string, numbers with
a point are exact decimals. Duplicate keys, tags, anchors, several documents and deep nesting are refused.
"""

from __future__ import annotations

import json
import re
from decimal import Decimal
from pathlib import Path
from typing import Any

import yaml

from stages.contract import limits
from stages.contract.errors import InputError, MissingInput


def read_bytes(path: Path, limit: int, what: str = "a file") -> bytes:
    """Bytes of a regular file of at most `limit` bytes. Raises MissingInput or InputError."""
    try:
        if path.is_dir():
            raise InputError(path, "is a folder", what)
        if not path.exists():
            raise MissingInput(path, "doesn't exist", what)
        if not path.is_file():
            raise InputError(path, "is no regular file", what)
        with path.open("rb") as stream:
            data = stream.read(limit + 1)
    except OSError as error:
        raise InputError(path, f"can't be read ({error.strerror})", what) from None
    if len(data) > limit:
        raise InputError(path, f"is larger than {limit:,} bytes", f"at most {limit:,}")
    return data


def decode(path: object, data: bytes) -> str:
    """UTF-8 text. A byte-order mark and NUL bytes are refused, since tools disagree on them."""
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise InputError(path, f"byte {error.start} isn't UTF-8", "UTF-8 text", "save it as UTF-8") from None
    if text.startswith("\ufeff"):
        raise InputError(path, "starts with a byte-order mark", "plain UTF-8", "save it without a BOM")
    if "\0" in text:
        raise InputError(path, "has a NUL character", "text")
    return text


def _refusal(what: str, mark: Any) -> yaml.MarkedYAMLError:
    return yaml.MarkedYAMLError(problem=what, problem_mark=mark)


class _Loader(yaml.SafeLoader):
    """Core-schema loader that refuses what can surprise or explode."""

    yaml_implicit_resolvers: dict[Any, Any] = {}
    depth = 0
    nodes = 0

    def compose_node(self, parent: Any, index: Any) -> Any:
        event = self.peek_event()  # type: ignore[no-untyped-call]
        if isinstance(event, yaml.AliasEvent):
            raise _refusal("an alias (*name)", event.start_mark)
        if getattr(event, "anchor", None) is not None:
            raise _refusal("an anchor (&name)", event.start_mark)
        if getattr(event, "tag", None) is not None:
            raise _refusal(f"a tag ({event.tag})", event.start_mark)
        self.depth += 1
        self.nodes += 1
        if self.depth > limits.MAX_YAML_DEPTH or self.nodes > limits.MAX_YAML_NODES:
            raise _refusal("nesting or size beyond limits", event.start_mark)
        node = super().compose_node(parent, index)
        self.depth -= 1
        return node


def _number(loader: _Loader, node: yaml.ScalarNode) -> Decimal:
    text = loader.construct_scalar(node)
    if "n" in text.lower():  # .nan, .inf
        raise _refusal(f"{text}, which is no finite number", node.start_mark)
    return Decimal(text)


def _integer(loader: _Loader, node: yaml.ScalarNode) -> int:
    text = loader.construct_scalar(node)
    if len(text) > 60:
        raise _refusal("an integer of over 60 digits", node.start_mark)
    return int(text, 0) if text.lower().startswith(("0o", "0x")) else int(text, 10)


def _mapping(loader: _Loader, node: yaml.MappingNode) -> dict[str, Any]:
    result: dict[str, Any] = {}
    for key_node, value_node in node.value:
        key = loader.construct_object(key_node, deep=True)
        if not isinstance(key, str):
            raise _refusal(f"a key that is no text ({key!r})", key_node.start_mark)
        if key in result:
            raise _refusal(f"the key {key!r} twice", key_node.start_mark)
        result[key] = loader.construct_object(value_node, deep=True)
    return result


_CORE = [
    ("tag:yaml.org,2002:null", r"~|null|Null|NULL|", ["~", "n", "N", ""]),
    ("tag:yaml.org,2002:bool", r"true|True|TRUE|false|False|FALSE", list("tTfF")),
    ("tag:yaml.org,2002:int", r"[-+]?[0-9]+|0o[0-7]+|0x[0-9a-fA-F]+", list("-+0123456789")),
    (
        "tag:yaml.org,2002:float",
        r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?|[-+]?(\.inf|\.Inf|\.INF)|\.nan|\.NaN|\.NAN",
        list("-+0123456789."),
    ),
]
for _tag, _pattern, _first in _CORE:
    _Loader.add_implicit_resolver(_tag, re.compile(rf"^(?:{_pattern})$"), _first)
_Loader.add_constructor("tag:yaml.org,2002:float", _number)
_Loader.add_constructor("tag:yaml.org,2002:int", _integer)
_Loader.add_constructor("tag:yaml.org,2002:map", _mapping)


def parse_yaml(where: object, text: str) -> Any:
    """One YAML document as plain dicts, lists, str, int, Decimal, bool, None. Raises InputError."""
    try:
        return yaml.load(text, Loader=_Loader)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark
        line = f":{mark.line + 1}" if mark is not None else ""
        raise InputError(
            f"{where}{line}",
            f"can't be read as YAML: {error.problem}",
            "plain YAML without tags, anchors or repeated keys",
        ) from None
    except yaml.YAMLError as error:
        raise InputError(where, f"can't be read as YAML: {error}", "plain YAML") from None
    except (RecursionError, ValueError) as error:
        raise InputError(where, f"can't be read as YAML: {error}", "plain YAML") from None


def read_yaml(path: Path) -> dict[str, Any]:
    """A YAML file whose top level is a mapping."""
    value = parse_yaml(path, decode(path, read_bytes(path, limits.MAX_YAML_BYTES, "a YAML file")))
    if not isinstance(value, dict):
        raise InputError(path, f"holds {_kind(value)} at the top", "a mapping of keys")
    return value


def _kind(value: Any) -> str:
    return "nothing" if value is None else f"a {type(value).__name__}"


def _pairs(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    result = dict(pairs)
    if len(result) != len(pairs):
        raise ValueError("a key stands twice")
    return result


def _constant(name: str) -> Any:
    raise ValueError(f"{name} is no JSON number")


def parse_json(where: object, data: bytes) -> Any:
    """Strict JSON: no NaN, no repeated keys, bounded depth. Raises InputError."""
    text = decode(where, data)
    try:
        return json.loads(text, object_pairs_hook=_pairs, parse_constant=_constant)
    except (ValueError, RecursionError) as error:
        raise InputError(where, f"can't be read as JSON: {error}", "strict JSON") from None


def read_json(path: Path, limit: int = limits.MAX_JSON_BYTES) -> dict[str, Any]:
    """A JSON file whose top level is an object."""
    value = parse_json(path, read_bytes(path, limit, "a JSON file"))
    if not isinstance(value, dict):
        raise InputError(path, f"holds {_kind(value)} at the top", "an object")
    return value
