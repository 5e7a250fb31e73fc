"""Rust: imports, paths written out, environment reads, and what reaches past a program's own process."""

from __future__ import annotations

import re
from collections.abc import Iterator

from stages.assumptions import syntax
from stages.assumptions.bound import Act, Lines, Text
from stages.assumptions.family import Family
from stages.assumptions.platforms import CARGO_SETS, CARGO_SETS_WHOLE, RUST_CALLS, RUST_ENV_READS
from stages.assumptions.rust_crates import Crates
from stages.assumptions.rust_names import Names
from stages.assumptions.rust_paths import Path, in_tokens, literal, segments
from stages.assumptions.syntax import Node, Tree
from stages.assumptions.tables import words

_PROC = re.compile(r"/proc/(?:self|thread-self|\d+)/environ")
_PATHS = frozenset(("scoped_identifier", "scoped_type_identifier"))
_WORDS = frozenset(("identifier", "type_identifier"))
_OPTIONS = words("arg clap command structopt")


def read(tree: Tree) -> list[Act]:
    """What a file does, in the order of its text."""
    names = Names(tree)
    found: list[Act] = [*names.imports]
    for node in tree.nodes:
        kind = node.kind
        if kind == "string_content":
            file = _PROC.search(node.text[:10_000])
            if file:
                found.append(Act("env_escape", file[0], "a path in a text", node.lines))
        elif kind == "token_tree":
            for written, after in in_tokens(node):
                found += _used(names, written, after, node)
            found += _macros(names, node)
        elif kind == "macro_invocation" and node.parts:
            found += _compiled(names, segments(node.parts[0]), node.parts[-1], node.lines)
        elif kind == "attribute" and node.parts and node.parts[0].text in _OPTIONS:
            found += _option(node)
        elif kind == "foreign_mod_item" and any(n.kind == "function_signature_item" for n in node.walk()):
            found.append(Act("native", node.text.partition("{")[0].strip()[:40], "foreign functions", node.lines))
        elif id(node) not in names.inner and (kind in _PATHS or (kind in _WORDS and names.stands(node))):
            path = segments(node)
            found += _used(names, path, _around(node), node) if path is not None else []
    return found


def _around(node: Node) -> Node | None:
    """The call's arguments where a path is called."""
    outer = node.parent
    if outer is not None and outer.kind == "generic_function":
        node, outer = outer, outer.parent
    called = outer is not None and outer.kind == "call_expression" and outer.parts[0] is node
    return outer.parts[-1] if called and outer is not None else None


def _used(names: Names, path: Path, arguments: Node | None, at: Node) -> Iterator[Act]:
    origin, bound, via = names.resolve(path, at)
    lines = path.lines if arguments is None else (path.lines[0], max(path.lines[1], arguments.lines[1]))
    if origin is None:
        return
    if not bound and len(path.names) > 1:
        yield Act("import", origin, "a path written out", path.lines, (), True, names.loose)
    if origin in RUST_ENV_READS:
        if arguments is not None:
            key = names.argument(arguments)
            if key is None:
                yield Act("opaque", origin, f"{origin}(...), key unknown", lines, via)
            else:
                yield Act("environment", key.value, f"{origin}(...)", lines, (*via, *key.via), True)
        elif not _kept(at):
            yield Act("opaque", origin, "handed on", lines, via)
    elif origin in RUST_CALLS and (arguments is not None or not _kept(at)):
        kind = RUST_CALLS[origin]
        key = names.argument(arguments) if arguments is not None and kind in ("shell", "env_write") else None
        words = key.value.split() if key is not None else []
        how = f"{origin}(...)" if arguments is not None else f"{origin}, handed on"
        yield Act(kind, words[0] if words else origin, how, lines, via, bool(words))


def _kept(node: Node) -> bool:
    """Whether a function's value only gets a name that is followed."""
    return node.parent is not None and node.parent.kind == "let_declaration"


def _macros(names: Names, tokens: Node) -> Iterator[Act]:
    """`env!` among the tokens of another macro."""
    row = tokens.children
    for i, node in enumerate(row[:-2]):
        if node.kind == "identifier" and row[i + 1].kind == "!" and row[i + 2].kind == "token_tree":
            path = Path([node.text], False, node.lines)
            yield from _compiled(names, path, row[i + 2], (node.line, row[i + 2].lines[1]))


def _compiled(names: Names, path: Path | None, tokens: Node, lines: Lines) -> Iterator[Act]:
    """`env!` and `option_env!`, which read when the program is compiled."""
    if path is None or path.names[-1] not in ("env", "option_env") or path.names[:-1] not in ([], ["std"], ["core"]):
        return
    macro = path.names[-1] + "!"
    key: Text | None = names.argument(tokens)
    if key is None:
        yield Act("opaque", macro, f"{macro}(...), key unknown", lines)
    elif not key.value.startswith(CARGO_SETS) and key.value not in CARGO_SETS_WHOLE:
        yield Act("environment", key.value, f"{macro}(...), read when compiled", lines, key.via, True)


def _option(attribute: Node) -> Iterator[Act]:
    """A command line's option that names a variable: `#[arg(env = "TOKEN")]`."""
    tokens = attribute.child("token_tree")
    row = tokens.children if tokens is not None else []
    for i, node in enumerate(row[:-2]):
        key = literal(row[i + 2])
        if node.text == "env" and row[i + 1].kind == "=" and key is not None:
            yield Act("environment", key, "an option's variable", row[i + 2].lines, (), True)


LANGUAGE = Family("Rust", (".rs",), lambda path: "rust", syntax.decode, read, Crates)  # noqa: ARG005
