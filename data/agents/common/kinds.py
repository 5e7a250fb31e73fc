"""Guesses at types of expressions, from literals, annotations and usual calls; "" where nothing is known."""

from __future__ import annotations

import ast
from functools import lru_cache

from common.project import Project
from common.source import Function, Source

_CALLS = {
    "len": "int", "int": "int", "round": "int", "str": "str", "repr": "str", "sorted": "list", "list": "list",
    "dict": "dict", "set": "set", "tuple": "tuple", "bool": "bool", "isinstance": "bool", "any": "bool",
    "all": "bool", "float": "float", "Fraction": "float", "Decimal": "float", "ord": "int", "chr": "str",
}  # fmt: skip
_METHODS = {
    **dict.fromkeys(
        ["join", "strip", "lstrip", "rstrip", "lower", "upper", "casefold", "title", "format", "replace"],
        "str",
    ),
    **dict.fromkeys(["split", "rsplit", "splitlines"], "list"),
    **dict.fromkeys(["startswith", "endswith", "isdigit", "isalpha"], "bool"),
    **dict.fromkeys(["count", "index", "find", "rfind"], "int"),
}
_KNOWN = {"int", "float", "str", "bool", "list", "dict", "set", "tuple", "bytes"}


class Kinds:
    """Kinds of the names of a project: of parameters and locals by function, of fields by attribute name."""

    def __init__(self, project: Project) -> None:
        self.fields: dict[str, str] = {}
        self.returns: dict[str, str] = {}
        for source in project.code():
            for node in source.nodes:
                if isinstance(node, ast.AnnAssign):
                    target = node.target
                    name = target.id if isinstance(target, ast.Name) else getattr(target, "attr", "")
                    if isinstance(source.parents[node], ast.ClassDef) or isinstance(target, ast.Attribute):
                        self._note(self.fields, name, annotated(node.annotation))
                elif isinstance(node, Function):
                    kind = annotated(node.returns)
                    named = any(isinstance(i, ast.Name) and i.id == "property" for i in node.decorator_list)
                    self._note(self.fields if named else self.returns, node.name, kind)
                elif isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Attribute):
                    self._note(self.fields, node.targets[0].attr, self.of(source, node.value))

    @staticmethod
    def _note(table: dict[str, str], name: str, kind: str) -> None:
        """Keep a kind; forget it where two places disagree."""
        if kind:
            table[name] = kind if table.get(name, kind) == kind else ""

    def of(self, source: Source, node: ast.AST) -> str:
        """Return the kind of an expression: "int", "str", "list", … or ""."""
        if isinstance(node, ast.Constant):
            return type(node.value).__name__ if type(node.value).__name__ in _KNOWN else ""
        if isinstance(node, ast.Compare):
            return "bool"
        if isinstance(node, ast.JoinedStr):
            return "str"
        for kind, types in _LITERALS.items():
            if isinstance(node, types):
                return kind
        if isinstance(node, ast.Call):
            if isinstance(node.func, ast.Attribute):
                return _METHODS.get(node.func.attr) or self.returns.get(node.func.attr, "")
            name = node.func.id if isinstance(node.func, ast.Name) else ""
            return _CALLS.get(name) or self.returns.get(name, "")
        if isinstance(node, ast.Attribute):
            return self.fields.get(node.attr, "")
        if isinstance(node, ast.Name):
            function = source.function_of(node)
            return locals_of(function).get(node.id, "") if function is not None else ""
        if isinstance(node, ast.BinOp):
            left, right = self.of(source, node.left), self.of(source, node.right)
            return left if left == right or not right else right if not left else ""
        return ""


_LITERALS = {
    "list": (ast.List, ast.ListComp),
    "dict": (ast.Dict, ast.DictComp),
    "set": (ast.Set, ast.SetComp),
    "tuple": (ast.Tuple,),
}


def annotated(node: ast.expr | None) -> str:
    """Return the kind that an annotation names, without what stands in brackets and without None."""
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitOr):
        kinds = {annotated(node.left), annotated(node.right)} - {"None"}
        return kinds.pop() if len(kinds) == 1 else ""
    if isinstance(node, ast.Subscript):
        return annotated(node.value)
    if isinstance(node, ast.Constant) and node.value is None:
        return "None"
    return node.id if isinstance(node, ast.Name) and node.id in _KNOWN else ""


@lru_cache(maxsize=512)
def locals_of(function: Function) -> dict[str, str]:
    """Return the kinds of parameters and of locals whose every assignment agrees."""
    found: dict[str, str] = {}
    given = [*function.args.posonlyargs, *function.args.args, *function.args.kwonlyargs]
    for arg in given:
        found[arg.arg] = annotated(arg.annotation)
    for node in ast.walk(function):
        if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            found[node.target.id] = annotated(node.annotation)
        elif isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            name, kind = node.targets[0].id, _plain(node.value)
            found[name] = kind if found.get(name, kind) == kind else found[name] or kind
        elif isinstance(node, ast.For | ast.comprehension) and isinstance(node.iter, ast.Call):
            called = node.iter.func.id if isinstance(node.iter.func, ast.Name) else ""
            target = node.target
            if called == "range" and isinstance(target, ast.Name):
                found[target.id] = "int"
            elif (
                called == "enumerate"
                and isinstance(target, ast.Tuple)
                and isinstance(target.elts[0], ast.Name)
            ):
                found[target.elts[0].id] = "int"
    return found


def _plain(node: ast.expr) -> str:
    for kind, types in _LITERALS.items():
        if isinstance(node, types):
            return kind
    if isinstance(node, ast.Constant):
        return type(node.value).__name__ if type(node.value).__name__ in _KNOWN else ""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
        return _CALLS.get(node.func.id, "")
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        return _METHODS.get(node.func.attr, "")
    return "bool" if isinstance(node, ast.Compare) else ""
