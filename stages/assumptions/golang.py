"""Go: imports, environment reads, and what reaches past a program's own process."""

from __future__ import annotations

import re
from collections.abc import Iterator

from stages.assumptions import syntax
from stages.assumptions.bound import Act, Lines, Name, Origin, Scopes, Text, text_of
from stages.assumptions.family import Family
from stages.assumptions.golang_modules import Modules
from stages.assumptions.platforms import GO_CALLS, GO_ENV_READS
from stages.assumptions.syntax import Node, Tree
from stages.assumptions.tables import words

_BLOCKS = words("block if_statement for_statement expression_switch_statement type_switch_statement")
_BLOCKS |= words("select_statement expression_case type_case default_case communication_case")
_FUNCTIONS = words("function_declaration method_declaration func_literal")
_STRINGS = frozenset(("interpreted_string_literal", "raw_string_literal"))
_EXPANDED = re.compile(r"\$(?:(\w+)|\{([^}]*)\})", re.ASCII)
_PROC = re.compile(r"/proc/(?:self|thread-self|\d+)/environ")
_SIMPLE = re.compile(r'\\(?:x([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|([0-7]{3})|([abfnrtv\\\'"]))')
_SHORT = dict(zip("abfnrtv\\'\"", "\a\b\f\n\r\t\v\\'\"", strict=True))
_MAX_STEPS = 12


def read(tree: Tree) -> list[Act]:
    """What a file does, in the order of its text."""
    names = _Names(tree)
    found: list[Act] = []
    for node in tree.nodes:
        if node.kind == "import_spec":
            found += _imported(node)
        elif node.kind in _STRINGS:
            path = _PROC.search(node.text[:10_000])
            if path:
                found.append(Act("env_escape", path[0], "a path in a text", node.lines))
        elif node.kind in ("selector_expression", "identifier") and id(node) not in names.bindings:
            origin = names.origin(node)
            if origin is not None:
                found += _used(names, node, origin)
    return found


def _imported(node: Node) -> Iterator[Act]:
    path = literal(node.parts[-1]) if node.parts else None
    if path is None:
        return
    alias = node.parts[0].text if len(node.parts) > 1 else ""
    how = {"": "import", "_": "blank import", ".": "dot import"}.get(alias, f"import as {alias[:40]}")
    if path == "C":
        yield Act("native", "C", "cgo", node.lines, (), True)
    else:
        yield Act("import", path, how, node.lines, (), True)


def _used(names: _Names, node: Node, origin: Origin) -> Iterator[Act]:
    name, via = origin
    inner, outer = node, node.parent
    while outer is not None and outer.kind == "parenthesized_expression":
        inner, outer = outer, outer.parent
    called = outer is not None and outer.kind == "call_expression" and outer.parts[0] is inner
    lines = outer.lines if called and outer is not None else node.lines
    given = outer.parts[-1].parts if called and outer is not None else []
    if name in GO_ENV_READS:
        if called:
            key = names.text(given[0]) if given else None
            yield from _key(key, name, f"{name}(...)", lines, via)
        elif not _kept(inner, outer):
            yield Act("opaque", name, "handed on", lines, via)
    elif name == "os.ExpandEnv" and called:
        text = names.text(given[0]) if given else None
        if text is None:
            yield from _key(None, name, f"{name}(...)", lines, via)
        for plain, braced in _EXPANDED.findall(text.value) if text else []:
            yield Act("environment", plain or braced, f"{name}(...)", lines, via, True)
    elif name in GO_CALLS and (called or not _kept(inner, outer)):
        kind = GO_CALLS[name]
        symbol, known = name, False
        if called and kind in ("shell", "env_write"):
            at = 1 if name.endswith("CommandContext") else 0
            text = names.text(given[at]) if len(given) > at else None
            words = text.value.split() if text else []
            symbol, known = (words[0], True) if words else (name, False)
        yield Act(kind, symbol, f"{name}(...)" if called else f"{name}, handed on", lines, via, known)


def _kept(inner: Node, outer: Node | None) -> bool:
    """Whether a function's value only gets a name that is followed."""
    if outer is None or outer.kind == "expression_list":
        return outer is None or (
            outer.parent is not None and outer.parent.kind in (*_DECLARING, "assignment_statement")
        )
    return outer.kind in _DECLARING and outer.parts[0] is not inner


_DECLARING = frozenset(("short_var_declaration", "var_spec", "const_spec"))


def _key(key: Text | None, symbol: str, how: str, lines: Lines, via: tuple[Lines, ...]) -> Iterator[Act]:
    if key is None:
        yield Act("opaque", symbol, f"{how}, key unknown", lines, via)
    else:
        yield Act("environment", key.value, how, lines, (*via, *key.via), True)


