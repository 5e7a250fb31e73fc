"""JavaScript and TypeScript: what names and expressions stand for, as far as one file says."""

from __future__ import annotations

import re

from stages.assumptions.bound import Lines, Name, Origin, Scope, Scopes, Text, text_of
from stages.assumptions.javascript_syntax import (
    MAX_CHAIN,
    PATTERNS,
    WRAPPERS,
    alternatives,
    joined,
    leaves,
    literal,
    name_of,
)
from stages.assumptions.syntax import Node, Tree
from stages.assumptions.tables import words

FUNCTIONS = words("""
    function_declaration function_expression function generator_function generator_function_declaration arrow_function
    method_definition
    """)
_BLOCKS = words("statement_block for_statement for_in_statement catch_clause class_body switch_body")
PARAMETERS = words("formal_parameters required_parameter optional_parameter")
_GLOBALS = words("globalThis global window self")
_REQUIRES = frozenset(("require", "module.require", "process.mainModule.require"))
_MAX_BUDGET, _MAX_BINDINGS = 60, 8


class Names:
    def __init__(self, tree: Tree) -> None:
        self.tree = tree
        self.scopes = Scopes(tree, _opens)
        self.bindings: set[int] = set()  # identifiers that are bound here, not looked up
        later = [node for node in tree.nodes if not self._bind(node)]
        for node in later:
            self._assign(node)

    def text(self, node: Node | None) -> Text | None:
        return text_of(node, literal, joined, self._named)

    def module(self, node: Node | None) -> str | None:
        """The specifier that a string says."""
        found = self.text(node)
        return found.value if found is not None else None

    def origin(self, node: Node) -> Origin | None:
        """The dotted origin of an expression: of a global (`process.env`), of a module (`module:fs.read`)."""
        return self._origin(node, [_MAX_BUDGET])

    def required(self, call: Node) -> Node | None:
        """The argument of an import by call, None for other calls."""
        parts = call.parts
        if len(parts) < 2 or parts[-1].kind != "arguments" or call.kind != "call_expression":
            return None
        if parts[0].kind != "import":
            found = self.origin(parts[0])
            if found is None or found.name not in (*_REQUIRES, "require.resolve", "import.meta.resolve"):
                return None
        arguments = parts[-1].parts
        return arguments[0] if arguments else parts[-1]

    def _origin(self, node: Node, budget: list[int]) -> Origin | None:
        path: list[str] = []
        via: list[Lines] = []
        while len(path) < MAX_CHAIN and budget[0] > 0:
            budget[0] -= 1
            parts = node.parts
            if node.kind in WRAPPERS | {"await_expression"} and parts:
                node = parts[0]
            elif node.kind == "type_assertion" and parts:
                node = parts[-1]
            elif node.kind == "assignment_expression" and len(parts) == 2:
                node = parts[1]
            elif node.kind == "member_expression" and len(parts) > 1:
                path.append(name_of(parts[-1]))
                node = parts[0]
            elif node.kind == "subscript_expression" and len(parts) > 1:
                key = self.text(parts[-1])
                if key is None:
                    return None
                path.append(key.value)
                via += key.via
                node = parts[0]
            elif node.kind in ("ternary_expression", "binary_expression"):
                found = next((o for p in alternatives(node) if (o := self._origin(p, budget)) is not None), None)
                return _under(found, path, via)
            elif node.kind == "identifier" or node.kind == "shorthand_property_identifier":
                return _under(self._of_name(node, budget), path, via)
            elif node.kind == "call_expression":
                return _under(self._of_call(node, budget), path, via)
            elif node.kind == "meta_property":
                return _under(Origin(re.sub(r"\s", "", node.text)), path, via)
            else:
                return None
        return None

    def _of_name(self, node: Node, budget: list[int]) -> Origin | None:
        name = name_of(node)
        bound = self.scopes.around(node).look(name)
        if bound is None:
            return Origin("" if name in _GLOBALS else name)
        for each in bound[:_MAX_BINDINGS]:
            if each.origin is not None:
                return Origin(each.origin, (each.lines,))
            if each.value is not None:
                found = _under(self._origin(each.value, budget), list(reversed(each.path)), [])
                if found is not None:
                    return Origin(found.name, (*found.via, each.lines))
        return None

    def _of_call(self, node: Node, budget: list[int]) -> Origin | None:
        parts = node.parts
        if len(parts) < 2 or parts[-1].kind != "arguments":
            return None
        if parts[0].kind != "import":
            called = self._origin(parts[0], budget)
            if called is None:
                return None
            if called.name == "module:module.createRequire":
                return Origin("require", called.via)
            if called.name not in _REQUIRES:
                return None
        specifier = self.text(parts[-1].parts[0]) if parts[-1].parts else None
        return Origin(module_origin(specifier.value), specifier.via) if specifier else None

    def _named(self, node: Node) -> list[Name] | None:
        return self.scopes.around(node).look(name_of(node)) if node.kind == "identifier" else None

    def _bind(self, node: Node) -> bool:
        """Bind what a node declares. False for what needs all declarations first."""
        kind, parts = node.kind, node.parts
        scope = self.scopes.around(node)
        if kind == "import_statement":
            self._imports(node)
        elif kind == "variable_declarator" and parts:
            hoisted = node.parent is not None and node.parent.kind == "variable_declaration"
            value = parts[-1] if node.has("=") and len(parts) > 1 else None
            self._pattern(parts[0], value, scope.body() if hoisted else scope)
        elif kind in FUNCTIONS:
            inner = self.scopes.of(node)
            for part in parts:
                if part.kind == "identifier" and kind != "arrow_function":
                    self._name(part, Name(node.lines), scope if kind.endswith("declaration") else inner)
                    break
            if kind == "arrow_function" and parts and parts[0].kind == "identifier" and parts[0] is not parts[-1]:
                self._name(parts[0], Name(node.lines), inner)
        elif kind in PARAMETERS and parts:
            if kind == "formal_parameters":
                for part in parts:
                    if not part.kind.endswith("parameter"):
                        self._pattern(part, None, scope if node.parent is None else self.scopes.of(node))
            else:
                pattern = next((p for p in parts if p.kind in {"identifier", "rest_pattern"} | PATTERNS), None)
                if pattern is not None:
                    self._pattern(pattern, parts[-1] if node.has("=") else None, scope)
        elif kind in ("catch_clause", "for_in_statement"):
            declared = kind == "catch_clause" or any(node.has(word) for word in ("const", "let", "var"))
            if parts and declared and parts[0].kind in {"identifier"} | PATTERNS:
                self._pattern(parts[0], None, self.scopes.of(node))
        elif kind.endswith("_declaration") and kind.startswith(("class", "enum", "abstract_class")):
            for part in parts:
                if part.kind in ("identifier", "type_identifier"):
                    self._name(part, Name(part.lines), scope)
                    break
        elif kind in ("assignment_expression", "augmented_assignment_expression", "update_expression"):
            return False
        return True

    def _assign(self, node: Node) -> None:
        parts = node.parts
        if not parts or parts[0].kind not in {"identifier"} | PATTERNS:
            return
        value = parts[1] if node.kind == "assignment_expression" and len(parts) > 1 else None
        for name, path in leaves(parts[0]):
            scope: Scope | None = self.scopes.around(node)
            while scope is not None and name_of(name) not in scope.names:
                scope = scope.parent
            if scope is not None:
                scope.bind(name_of(name), Name(node.lines, None, value, path))

    def _pattern(self, pattern: Node, value: Node | None, scope: Scope) -> None:
        if pattern.kind == "assignment_pattern" and len(pattern.parts) > 1:
            pattern, value = pattern.parts[0], value or pattern.parts[1]
        for name, path in leaves(pattern):
            self._name(name, Name(pattern.lines, None, value if "*" not in path else None, path), scope)

    def _name(self, node: Node, bound: Name, scope: Scope) -> None:
        self.bindings.add(id(node))
        scope.bind(name_of(node), bound)

    def _imports(self, node: Node) -> None:
        clause = node.child("import_clause", "import_require_clause")
        source = (clause if clause is not None and clause.kind == "import_require_clause" else node).child("string")
        if clause is None or source is None:
            return
        origin = module_origin(literal(source) or "")
        for part in clause.walk():
            if part.kind == "import_specifier":
                names = part.parts
                taken = literal(names[0]) if names[0].kind == "string" else name_of(names[0])
                dotted = origin if taken == "default" else _canonical(f"{origin}.{taken}")
                self._name(names[-1], Name(part.lines, dotted), self.scopes.top)
            elif part.kind == "identifier" and part.parent is not None and part.parent.kind != "import_specifier":
                self._name(part, Name(part.lines, origin), self.scopes.top)


def module_origin(specifier: str) -> str:
    return _canonical("module:" + specifier.removeprefix("node:"))


def _under(found: Origin | None, path: list[str], via: list[Lines]) -> Origin | None:
    if found is None:
        return None
    name = ".".join(part for part in (found.name, *reversed(path)) if part)
    return Origin(_canonical(name), (*found.via, *via))


def _canonical(name: str) -> str:
    name = name.removesuffix(".default") if name.startswith("module:") else name
    if name.startswith("module:") and ".default." in name:
        name = name.replace(".default.", ".", 1)
    return name.removeprefix("module:") if name.partition(".")[0] == "module:process" else name


def _opens(node: Node) -> bool | None:
    if node.kind in FUNCTIONS:
        return True
    return False if node.kind in _BLOCKS else None
