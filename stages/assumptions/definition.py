"""Finding a definition in a tree without importing it: packages, `src/`, re-exports, aliases, methods."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import NamedTuple

from stages.assumptions.scopes import join, relative
from stages.assumptions.source import Unreadable
from stages.assumptions.workspace import Workspace

Function = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda
_MAX_STEPS = 16


class Definition(NamedTuple):
    path: str
    node: Function
    line: int
    bound: bool  # its first parameter is filled in by Python
    constructor: bool


class NotFound(Exception):
    """Why no definition was found, and in which file."""

    def __init__(self, path: str, why: str) -> None:
        super().__init__(why)
        self.path = path


def find(workspace: Workspace, module: str, function: str) -> Definition:
    """The definition behind `module` and `function` (dots for classes). Raises NotFound."""
    path = workspace.locate(module)
    if path is None or path.endswith("/"):
        raise NotFound(module.replace(".", "/") + ".py", f"no module {module} in the tree")
    names, steps = function.split("."), 0
    body = _body(workspace, path)
    owner: ast.ClassDef | None = None
    while True:
        steps += 1
        if steps > _MAX_STEPS:
            raise NotFound(path, f"{function} leads round in a circle or too far")
        name, *rest = names
        found = _last(body, name)
        if found is None:
            star = _star(workspace, path, body, name) if owner is None else _base(owner, name)
            if isinstance(star, str) and owner is None:
                path, body = star, _body(workspace, star)
                continue
            if isinstance(star, str):
                names, owner, body = [*star.split("."), name, *rest], None, _body(workspace, path)
                continue
            raise NotFound(path, f"no {name} in {workspace.display('.' + path)}")
        if isinstance(found, ast.FunctionDef | ast.AsyncFunctionDef) and not rest:
            static = any(_called_name(d) == "staticmethod" for d in found.decorator_list)
            return Definition(path, found, found.lineno, owner is not None and not static, False)
        if isinstance(found, ast.ClassDef):
            if not rest:
                return _constructor(path, found)
            names, owner, body = rest, found, found.body
            continue
        if isinstance(found, ast.Lambda) and not rest:
            return Definition(path, found, found.lineno, owner is not None, False)
        target = _followed(workspace, path, found)
        if target is None:
            raise NotFound(path, f"{name} is no definition that can be read")
        to, dotted = target
        names, owner = [*dotted, *rest], None
        if not names:
            raise NotFound(to, f"{name} is a module")
        path, body = to, _body(workspace, to)


def _body(workspace: Workspace, path: str) -> list[ast.stmt]:
    try:
        tree = workspace.source(path).survey.visits[0].node
    except Unreadable as error:
        raise NotFound(path, f"the module can't be read: {error}") from None
    assert isinstance(tree, ast.Module)
    return tree.body


Bound = (
    ast.FunctionDef
    | ast.AsyncFunctionDef
    | ast.ClassDef
    | ast.Lambda
    | ast.expr
    | tuple[ast.ImportFrom | ast.Import, str]
)


def _last(body: list[ast.stmt], name: str) -> Bound | None:
    """What the name is bound to in the end, reading conditions and tries as if all of them ran."""
    last: Bound | None = None
    for statement in _flat(body):
        if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            overload = any(_called_name(d) == "overload" for d in statement.decorator_list)
            if statement.name == name and not overload:
                last = statement
        elif isinstance(statement, ast.Import | ast.ImportFrom):
            for alias in statement.names:
                if (alias.asname or alias.name.partition(".")[0]) == name:
                    last = (
                        statement,
                        alias.name if isinstance(statement, ast.ImportFrom) or alias.asname else name,
                    )
        elif isinstance(statement, ast.Assign):
            if any(isinstance(target, ast.Name) and target.id == name for target in statement.targets):
                last = statement.value
        elif (
            isinstance(statement, ast.AnnAssign)
            and isinstance(statement.target, ast.Name)
            and statement.target.id == name
            and statement.value is not None
        ):
            last = statement.value
    return last


def _flat(body: list[ast.stmt]) -> Iterator[ast.stmt]:
    stack = list(reversed(body))
    while stack:
        statement = stack.pop()
        yield statement
        below: list[ast.stmt] = []
        if isinstance(statement, ast.If | ast.Try | ast.With) or type(statement).__name__ == "TryStar":
            below += statement.body  # type: ignore[attr-defined]
            for handler in getattr(statement, "handlers", []):
                below += handler.body
            below += [*getattr(statement, "orelse", []), *getattr(statement, "finalbody", [])]
        stack.extend(reversed(below))


def _followed(workspace: Workspace, path: str, found: Bound) -> tuple[str, list[str]] | None:
    """The file and the names in it that an import or an assignment leads to."""
    if isinstance(found, tuple):
        statement, name = found
        if isinstance(statement, ast.Import):
            return _split(workspace, path, name)
        module = relative(path, statement.level, statement.module) if statement.level else statement.module or ""
        return _split(workspace, path, join(module, name))
    parts: list[str] = []
    node: ast.AST = found
    if isinstance(node, ast.Call) and _called_name(node.func) in ("staticmethod", "classmethod") and node.args:
        node = node.args[0]
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    return (path, [node.id, *reversed(parts)]) if isinstance(node, ast.Name) else None


def _split(workspace: Workspace, path: str, name: str) -> tuple[str, list[str]] | None:
    lead = "." if name.startswith(".") else ""
    parts = name[len(lead) :].split(".")
    for i in range(len(parts), 0, -1):
        file = workspace.locate(lead + ".".join(parts[:i]), path)
        if file is not None and not file.endswith("/"):
            return file, parts[i:]
    if lead and (file := workspace.locate(lead)) is not None and not file.endswith("/"):
        return file, parts
    return None


def _star(workspace: Workspace, path: str, body: list[ast.stmt], name: str) -> str | None:
    """The file of the tree that a star import takes the name from."""
    for statement in _flat(body):
        if isinstance(statement, ast.ImportFrom) and statement.names[0].name == "*":
            module = relative(path, statement.level, statement.module) if statement.level else statement.module or ""
            file = workspace.locate(module, path)
            if file is not None and not file.endswith("/") and file != path and _last(_body(workspace, file), name):
                return file
    return None


def _base(owner: ast.ClassDef, name: str) -> str | None:  # noqa: ARG001
    """The first base class that is written as a plain name, where a method may be inherited from."""
    parts: list[str] = []
    node: ast.expr | None = owner.bases[0] if owner.bases else None
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    return ".".join([node.id, *reversed(parts)]) if isinstance(node, ast.Name) else None


def _constructor(path: str, owner: ast.ClassDef) -> Definition:
    """What calling a class takes: `__init__`, `__new__`, or the fields of a dataclass; else nothing."""
    for name in ("__init__", "__new__"):
        found = _last(owner.body, name)
        if isinstance(found, ast.FunctionDef):
            return Definition(path, found, found.lineno, True, True)
    args = ast.arguments(posonlyargs=[], args=[], vararg=None, kwonlyargs=[], kw_defaults=[], kwarg=None, defaults=[])
    if any(_called_name(d) == "dataclass" for d in owner.decorator_list):
        for statement in owner.body:
            if isinstance(statement, ast.AnnAssign) and isinstance(statement.target, ast.Name):
                arg = ast.arg(statement.target.id, statement.annotation)
                args.args.append(ast.copy_location(arg, statement))
                if statement.value is not None:
                    args.defaults.append(statement.value)
    node = ast.copy_location(ast.Lambda(args, ast.Constant(None)), owner)
    return Definition(path, node, owner.lineno, False, True)


def _called_name(node: ast.expr) -> str:
    if isinstance(node, ast.Call):
        node = node.func
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""
