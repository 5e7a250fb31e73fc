"""JavaScript and TypeScript: imports, environment reads, and what reaches past a program's own process."""

from __future__ import annotations

import re
from collections.abc import Iterator

from stages.assumptions.bound import Act, Lines, Text
from stages.assumptions.family import Family
from stages.assumptions.javascript_grammar import decode, grammar
from stages.assumptions.javascript_modules import Modules
from stages.assumptions.javascript_names import Names
from stages.assumptions.javascript_syntax import PATTERNS, carried, key_of, literal, name_of
from stages.assumptions.platforms import JS_CALLS, JS_ENV_READS, JS_ENV_WRITES
from stages.assumptions.syntax import Node, Tree
from stages.assumptions.tables import words

_ENV = frozenset(("process.env", "import.meta.env", "Bun.env"))
_BUILT_IN = frozenset(("MODE", "BASE_URL", "PROD", "DEV", "SSR"))  # of import.meta.env, replaced by the bundler
_PROC = re.compile(r"/proc/(?:self|thread-self|\d+)/environ")
_ASKING = ("hasOwnProperty", "propertyIsEnumerable")
_LOOKED_AT = words("expression_statement if_statement while_statement do_statement binary_expression")


def read(tree: Tree) -> list[Act]:
    """What a file does, in the order of its text."""
    names = Names(tree)
    found: list[Act] = []
    for node in tree.nodes:
        kind = node.kind
        if kind in ("import_statement", "export_statement"):
            found += _static(node)
        elif kind in ("call_expression", "new_expression"):
            found += _called(names, node)
        elif kind in ("string_fragment", "template_string"):
            path = _PROC.search(node.text[:10_000]) if kind == "string_fragment" else None
            if path:
                found.append(Act("env_escape", path[0], "a path in a text", node.lines))
        elif kind in ("variable_declarator", "assignment_expression", "assignment_pattern", "required_parameter"):
            found += _taken_apart(names, node)
        if kind in ("identifier", "member_expression", "subscript_expression", "shorthand_property_identifier"):
            found += _stood_for(names, node)
    return found


def _static(node: Node) -> Iterator[Act]:
    clause = node.child("import_require_clause")
    source = (clause or node).child("string")
    if source is None:
        return
    how = "re-export" if node.kind == "export_statement" else "import"
    specifiers = [part for part in node.walk() if part.kind in ("import_specifier", "export_specifier")]
    named = node.child("import_clause")
    only = named is None or all(part.kind == "named_imports" for part in named.parts)
    if node.has("type") or node.has("typeof") or (specifiers and only and all(s.has("type") for s in specifiers)):
        how += " of types only"
    yield Act("import", literal(source) or "", how, node.lines, known=True)


def _called(names: Names, node: Node) -> Iterator[Act]:
    parts = node.parts
    required = names.required(node)
    if required is not None:
        how = f"{parts[0].text[:40]}(...)"
        found = names.text(required)
        if found is None:
            yield Act("dynamic_import", parts[0].text[:40], f"{how}, module unknown", node.lines)
        else:
            yield Act("import", found.value, how, node.lines, found.via, True)
        return
    origin = names.origin(parts[0]) if parts else None
    if origin is None:
        return
    arguments = parts[-1].parts if len(parts) > 1 and parts[-1].kind == "arguments" else []
    given = arguments[0] if arguments else parts[-1] if parts[-1].kind == "template_string" else None
    shown = origin.name.removeprefix("module:")
    how = f"{shown}(...)"
    if origin.name in JS_ENV_READS:
        yield from _key(names.text(given), shown, how, node.lines, origin.via)
    elif origin.name in JS_ENV_WRITES:
        key = names.text(given)
        yield Act("env_write", key.value if key else shown, how, node.lines, origin.via)
    elif origin.name == "Deno.env.toObject":
        yield Act("env_escape", "Deno.env", how, node.lines, origin.via)
    elif origin.name in JS_CALLS:
        kind = JS_CALLS[origin.name]
        command = names.text(given) if kind == "shell" else None
        words = command.value.split() if command else _first_word(given)
        yield Act(kind, words[0] if words else shown, how, node.lines, origin.via, bool(words))


def _first_word(given: Node | None) -> list[str]:
    """The first word of a template that goes on with what isn't known."""
    if given is None or given.kind != "template_string" or not given.parts:
        return []
    lead = literal(given.parts[0]) or ""
    return lead.split()[:1] if re.match(r"\s*\S+\s", lead) else []


def _stood_for(names: Names, node: Node) -> Iterator[Act]:
    """What is done with an expression that stands for the environment, or for a function that reads it."""
    if id(node) in names.bindings:
        return
    origin = names.origin(node)
    if origin is None:
        return
    if origin.name in _ENV or origin.name == "Deno.env":
        yield from _whole(names, node, origin.name, origin.via)
    elif node.kind == "subscript_expression" or origin.name not in JS_CALLS.keys() | JS_ENV_READS:
        yield from _unknown(names, node)
    else:
        _, outer = carried(node)
        if outer is not None and outer.kind == "arguments":
            kind = "opaque" if origin.name in JS_ENV_READS else JS_CALLS[origin.name]
            if kind in ("opaque", "shell", "exec"):
                yield Act(kind, origin.name.removeprefix("module:"), "handed on", node.lines, origin.via)


