"""Bounded YAML without tags, aliases or surprises.

What is read is the core schema of YAML 1.2, as DVC reads `params.yaml`: `yes` is a string, numbers with a point are
exact decimals. Repeated keys, tags, anchors, several documents and deep nesting are refused.
"""

from __future__ import annotations

import re
from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import Any

import yaml

from stages.contract import limits
from stages.contract.errors import InputError
from stages.contract.text import decode, kind, read_bytes


def _refusal(what: str, mark: Any) -> yaml.MarkedYAMLError:
    return yaml.MarkedYAMLError(problem=what, problem_mark=mark)


# A NUL and half of a surrogate pair: escapes can write them.
_NO_TEXT = re.compile("[\0\ud800-\udfff]")


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
        if isinstance(event, yaml.ScalarEvent) and _NO_TEXT.search(event.value):
            raise _refusal("an escaped character that is no text", event.start_mark)
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
    try:
        return Decimal(text)
    except InvalidOperation:
        raise _refusal("a number beyond all bounds", node.start_mark) from None


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
            raise _refusal(f"a key that is no text ({kind(key)})", key_node.start_mark)
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
    _Loader.add_implicit_resolver(_tag, re.compile(rf"^(?:{_pattern})\Z"), _first)
_Loader.add_constructor("tag:yaml.org,2002:float", _number)
_Loader.add_constructor("tag:yaml.org,2002:int", _integer)
_Loader.add_constructor("tag:yaml.org,2002:map", _mapping)


def parse_yaml(where: object, text: str) -> Any:
    """One YAML document as plain dicts, lists, str, int, Decimal, bool, None. Raises InputError."""
    line = ""
    try:
        return yaml.load(text, Loader=_Loader)
    except yaml.MarkedYAMLError as error:
        problem, mark = error.problem, error.problem_mark or error.context_mark
        line = f":{mark.line + 1}" if mark is not None else ""
    except yaml.reader.ReaderError as error:
        problem = f"the character U+{error.character:04X}"
        line = f":{text.count(chr(10), 0, error.position) + 1}"
    except (yaml.YAMLError, RecursionError, ValueError) as error:
        problem = str(error)
    expected = "plain YAML without tags, anchors or repeated keys"
    raise InputError(f"{where}{line}", f"can't be read as YAML: {problem}", expected)


def read_yaml(path: Path) -> dict[str, Any]:
    """A YAML file whose top level is a mapping."""
    value = parse_yaml(path, decode(path, read_bytes(path, limits.MAX_YAML_BYTES, "a YAML file")))
    if not isinstance(value, dict):
        raise InputError(path, f"holds {kind(value)} at the top", "a mapping of keys")
    return value


class _Quoted(yaml.SafeDumper):
    """All text in quotes and nothing by reference: any YAML reads it back as it is."""

    def ignore_aliases(self, data: Any) -> bool:  # noqa: ARG002
        return True


_Quoted.add_representer(str, lambda to, text: to.represent_scalar("tag:yaml.org,2002:str", text, style='"'))


def written(value: dict[str, Any]) -> bytes:
    """JSON-ready data as YAML that `read_yaml` reads as the same data."""
    text: str = yaml.dump(value, Dumper=_Quoted, sort_keys=False)
    return text.encode()
