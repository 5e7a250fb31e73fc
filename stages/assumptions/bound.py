"""What names stand for in a syntax tree: scopes, what is bound in them, and constant texts, in any language."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from stages.assumptions.syntax import Node, Tree

Lines = tuple[int, int]
_MAX_STEPS = 12
_MAX_PARTS = 200
_MAX_LENGTH = 2_000


class Act(NamedTuple):
    """What a line is seen to do. `via` are lines of the same file that give it its meaning; `known`: the symbol
    says it all, so the same symbol elsewhere is the same; `member` is what an import takes."""

    kind: str
    symbol: str
    how: str
    lines: Lines
    via: tuple[Lines, ...] = ()
    known: bool = False
    member: str = ""


class Name(NamedTuple):
    """A binding: of an import (`origin` says of what), of an expression (`path` leads into it), or of neither."""

    lines: Lines
    origin: str | None = None
    value: Node | None = None
    path: tuple[str, ...] = ()


class Origin(NamedTuple):
    """What an expression stands for, dotted from a global or an import, and the lines that it came about by."""

    name: str
    via: tuple[Lines, ...] = ()


class Scope:
    def __init__(self, parent: Scope | None, function: bool) -> None:
        self.parent, self.function = parent, function
        self.names: dict[str, list[Name]] = {}
        self._found: dict[str, tuple[Scope, list[Name]] | None] = {}

    def bind(self, name: str, bound: Name) -> None:
        self.names.setdefault(name, []).append(bound)

    def body(self) -> Scope:
        """The innermost function or file around."""
        scope = self
        while not scope.function and scope.parent is not None:
            scope = scope.parent
        return scope

    def look(self, name: str) -> list[Name] | None:
        """The bindings of a name in the nearest scope that has any; None for a global."""
        scope: Scope | None = self
        passed = []
        while scope is not None:
            if name in scope.names:
                found: list[Name] | None = scope.names[name]
                break
            if name in scope._found:
                hit = scope._found[name]
                found = hit[1] if hit else None
                break
            passed.append(scope)
            scope = scope.parent
        else:
            found = None
        for each in passed:
            each._found[name] = (each, found) if found is not None else None
        return found


class Scopes:
    """The scope of every node. `opens` says whether a node is one (True for a function's)."""

    def __init__(self, tree: Tree, opens: Callable[[Node], bool | None]) -> None:
        self.top = Scope(None, True)
        self._of: dict[int, Scope] = {}
        for node in tree.nodes:
            outer = self._of[id(node.parent)] if node.parent is not None else self.top
            function = opens(node) if node.parent is not None else None
            self._of[id(node)] = outer if function is None else Scope(outer, function)

    def of(self, node: Node) -> Scope:
        """The scope that a node's children are in."""
        return self._of[id(node)]

    def around(self, node: Node) -> Scope:
        return self._of[id(node.parent)] if node.parent is not None else self.top


class Text(NamedTuple):
    value: str
    via: tuple[Lines, ...] = ()


def text_of(
    node: Node | None,
    literal: Callable[[Node], str | None],
    joined: Callable[[Node], list[Node] | None],
    names: Callable[[Node], list[Name] | None],
) -> Text | None:
    """The constant text of an expression: literals, sums of them, names bound to one once. None if unknown.

    `literal` reads a literal, `joined` the parts of a sum or of something to be looked through, `names` the
    bindings of a name.
    """
    done, via, steps, length = [], [], 0, 0
    stack: list[tuple[Node | None, int]] = [(node, 0)]
    while stack:
        part, depth = stack.pop()
        steps += 1
        if part is None or steps > _MAX_PARTS or depth > _MAX_STEPS:
            return None
        text = literal(part)
        if text is not None:
            length += len(text)
            if length > _MAX_LENGTH:
                return None
            done.append(text)
            continue
        parts = joined(part)
        if parts is None:
            bound = names(part)
            if not bound or len(bound) != 1 or bound[0].value is None or bound[0].path:
                return None
            via.append(bound[0].lines)
            stack.append((bound[0].value, depth + 1))
            continue
        stack += [(each, depth) for each in reversed(parts)]
    return Text("".join(done), tuple(via))
