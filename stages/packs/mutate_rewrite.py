"""Exchanging names in a Python file: identifiers, `__all__`, docstrings and comments; every other byte stays."""

from __future__ import annotations

import ast
import warnings
from collections.abc import Mapping
from typing import Any

import libcst as cst

from stages.packs.mutate_source import Source, exported, remarks
from stages.packs.mutate_text import replace_remark, replace_words


def rewrite(source: Source, names: Mapping[str, str]) -> str:
    """The file under new names, shown to be the same program but for them. Raises ValueError where it isn't."""
    made = cst.parse_module(source.text).visit(_Rename(names)).code
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        same = same_program(source.tree, ast.parse(made), names)
    if not same:
        raise ValueError(f"{source.path} isn't the same program under other names")
    return made


class _Rename(cst.CSTTransformer):
    """Names by spelling; text only where no program reads it."""

    def __init__(self, names: Mapping[str, str]) -> None:
        self.names = names

    def leave_Name(self, original_node: cst.Name, updated_node: cst.Name) -> cst.Name:  # noqa: ARG002
        to = self.names.get(updated_node.value)
        return updated_node if to is None else updated_node.with_changes(value=to)

    def leave_Comment(self, original_node: cst.Comment, updated_node: cst.Comment) -> cst.Comment:  # noqa: ARG002
        return updated_node.with_changes(value=replace_remark(updated_node.value, self.names))

    def leave_Expr(self, original_node: cst.Expr, updated_node: cst.Expr) -> cst.Expr:  # noqa: ARG002
        value = updated_node.value
        if not isinstance(value, cst.SimpleString) or "b" in value.prefix.lower():
            return updated_node
        return updated_node.with_changes(value=value.with_changes(value=replace_remark(value.value, self.names)))

    def leave_Module(self, original_node: cst.Module, updated_node: cst.Module) -> cst.Module:  # noqa: ARG002
        body = [
            each.with_changes(body=[self._exported(part) for part in each.body])
            if isinstance(each, cst.SimpleStatementLine)
            else each
            for each in updated_node.body
        ]
        return updated_node.with_changes(body=body)

    def _exported(self, node: cst.BaseSmallStatement) -> cst.BaseSmallStatement:
        """A statement at the top of the module; the strings of `__all__` follow what they name."""
        targets = [t.target for t in node.targets] if isinstance(node, cst.Assign) else [getattr(node, "target", None)]
        value = getattr(node, "value", None)
        named = any(isinstance(each, cst.Name) and each.value == "__all__" for each in targets)
        if not named or not isinstance(value, cst.List | cst.Tuple):
            return node
        elements = [
            each.with_changes(value=each.value.with_changes(value=replace_words(each.value.value, self.names)))
            if isinstance(each.value, cst.SimpleString)
            else each
            for each in value.elements
        ]
        return node.with_changes(value=value.with_changes(elements=elements))


def same_program(old: ast.Module, new: ast.Module, names: Mapping[str, str]) -> bool:
    """Whether two files are one program but for the spelling of names; what only people read may differ."""
    exports, notes = {*map(id, exported(old))}, remarks(old)
    pairs: list[tuple[Any, Any]] = [(old, new)]
    while pairs:
        a, b = pairs.pop()
        if type(a) is not type(b):
            return False
        if isinstance(a, ast.Constant):
            wanted = names.get(a.value, a.value) if id(a) in exports and isinstance(a.value, str) else a.value
            if type(wanted) is not type(b.value) or (id(a) not in notes and repr(wanted) != repr(b.value)):
                return False
        elif isinstance(a, ast.AST):
            pairs += [(getattr(a, name, None), getattr(b, name, None)) for name in a._fields]
        elif isinstance(a, list):
            if len(a) != len(b):
                return False
            pairs += zip(a, b, strict=True)
        elif (names.get(a, a) if isinstance(a, str) else a) != b:
            return False
    return True
