"""Java: imports, names written out, environment reads, and what reaches past a program's own process."""

from __future__ import annotations

import re
from collections.abc import Iterator

from stages.assumptions.bound import Act, Lines, Text
from stages.assumptions.family import Family
from stages.assumptions.java_names import Names, chain, decode
from stages.assumptions.java_packages import Packages
from stages.assumptions.platforms import JAVA_CALLS, JAVA_NEW
from stages.assumptions.syntax import Node, Tree

_ENV = "java.lang.System.getenv"
_WHOLE = _ENV + "()"
_KEYED = frozenset(("get", "getOrDefault", "containsKey"))
_PROC = re.compile(r"/proc/(?:self|thread-self|\d+)/environ")


def read(tree: Tree) -> list[Act]:
    """What a file does, in the order of its text."""
    names = Names(tree)
    found: list[Act] = []
    for node in tree.nodes:
        kind = node.kind
        if kind == "import_declaration":
            found += _imported(node)
        elif kind in ("field_access", "scoped_type_identifier", "scoped_identifier"):
            found += _written_out(names, node)
        elif kind in ("string_fragment", "multiline_string_fragment"):
            path = _PROC.search(node.text[:10_000])
            if path:
                found.append(Act("env_escape", path[0], "a path in a text", node.lines))
        elif kind == "method_invocation":
            found += _called(names, node)
        elif kind == "object_creation_expression":
            found += _created(names, node)
        elif kind == "method_reference" and node.parts:
            found += _referred(names, node)
        if kind in ("method_invocation", "identifier") and id(node) not in names.bindings:
            found += _whole(names, node)
    return found


def _imported(node: Node) -> Iterator[Act]:
    name = re.sub(r"\s", "", node.parts[0].text) if node.parts else ""
    star = node.has("asterisk")
    if node.has("static"):
        name = name if star else name.rpartition(".")[0]
        yield Act("import", name, "static import", node.lines, (), True)
    else:
        yield Act("import", name, "import of all" if star else "import", node.lines, (), True, "*" if star else "")


def _written_out(names: Names, node: Node) -> Iterator[Act]:
    """A class named with its package where it is used."""
    if node.parent is not None and node.parent.kind in (node.kind, "import_declaration", "package_declaration"):
        return
    words = chain(node)
    if words is None or names.bound(words[0], node):
        return
    at = next((i for i, word in enumerate(words) if word[:1].isupper()), 0)
    if at >= 2 and all(word[:1].islower() for word in words[:at]):
        yield Act("import", ".".join(words[: at + 1]), "a name written out", node.lines, (), True)


def _called(names: Names, node: Node) -> Iterator[Act]:
    origin = names.origin(node)
    if origin is None:
        return
    name, via = origin.name, origin.via
    arguments = node.child("argument_list")
    given = arguments.parts if arguments is not None else []
    if name == _ENV:
        yield from _key(names.text(given[0]), _ENV, f"{_ENV}(...)", node.lines, via)
    elif name.startswith(_WHOLE + ".") and name.count(".") == _WHOLE.count(".") + 1:
        method = name.rpartition(".")[2]
        if method in _KEYED and given:
            yield from _key(names.text(given[0]), _ENV, f"{_WHOLE}.{method}(...)", node.lines, via)
        else:
            yield Act("env_escape", _ENV, f"{_WHOLE}.{method}(...)", node.lines, via)
    elif name == "java.lang.Class.forName":
        said = names.text(given[0]) if given else None
        if said is None:
            yield Act("dynamic_import", name, f"{name}(...), class unknown", node.lines, via)
        else:
            yield Act("import", said.value, f"{name}(...)", node.lines, (*via, *said.via), True)
    elif name in JAVA_CALLS:
        words = _words(names, given) if JAVA_CALLS[name] == "shell" else []
        yield Act(JAVA_CALLS[name], words[0] if words else name, f"{name}(...)", node.lines, via, bool(words))


def _created(names: Names, node: Node) -> Iterator[Act]:
    origin = names.origin(node)
    if origin is not None and origin.name in JAVA_NEW:
        arguments = node.child("argument_list")
        words = _words(names, arguments.parts) if arguments is not None and JAVA_NEW[origin.name] == "shell" else []
        how = f"new {origin.name}(...)"
        yield Act(JAVA_NEW[origin.name], words[0] if words else origin.name, how, node.lines, origin.via, bool(words))


def _words(names: Names, given: list[Node]) -> list[str]:
    """The words of a command: of a text, or of the first text in a written-out array or list."""
    first = given[0] if given else None
    for _ in range(3):
        if first is None:
            return []
        if first.kind == "array_creation_expression":
            first = first.child("array_initializer")
        elif first.kind == "array_initializer":
            first = first.parts[0] if first.parts else None
        elif first.kind == "method_invocation" and first.parts[-1].kind == "argument_list":
            if [part.text for part in first.parts[:-1]] not in (["List", "of"], ["Arrays", "asList"]):
                return []
            first = first.parts[-1].parts[0] if first.parts[-1].parts else None
        else:
            break
    found = names.text(first)
    return found.value.split() if found is not None else []


def _referred(names: Names, node: Node) -> Iterator[Act]:
    origin = names.origin(node.parts[0])
    if origin is not None and f"{origin.name}.{node.parts[-1].text}" == _ENV:
        yield Act("opaque", _ENV, "handed on", node.lines, origin.via)


def _whole(names: Names, node: Node) -> Iterator[Act]:
    """What is done with the whole environment, from the expression that stands for it outwards."""
    outer = node.parent
    if outer is None or (node.kind == "identifier" and not names.value(node)):
        return
    origin = names.origin(node)
    if origin is None or origin.name != _WHOLE:
        return
    inner = node
    while outer is not None and outer.kind in ("parenthesized_expression", "cast_expression"):
        inner, outer = outer, outer.parent
    if outer is None or (outer.kind == "method_invocation" and outer.parts[0] is inner):
        return  # seen at the call
    if outer.kind in ("variable_declarator", "expression_statement") or (
        outer.kind == "assignment_expression" and outer.parts[0].kind in ("identifier", "field_access")
    ):
        return
    yield Act("env_escape", _ENV, "handed on whole", node.lines, origin.via)


def _key(key: Text | None, symbol: str, how: str, lines: Lines, via: tuple[Lines, ...]) -> Iterator[Act]:
    if key is None:
        yield Act("opaque", symbol, f"{how}, key unknown", lines, via)
    else:
        yield Act("environment", key.value, how, lines, (*via, *key.via), True)


LANGUAGE = Family("Java", (".java",), lambda path: "java", decode, read, Packages)  # noqa: ARG005
