"""One Python file, its syntax tree, and byte spans of its nodes, so that edits keep all other text."""

from __future__ import annotations

import ast
import warnings
from collections.abc import Iterator
from functools import cached_property

Function = ast.FunctionDef | ast.AsyncFunctionDef


class Source:
    """A parsed file. Offsets are of bytes, as the positions of `ast` are."""

    def __init__(self, path: str, data: bytes) -> None:
        """Parse `data`; raises SyntaxError (or ValueError) where it isn't Python."""
        self.path = path
        self.data = data
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            self.tree = ast.parse(data, filename=path)
        self.lines = data.splitlines(keepends=True)
        self.starts = [0]
        for line in self.lines:
            self.starts.append(self.starts[-1] + len(line))

    @cached_property
    def parents(self) -> dict[ast.AST, ast.AST]:
        """The parent of every node below the module."""
        return {child: node for node in ast.walk(self.tree) for child in ast.iter_child_nodes(node)}

    @cached_property
    def nodes(self) -> list[ast.AST]:
        """Every node that has a position, in the order of the text."""
        found = [node for node in ast.walk(self.tree) if hasattr(node, "lineno")]
        return sorted(found, key=lambda node: (node.lineno, node.col_offset, -node.end_lineno))

    @cached_property
    def functions(self) -> list[Function]:
        """Every function and method, outer ones first."""
        return [node for node in self.nodes if isinstance(node, Function)]

    def span(self, node: ast.AST) -> tuple[int, int]:
        """Return (start, end) of a node in bytes."""
        start = self.starts[node.lineno - 1] + node.col_offset
        return start, self.starts[node.end_lineno - 1] + node.end_col_offset

    def text(self, node: ast.AST) -> str:
        """Return the text of a node as written."""
        start, end = self.span(node)
        return self.data[start:end].decode("utf-8", "replace")

    def atom(self, node: ast.AST) -> str:
        """Return the text of an expression, in parentheses unless it binds tightly anyway."""
        tight = (ast.Name, ast.Constant, ast.Attribute, ast.Call, ast.Subscript, ast.List, ast.Dict, ast.Set)
        return self.text(node) if isinstance(node, tight) else f"({self.text(node)})"

    def block(self, statement: ast.stmt) -> tuple[int, int]:
        """Return the byte span of the whole lines of a statement, decorators included."""
        decorators = getattr(statement, "decorator_list", [])
        first = min([statement.lineno, *(item.lineno for item in decorators)])
        return self.starts[first - 1], self.starts[statement.end_lineno]

    def owns_lines(self, statement: ast.stmt) -> bool:
        """Return whether no other statement shares a line with this one."""
        start, end = self.span(statement)
        first, last = self.block(statement)
        before = self.data[first:start].strip()
        after = self.data[end:last].strip()
        return not before and (not after or after.startswith(b"#"))

    def indent(self, statement: ast.stmt) -> str:
        """Return the white space before a statement."""
        line = self.lines[statement.lineno - 1]
        return line[: len(line) - len(line.lstrip())].decode("ascii", "replace")

    def up(self, node: ast.AST) -> Iterator[ast.AST]:
        """Yield the ancestors of a node, the nearest first."""
        while (above := self.parents.get(node)) is not None:
            yield above
            node = above

    def function_of(self, node: ast.AST) -> Function | None:
        """Return the nearest function that encloses a node."""
        return next((above for above in self.up(node) if isinstance(above, Function)), None)

    def class_of(self, node: ast.AST) -> ast.ClassDef | None:
        """Return the nearest class that encloses a node."""
        return next((above for above in self.up(node) if isinstance(above, ast.ClassDef)), None)

    def statement_of(self, node: ast.AST) -> ast.stmt | None:
        """Return the statement that a node is part of, or is."""
        if isinstance(node, ast.stmt):
            return node
        return next((above for above in self.up(node) if isinstance(above, ast.stmt)), None)


def body_start(function: Function) -> ast.stmt:
    """Return the first statement after a function's docstring, or the docstring where it is alone."""
    first = function.body[0]
    documented = isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant)
    return function.body[1] if documented and len(function.body) > 1 else first


def parameters(function: Function) -> list[str]:
    """Return the names of positional and keyword parameters, without self and cls."""
    given = [*function.args.posonlyargs, *function.args.args, *function.args.kwonlyargs]
    return [arg.arg for arg in given if arg.arg not in ("self", "cls")]


def last_name(node: ast.AST) -> str:
    """Return the identifier at the end of a plain or dotted name; "" for anything else."""
    return node.id if isinstance(node, ast.Name) else node.attr if isinstance(node, ast.Attribute) else ""