class _Names:
    """What names stand for in one file. A package's name is taken to be the last word of its path."""

    def __init__(self, tree: Tree) -> None:
        self.scopes = Scopes(tree, lambda n: True if n.kind in _FUNCTIONS else False if n.kind in _BLOCKS else None)
        self.bindings: set[int] = set()
        self._dots: list[Name] = []
        for node in tree.nodes:
            self._bind(node)
        for node in tree.nodes:
            if node.kind == "assignment_statement" and node.parts:
                self._declared(node, False)

    def text(self, node: Node | None) -> Text | None:
        return text_of(node, literal, _joined, self._look)

    def origin(self, node: Node) -> Origin | None:
        """`os.Getenv` for what comes from an import, None for all else."""
        via: list[Lines] = []
        for _ in range(_MAX_STEPS):
            if node.kind == "parenthesized_expression" and node.parts:
                node = node.parts[0]
            elif node.kind == "selector_expression" and len(node.parts) == 2 and node.parts[0].kind == "identifier":
                bound = self._look(node.parts[0])
                if not bound or bound[0].origin is None:
                    return None
                return Origin(f"{bound[0].origin}.{node.parts[1].text}", (*via, bound[0].lines))
            elif node.kind == "identifier":
                bound = self._look(node)
                if bound is None:  # no name of this file: of a dot import, perhaps
                    known = GO_ENV_READS | GO_CALLS.keys() | {"os.ExpandEnv"}
                    dots = [dot for dot in self._dots if f"{dot.origin}.{node.text}" in known]
                    return Origin(f"{dots[0].origin}.{node.text}", (*via, dots[0].lines)) if dots else None
                valued = [each for each in bound if each.value is not None]
                if len(bound) != 1 or not valued or valued[0].value is None:
                    return None
                via.append(bound[0].lines)
                node = valued[0].value
            else:
                return None
        return None

    def _look(self, node: Node) -> list[Name] | None:
        return self.scopes.around(node).look(node.text) if node.kind == "identifier" else None

    def _bind(self, node: Node) -> None:
        kind, parts, scope = node.kind, node.parts, self.scopes.around(node)
        if kind == "import_spec" and parts:
            path = literal(parts[-1]) or ""
            alias = parts[0].text if len(parts) > 1 else _last(path)
            bound = Name(node.lines, path)
            if alias == ".":
                self._dots.append(bound)
            else:
                self.scopes.top.bind(alias, bound)
        elif kind in _DECLARING:
            self._declared(node, True)
        elif kind in ("parameter_declaration", "variadic_parameter_declaration"):
            for part in parts[:-1]:
                if part.kind == "identifier":
                    self._name(part, Name(node.lines), node)
        elif kind == "range_clause" and node.has(":="):
            for part in parts[0].parts:
                self._name(part, Name(node.lines), node)
        elif kind == "type_switch_statement" and node.has(":=") and parts:
            for part in parts[0].parts:
                self.bindings.add(id(part))
                self.scopes.of(node).bind(part.text, Name(node.lines))
        elif kind in ("function_declaration", "type_spec", "type_alias", "type_parameter_declaration") and parts:
            self.bindings.add(id(parts[0]))
            scope.bind(parts[0].text, Name(parts[0].lines))

    def _declared(self, node: Node, new: bool) -> None:
        """Names on the left, values on the right, where there are as many of them."""
        parts = node.parts
        if node.kind in ("const_spec", "var_spec"):
            left = [part for part in parts if part.kind == "identifier"]
            values = parts[-1].parts if parts[-1].kind == "expression_list" else []
        else:
            left, values = parts[0].parts, parts[-1].parts if len(parts) > 1 else []
        plain = new or node.has("=")
        for i, part in enumerate(left):
            if part.kind != "identifier":
                continue
            value = values[i] if len(values) == len(left) and plain else None
            bound = Name(node.lines, None, value)
            if new:
                self._name(part, bound, node)
                continue
            scope = self.scopes.around(node)
            while part.text not in scope.names and scope.parent is not None:
                scope = scope.parent
            if part.text in scope.names:
                scope.bind(part.text, bound)

    def _name(self, part: Node, bound: Name, at: Node) -> None:
        self.bindings.add(id(part))
        if part.text != "_":
            self.scopes.around(at).bind(part.text, bound)


def literal(node: Node) -> str | None:
    if node.kind == "raw_string_literal":
        return node.text[1:-1].replace("\r", "")
    return _SIMPLE.sub(_unescaped, node.text[1:-1]) if node.kind == "interpreted_string_literal" else None


def _unescaped(match: re.Match[str]) -> str:
    digits = match[1] or match[2] or match[3]
    if digits:
        return chr(min(int(digits, 16), 0x10FFFF))
    return chr(int(match[4], 8)) if match[4] else _SHORT[match[5]]


def _joined(node: Node) -> list[Node] | None:
    if node.kind == "binary_expression" and node.has("+"):
        return node.parts
    return node.parts[:1] if node.kind == "parenthesized_expression" and node.parts else None


def _last(path: str) -> str:
    """The name that a package is called by: without a major version, `go-` or `.go`."""
    parts = [part for part in path.split("/") if not re.fullmatch(r"v\d+", part)] or [path]
    return re.sub(r"^go-|\.go$|\.v\d+$", "", parts[-1])


LANGUAGE = Family("Go", (".go",), lambda path: "go", syntax.decode, read, Modules)  # noqa: ARG005
