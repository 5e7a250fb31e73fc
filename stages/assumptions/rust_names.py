"""Rust: what paths and names stand for, as far as one file says. Names of modules and of values are kept apart."""

from __future__ import annotations

from stages.assumptions.bound import Act, Lines, Name, Scopes, Text, text_of
from stages.assumptions.platforms import RUST_CALLS, RUST_ENV_READS
from stages.assumptions.rust_paths import SCOPED, Path, leaves, literal, plain, segments
from stages.assumptions.syntax import Node, Tree
from stages.assumptions.tables import words

_FUNCTIONS = frozenset(("function_item", "closure_expression"))
_BLOCKS = frozenset(("block", "declaration_list", "match_arm", "source_file"))
_HERE = frozenset(("crate", "self", "super", "Self"))
_PRIMITIVES = words("bool char str u8 u16 u32 u64 u128 usize i8 i16 i32 i64 i128 isize f16 f32 f64 f128 slice array")
_TOOLS = frozenset(("clippy", "diagnostic", "miri", "rust_analyzer", "rustdoc", "rustfmt"))  # in attributes
_TYPES = words("struct_item enum_item union_item trait_item type_item mod_item")
_TABLES = RUST_ENV_READS | RUST_CALLS.keys()


class Names:
    def __init__(self, tree: Tree) -> None:
        self.scopes = Scopes(tree, lambda n: True if n.kind in _FUNCTIONS else False if n.kind in _BLOCKS else None)
        self.inner: set[int] = set()  # parts of longer paths, and what stands in use declarations
        self.loose = ""  # "loose" where modules may have come in by a star
        self.imports: list[Act] = []
        self._stars: list[tuple[str, Lines]] = []
        self._bound: set[int] = set()
        for node in tree.nodes:
            self._bind(node)

    def stands(self, node: Node) -> bool:
        """Whether a bare name stands for something imported or bound to it, worth following."""
        if id(node) in self._bound or (node.parent is not None and node.parent.kind in ("token_tree", "attribute")):
            return False
        bound = self.scopes.around(node).look(plain(node.text))
        if bound is None:
            return any(f"{star}::{node.text}" in _TABLES for star, _ in self._stars)
        return any(each.origin is not None or each.value is not None for each in bound)

    def resolve(self, path: Path, at: Node) -> tuple[str | None, bool, tuple[Lines, ...]]:
        """What a path leads to, whether a name of this file led there, and by which lines. None: the crate's own."""
        first, rest = path.names[0], path.names[1:]
        if path.absolute:
            return "::".join(path.names), False, ()
        scope = self.scopes.around(at)
        bound = scope.look(f"::{first}") if rest else scope.look(first)
        if bound is not None and not rest and len(bound) == 1 and bound[0].value is not None:
            target = segments(bound[0].value) if bound[0].value.kind in {"identifier"} | SCOPED else None
            if target is None or target.names == path.names:
                return None, True, ()
            origin, _, via = self.resolve(target, bound[0].value)
            return origin, True, (*via, bound[0].lines)
        if bound is not None:
            origins = [each for each in bound if each.origin is not None]
            if not origins:
                return None, True, ()
            return "::".join([origins[0].origin or "", *rest]), True, (origins[0].lines,)
        for star, lines in self._stars:
            if f"{star}::{'::'.join(path.names)}" in _TABLES:
                return f"{star}::{'::'.join(path.names)}", True, (lines,)
        own = first in _HERE | _PRIMITIVES | _TOOLS or first.startswith("$") or not first[0].islower()
        return (None, True, ()) if own or not rest else ("::".join(path.names), False, ())

    def text(self, node: Node | None) -> Text | None:
        return text_of(node, literal, _joined, self._named)

    def argument(self, arguments: Node) -> Text | None:
        """The first argument's text, in parsed arguments and among a macro's tokens alike."""
        first = []
        for node in arguments.children[1:-1]:
            if node.kind == ",":
                break
            if node.kind != "&":
                first.append(node)
        return self.text(first[0]) if len(first) == 1 else None

    def _named(self, node: Node) -> list[Name] | None:
        return self.scopes.around(node).look(plain(node.text)) if node.kind == "identifier" else None

    def _bind(self, node: Node) -> None:
        kind, parts, scope = node.kind, node.parts, self.scopes.around(node)
        if kind in ("use_declaration", "extern_crate_declaration"):
            self.inner.update(id(part) for part in node.walk())
            if kind == "use_declaration":
                self._uses(node)
            else:
                words = [part for part in parts if part.kind == "identifier"]
                if words and words[0].text != "self":
                    crate = plain(words[0].text)
                    self.imports.append(Act("import", crate, "extern crate", node.lines, (), True))
                    self._module(scope_name=plain(words[-1].text), origin=crate, node=node)
        elif kind in SCOPED:
            self.inner.update(id(part) for part in parts)
        elif kind in _TYPES:
            name = next((part for part in parts if part.kind in ("identifier", "type_identifier")), None)
            if name is not None:
                scope.bind(f"::{plain(name.text)}", Name(node.lines))
                self._bound.add(id(name))
        elif kind in ("const_item", "static_item", "function_item") and parts:
            name = next((part for part in parts if part.kind == "identifier"), None)
            if name is not None:
                value = parts[-1] if kind != "function_item" and node.has("=") and not node.has("mutable") else None
                scope.bind(plain(name.text), Name(node.lines, None, value))
                self._bound.add(id(name))
        elif kind == "let_declaration" and parts:
            sides = [part for part in parts if part.kind != "mutable_specifier"]
            value = sides[-1] if node.has("=") and len(sides) > 1 and not node.has("mutable_specifier") else None
            self._pattern(sides[0], Name(node.lines, None, value if sides[0].kind == "identifier" else None))
        elif kind == "parameter" and parts:
            self._pattern(parts[0], Name(node.lines))
        elif kind in ("closure_parameters", "match_pattern"):
            for part in parts:
                self._pattern(part, Name(node.lines))
        elif kind == "type_parameter" and parts:
            scope.bind(f"::{parts[0].text}", Name(node.lines))

    def _pattern(self, pattern: Node, bound: Name) -> None:
        for part in pattern.walk():
            if part.kind in ("identifier", "shorthand_field_identifier") and id(part) not in self.inner:
                above = part.parent
                if above is not None and above.kind == "tuple_struct_pattern" and part is above.parts[0]:
                    continue  # a variant
                self._bound.add(id(part))
                self.scopes.around(pattern).bind(plain(part.text), bound)

    def _module(self, scope_name: str, origin: str | None, node: Node) -> None:
        scope = self.scopes.around(node)
        scope.bind(f"::{scope_name}", Name(node.lines, origin))
        scope.bind(scope_name, Name(node.lines, origin))

    def _uses(self, node: Node) -> None:
        for path, alias in leaves(node):
            crate = path.names[0] if path.names else ""
            dotted = "::".join(path.names)
            own = crate in _HERE or crate[:1].isupper() or not crate
            known = None if path.absolute or own else self.scopes.around(node).look(f"::{crate}")
            if known is not None and not own:
                led = next((each.origin for each in known if each.origin is not None), None)
                own, dotted = led is None, "::".join([led or "", *path.names[1:]])
                if led is not None and led == crate and len(path.names) > 1:
                    known = None  # `use serde; use serde::Value`
            if own:
                self.loose = "loose" if alias == "*" or self.loose else ""
            elif known is None:
                self.imports.append(Act("import", dotted, "use", node.lines, (), True, self.loose))
            if alias == "*" and not own:
                self._stars.append((dotted, node.lines))
            elif alias not in ("*", "_"):
                self._module(alias, None if own else dotted, node)


def _joined(node: Node) -> list[Node] | None:
    if node.kind in ("reference_expression", "parenthesized_expression") and len(node.parts) == 1:
        return node.parts
    return None
