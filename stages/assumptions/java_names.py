"""Java: what names and expressions stand for, as far as one file says."""

from __future__ import annotations

import re

from stages.assumptions import syntax
from stages.assumptions.bound import Lines, Name, Origin, Scope, Scopes, Text, text_of
from stages.assumptions.platforms import JAVA_CALLS, JAVA_LANG, JAVA_NEW
from stages.assumptions.syntax import Node, Tree
from stages.assumptions.tables import words

_FUNCTIONS = words("method_declaration constructor_declaration lambda_expression")
_BLOCKS = words(
    "block class_body interface_body enum_body for_statement enhanced_for_statement catch_clause "
    "try_with_resources_statement switch_block"
)
_TYPES = words(
    "class_declaration interface_declaration enum_declaration record_declaration annotation_type_declaration "
    "type_parameter"
)
_UNICODE = re.compile(r"(?<!\\)((?:\\\\)*)\\u+([0-9a-fA-F]{4})")
_ESCAPE = re.compile(r"\\(?:([0-3]?[0-7]{1,2})|([btnfrs\"'\\]))")
_SHORT = {"b": "\b", "t": "\t", "n": "\n", "f": "\f", "r": "\r", "s": " "}
_KNOWN = JAVA_CALLS.keys() | JAVA_NEW.keys() | {"java.lang.System.getenv"}
_MAX_CHAIN, _MAX_BUDGET = 20, 60


def decode(content: bytes, grammar: str) -> syntax.Text:
    """As others are, with the unicode escapes carried out that Java knows outside of texts too.

    What an escape makes of a line end moves no line: a finding stands where the file has it.
    """
    text = syntax.decode(content, grammar)
    if "\\u" not in text.text:
        return text
    pieces, starts, done, length = [], [0], 0, 0
    ends = iter([*text.starts[1:], len(text.text) + 1])
    end = next(ends)
    for match in [*_UNICODE.finditer(text.text), None]:
        stop = match.start() if match else len(text.text)
        while end <= stop:
            starts.append(length + end - done)
            end = next(ends, len(text.text) + 2)
        piece = text.text[done:stop]
        if match:
            piece += match[1] + chr(int(match[2], 16))
            done = match.end()
        pieces.append(piece)
        length += len(piece)
    plain = "".join(pieces).encode("utf-16", "surrogatepass").decode("utf-16", "replace").replace("\0", "\ufffd")
    return syntax.Text(grammar, plain, starts, text.bad)