def _unknown(names: Names, node: Node) -> Iterator[Act]:
    """`process[...]` by a name that can't be known."""
    outer = node.parent
    if node.kind == "identifier" and outer is not None and outer.kind == "subscript_expression":
        origin = names.origin(node)
        known = outer.parts[0] is not node or names.text(outer.parts[-1]) is not None
        if origin is not None and origin.name == "process" and not known:
            yield Act("opaque", "process", "process[...], name unknown", outer.lines, origin.via)


def _whole(names: Names, node: Node, env: str, via: tuple[Lines, ...]) -> Iterator[Act]:
    inner, outer = carried(node)
    if outer is None or outer.kind in _LOOKED_AT - {"binary_expression"}:
        return
    parts = outer.parts
    if outer.kind == "member_expression" and parts[0] is inner:
        if env != "Deno.env":
            yield from _access(outer, name_of(parts[-1]), names, env, via)
    elif outer.kind == "subscript_expression" and parts[0] is inner:
        key = names.text(parts[-1])
        if key is None:
            yield from _key(None, env, f"{env}[...]", outer.lines, via)
        else:
            yield from _access(outer, key.value, names, env, (*via, *key.via))
    elif outer.kind == "binary_expression":
        if outer.has("in") and parts[-1] is inner:
            yield from _key(names.text(parts[0]), env, f"... in {env}", outer.lines, via)
    elif outer.kind == "unary_expression":
        if outer.has("delete"):
            yield Act("env_write", env, "the environment deleted", outer.lines, via)
    elif outer.kind == "ternary_expression":
        return  # its test
    elif outer.kind == "assignment_expression" and parts[0] is inner:
        if node.kind != "identifier":
            yield Act("env_write", env, "the environment replaced", outer.lines, via)
    elif _tracked(outer):
        return
    else:
        yield Act("env_escape", env, "handed on whole", node.lines, via)


def _tracked(outer: Node) -> bool:
    """Whether the value only gets names that are followed from here on."""
    if outer.kind not in ("variable_declarator", "assignment_expression", "assignment_pattern", "required_parameter"):
        return False
    target = outer.parts[0]
    if target.kind == "object_pattern":
        return True  # seen where it is taken apart
    above = outer.parent.parent if outer.parent is not None else None
    exported = outer.kind == "variable_declarator" and above is not None and above.kind == "export_statement"
    return target.kind == "identifier" and not exported


def _access(node: Node, key: str, names: Names, env: str, via: tuple[Lines, ...]) -> Iterator[Act]:
    """One key of the environment, read or written."""
    inner, outer = carried(node)
    how = f"{env}[...]" if node.kind == "subscript_expression" else env
    if outer is not None:
        written = outer.kind == "assignment_expression" and outer.parts[0] is inner
        if written or (outer.kind == "unary_expression" and outer.has("delete")):
            yield Act("env_write", key, how, node.lines, via)
            return
        if outer.kind == "call_expression" and outer.parts[0] is inner and key in _ASKING:
            given = outer.parts[-1].parts
            yield from _key(names.text(given[0]) if given else None, env, f"{env}.{key}(...)", outer.lines, via)
            return
    if env != "import.meta.env" or key not in _BUILT_IN:
        yield Act("environment", key, how, node.lines, via, True)


def _taken_apart(names: Names, node: Node) -> Iterator[Act]:
    """`const { env: { KEY } } = process`, in declarations, assignments and default arguments."""
    parts = node.parts
    if len(parts) < 2 or parts[0].kind not in PATTERNS or not node.has("="):
        return
    origin = names.origin(parts[-1])
    if origin is None:
        return
    stack = [(parts[0], origin.name)]
    while stack:
        pattern, name = stack.pop()
        for part in pattern.parts if pattern.kind == "object_pattern" else []:
            env = name if name in _ENV else ""
            if part.kind == "rest_pattern":
                if env:
                    yield Act("env_escape", env, "the rest of it", part.lines, origin.via)
                continue
            key = key_of(part if part.kind.startswith("shorthand") else part.parts[0])
            if env and (env != "import.meta.env" or key not in _BUILT_IN):
                found = Text(key) if key is not None else names.text(part.parts[0].parts[0])
                yield from _key(found, env, f"{{...}} = {env}", part.lines, origin.via)
            elif part.kind == "pair_pattern" and key is not None and not env:
                inner = part.parts[-1]
                inner = inner.parts[0] if inner.kind == "assignment_pattern" else inner
                stack.append((inner, f"{name}.{key}"))


def _key(key: Text | None, symbol: str, how: str, lines: Lines, via: tuple[Lines, ...]) -> Iterator[Act]:
    if key is None:
        yield Act("opaque", symbol, f"{how}, key unknown", lines, via)
    else:
        yield Act("environment", key.value, how, lines, (*via, *key.via), True)


LANGUAGE = Family(
    "JavaScript and TypeScript",
    (".js", ".jsx", ".mjs", ".cjs", ".ts", ".tsx", ".mts", ".cts"),
    grammar,
    decode,
    read,
    Modules,
    (rb"node", rb"deno", rb"bun", rb"tsx", rb"ts-node"),
)
