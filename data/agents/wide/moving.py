"""Operators for code that has to follow a changed interface: careful renames and rewriting rules."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from common.context import Context
from common.edits import Edit, Part
from common.renames import careful_renames, moved_parts, plain_renames
from common.source import Source, last_name


def rewrites(context: Context) -> Iterator[Edit]:
    """Apply the rules `old(a, b)` → `new(b, a)` of a statement to all fitting calls, together or alone."""
    rules = [rule for old, new in context.hints.rules if (rule := _rule(old, new)) is not None]
    plain = {old: new for old, new in context.hints.renames if all(old != rule[0] for rule in rules)}
    for chosen in [rules, *([rule] for rule in rules)] if rules else []:
        for renamed in ({}, plain) if plain else ({},):
            parts = [part for source in context.project.code() for part in _rewritten(source, chosen)]
            taken = {(part.path, part.start) for part in parts}
            others = [
                p
                for source in context.project.code()
                for p in moved_parts(context, source, renamed, {"attribute", "import", "name"})
            ]
            parts += [
                part for part in others if (part.path, part.start) not in taken and not _inside(part, parts)
            ]
            if parts:
                yield Edit("rewrites", "", 0, tuple(parts), 1.2 if chosen is rules else 0.5)


def _inside(part: Part, parts: list[Part]) -> bool:
    return any(part.path == item.path and item.start <= part.start < item.end for item in parts)


Rule = tuple[str, list[str], ast.Call]


def _rule(old: str, new: str) -> Rule | None:
    """Return (old name, names of its arguments, new call) of a rule between two calls."""
    before, after = ast.parse(old, mode="eval").body, ast.parse(new, mode="eval").body
    if not isinstance(before, ast.Call) or not isinstance(after, ast.Call):
        return None
    names = [item.id if isinstance(item, ast.Name) else "" for item in before.args]
    return last_name(before.func), names, after


def _rewritten(source: Source, rules: list[Rule]) -> Iterator[Part]:
    """Yield parts for outermost fitting calls; what their arguments hold is rewritten within."""
    names = {name: rule for rule in rules if (name := rule[0])}
    defined = {function.name for function in source.functions}
    if any(last_name(rule[2].func) in defined for rule in rules):
        return
    covered = 0
    for node in source.nodes:
        if not isinstance(node, ast.Call) or last_name(node.func) not in names:
            continue
        start, end = source.span(node)
        text = _filled(source, node, names[last_name(node.func)])
        if text is not None and start >= covered:
            covered = end
            yield Part(source.path, start, end, text)


def _filled(source: Source, call: ast.Call, rule: Rule) -> str | None:
    _, names, after = rule
    given = {name: source.text(item) for name, item in zip(names, call.args, strict=False)}
    given |= {item.arg: source.text(item.value) for item in call.keywords if item.arg}
    if len(call.args) > len(names) or any(isinstance(item, ast.Starred) for item in call.args):
        return None
    if isinstance(call.func, ast.Attribute):
        head = f"{source.text(call.func.value)}.{last_name(after.func)}"
    else:
        head = ast.unparse(after.func)
    arguments = [_argument(item, given) for item in after.args]
    for item in after.keywords:
        same = isinstance(item.value, ast.Constant) and item.value.value is Ellipsis
        arguments.append(
            f"{item.arg}={given.get(item.arg or '', '...') if same else _argument(item.value, given)}"
        )
    return f"{head}({', '.join(arguments)})"


def _argument(node: ast.expr, given: dict[str, str]) -> str:
    return re.sub(r"[A-Za-z_]\w*", lambda word: given.get(word.group(), word.group()), ast.unparse(node))


OPERATORS = ((rewrites, 2.2), (careful_renames, 2.0), (plain_renames, 0.8))