class Names:
    def __init__(self, tree: Tree) -> None:
        self.scopes = Scopes(tree, lambda n: True if n.kind in _FUNCTIONS else False if n.kind in _BLOCKS else None)
        self.bindings: set[int] = set()
        self._types: set[str] = set()
        self._methods: set[str] = set()
        self._imports: dict[str, tuple[str, Lines]] = {}
        self._stars: list[tuple[str, Lines]] = []
        self._statics: dict[str, tuple[str, Lines]] = {}
        for node in tree.nodes:
            self._bind(node)
        for node in tree.nodes:
            if node.kind == "assignment_expression" and len(node.parts) == 2:
                self._assign(node)

    def text(self, node: Node | None) -> Text | None:
        return text_of(node, literal, _joined, self._look)

    def value(self, node: Node) -> bool:
        """Whether an identifier is a variable of this file that has a value."""
        return any(each.value is not None for each in self._look(node) or ())

    def bound(self, name: str, at: Node) -> bool:
        """Whether a name is a variable or a type of this file."""
        return self.scopes.around(at).look(name) is not None or name in self._types

    def origin(self, node: Node) -> Origin | None:
        """The dotted origin of an expression: `java.lang.System.getenv` for a call of it, `…getenv()` without a key."""
        return self._origin(node, [_MAX_BUDGET])

    def _origin(self, node: Node, budget: list[int]) -> Origin | None:
        path: list[str] = []
        while len(path) < _MAX_CHAIN and budget[0] > 0:
            budget[0] -= 1
            parts = node.parts
            if node.kind == "parenthesized_expression" and parts:
                node = parts[0]
            elif node.kind == "cast_expression" and parts:
                node = parts[-1]
            elif node.kind == "field_access" and len(parts) == 2:
                if parts[0].kind == "this":
                    return None
                path.append(parts[1].text)
                node = parts[0]
            elif node.kind == "method_invocation" and parts and parts[-1].kind == "argument_list":
                plain = [part for part in parts[:-1] if part.kind != "type_arguments"]
                empty = plain[-1].text == "getenv" and not parts[-1].parts
                path.append(plain[-1].text + "()" * empty)
                if len(plain) == 1:
                    return self._static(plain[0].text, path)
                node = plain[0]
            elif node.kind == "object_creation_expression" and parts:
                type_ = next((p for p in parts if p.kind in ("type_identifier", "scoped_type_identifier")), None)
                words = chain(type_) if type_ is not None else None
                return self._class(words, path) if words else None
            elif node.kind == "identifier":
                return self._name(node, path, budget)
            else:
                return None
        return None

    def _name(self, node: Node, path: list[str], budget: list[int]) -> Origin | None:
        bound = self._look(node)
        if bound is None:
            return self._class([node.text], path)
        for each in bound[:8]:
            found = self._origin(each.value, budget) if each.value is not None else None
            if found is not None:
                return Origin(".".join([found.name, *reversed(path)]), (*found.via, each.lines))
        return None

    def _class(self, words: list[str], path: list[str]) -> Origin | None:
        """A class by its simple or full name, and what is taken from it."""
        rest = [*words[1:], *reversed(path)]
        first = words[0]
        if first in self._types:
            return None
        if first in self._imports:
            name, lines = self._imports[first]
            return Origin(".".join([name, *rest]), (lines,))
        for package, lines in self._stars:
            name = ".".join([package, first, *rest])
            if name in _KNOWN:
                return Origin(name, (lines,))
        return Origin(".".join([*(["java.lang"] if first in JAVA_LANG else []), first, *rest]))

    def _static(self, name: str, path: list[str]) -> Origin | None:
        """A method by its bare name, from a static import."""
        if name in self._methods:
            return None
        if name in self._statics:
            owner, lines = self._statics[name]
            return Origin(".".join([owner, *reversed(path)]), (lines,))
        for owner, lines in self._stars:
            if f"{owner}.{name}" in _KNOWN:
                return Origin(".".join([owner, *reversed(path)]), (lines,))
        return None

    def _look(self, node: Node) -> list[Name] | None:
        return self.scopes.around(node).look(node.text) if node.kind == "identifier" else None

    def _bind(self, node: Node) -> None:
        kind, parts, scope = node.kind, node.parts, self.scopes.around(node)
        if kind == "import_declaration" and parts:
            name = re.sub(r"\s", "", parts[0].text)
            owner, _, last = name.rpartition(".")
            if node.has("asterisk"):
                self._stars.append((name, node.lines))
            elif node.has("static"):
                self._statics[last] = (owner, node.lines)
            else:
                self._imports[last] = (name, node.lines)
        elif kind in _TYPES:
            name_node = node.child("identifier", "type_identifier")
            if name_node is not None:
                self._types.add(name_node.text)
        elif kind == "method_declaration":
            name_node = node.child("identifier")
            if name_node is not None:
                self._methods.add(name_node.text)
        elif kind in ("variable_declarator", "resource") and parts:
            name_node = node.child("identifier")
            value = parts[-1] if node.has("=") else None
            if name_node is not None and name_node is not value:
                self._variable(name_node, Name(node.lines, None, value), scope)
        elif kind in ("formal_parameter", "catch_formal_parameter", "enhanced_for_statement", "instanceof_expression"):
            names = [part for part in parts if part.kind == "identifier"]
            if kind == "enhanced_for_statement":
                names, scope = names[:1], self.scopes.of(node)
            for part in names[-1:] if kind != "instanceof_expression" or len(names) > 1 or parts[-1] in names else []:
                self._variable(part, Name(node.lines), scope)
        elif kind == "inferred_parameters" or (kind == "lambda_expression" and parts and parts[0].kind == "identifier"):
            for part in parts if kind == "inferred_parameters" else parts[:1]:
                self._variable(part, Name(part.lines), self.scopes.of(node))

    def _variable(self, node: Node, bound: Name, scope: Scope) -> None:
        self.bindings.add(id(node))
        scope.bind(node.text, bound)

    def _assign(self, node: Node) -> None:
        target, value = node.parts
        if target.kind == "field_access" and target.parts[0].kind == "this":
            target = target.parts[-1]
        if target.kind != "identifier":
            return
        scope = self.scopes.around(node)
        while target.text not in scope.names and scope.parent is not None:
            scope = scope.parent
        if target.text in scope.names:
            scope.bind(target.text, Name(node.lines, None, value if node.has("=") else None))


def chain(node: Node) -> list[str] | None:
    """The words of a dotted name; None where it starts from anything else, or is too long."""
    words: list[str] = []
    while node.kind in ("field_access", "scoped_type_identifier", "scoped_identifier", "generic_type"):
        parts = [part for part in node.parts if not part.kind.endswith("annotation")]
        if not parts or len(words) > _MAX_CHAIN:
            return None
        if node.kind != "generic_type":
            words.append(parts[-1].text)
        node = parts[0]
    return [*words, node.text][::-1] if node.kind in ("identifier", "type_identifier") else None


def literal(node: Node) -> str | None:
    if node.kind != "string_literal" or node.text.startswith('"""'):
        return None
    return _ESCAPE.sub(lambda m: chr(int(m[1], 8)) if m[1] else _SHORT.get(m[2], m[2]), node.text[1:-1])


def _joined(node: Node) -> list[Node] | None:
    if node.kind == "binary_expression" and node.has("+"):
        return node.parts
    return node.parts[:1] if node.kind == "parenthesized_expression" and node.parts else None
