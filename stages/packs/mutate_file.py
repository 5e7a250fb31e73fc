"""What one Python file says of each spelling: what it defines, and what may belong to somebody else."""

from __future__ import annotations

import ast
import re
import unicodedata
from dataclasses import dataclass, field

from stages.packs import mutate_outside as outside
from stages.packs.mutate_source import Source, bound_at_top, exported, remarks
from stages.packs.mutate_survey import CLASS, FUNCTION, MEMBER, PRIVATE, VARIABLE, Defined, Survey
from stages.packs.mutate_text import words


def take_in(survey: Survey, source: Source) -> None:
    """Add what a file says to the survey of its task."""
    _File(survey, source).read()


@dataclass
class _File:
    """One file on its way into the survey."""

    survey: Survey
    source: Source
    foreign: set[str] = field(default_factory=set)
    own: set[str] = field(default_factory=set)
    bound: set[str] = field(default_factory=set)
    top: set[str] = field(default_factory=set)

    def read(self) -> None:
        to, tree = self.survey, self.source.tree
        for word in re.findall(r"\w+", self.source.text):
            if not word.isascii():  # Python reads some of these as ASCII names
                to.keep(unicodedata.normalize("NFKC", word), "text")
        nodes = list(ast.walk(tree))
        for node in nodes:
            if isinstance(node, ast.Import | ast.ImportFrom):
                self._imports(node)
            elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
                self.bound.add(node.id)
            elif isinstance(node, ast.arg):
                self.bound.add(node.arg)
        self.top = top = bound_at_top(tree)
        to.top |= top
        self._computed(nodes)
        silent = {*map(id, exported(tree))} | (set() if "__doc__" in self.source.text else remarks(tree))
        for node in nodes:
            if isinstance(node, ast.Constant) and isinstance(node.value, str | bytes) and id(node) not in silent:
                value = node.value if isinstance(node.value, str) else node.value.decode("latin-1")
                for word in words(value):
                    to.keep(word, "text")
            elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
                to.define(node.id, MEMBER if node.id in top else VARIABLE)
                to.variables |= {node.id} - top
            elif isinstance(node, ast.Attribute):
                self._attribute(node)
            elif isinstance(node, ast.Call):
                self._call(node)
            else:
                self._definition(node)

    def _imports(self, node: ast.Import | ast.ImportFrom) -> None:
        to = self.survey
        whence = "" if isinstance(node, ast.Import) else node.module or ""
        for alias in node.names:
            module = whence if isinstance(node, ast.ImportFrom) else alias.name
            local = alias.asname or alias.name.partition(".")[0]
            if alias.asname:
                to.define(alias.asname, VARIABLE)
            if getattr(node, "level", 0) or module.partition(".")[0] in to.tops - outside.STANDARD:
                for part in module.split("."):
                    to.keep(part, "path")
                if alias.name.rpartition(".")[2] in to.paths:  # a module; what else is imported may be anything
                    parts = alias.name.split(".")
                    self.own |= (
                        {alias.asname} if alias.asname else {".".join(parts[:n]) for n in range(1, len(parts) + 1)}
                    )
                continue
            for part in (*module.split("."), *(alias.name.split(".") if whence else ())):
                to.keep(part, "outside")
            self.foreign.add(local)
            to.unknown |= module not in outside.MODULES and f"{module}.{alias.name}" not in outside.MODULES
            if alias.name == "*" or module == "builtins":
                to.everything = True
            if alias.asname and alias.name in outside.BY_NAME:
                to.computed = True
            if {module.partition(".")[0], alias.name} & (outside.MEMBERS | {"importlib"}):
                to.computed = True
            to.everything |= bool({alias.name, *module.split(".")} & outside.EVERYTHING)

    def _computed(self, nodes: list[ast.AST]) -> None:
        """Notice what reaches names by text."""
        to, reached = self.survey, outside.BUILTINS | self.foreign
        builtin = {node.id for node in nodes if isinstance(node, ast.Name)} & outside.BUILTINS
        to.everything |= bool(builtin & outside.EVERYTHING)
        to.computed |= bool(builtin & outside.MEMBERS - {"__name__"})
        constant: set[int] = set()
        for node in nodes:
            if isinstance(node, ast.Call):
                name = _last(node.func)
                asked = node.args if name in ("attrgetter", "methodcaller") else node.args[1:2]
                if (
                    asked
                    and isinstance(asked[0], ast.Constant)
                    and not any(isinstance(a, ast.Starred) for a in node.args)
                ):
                    constant.add(id(node.func))
                if name in ("setattr", "delattr") and node.args and isinstance(node.args[0], ast.Constant):
                    constant.add(id(node.func))  # monkeypatch.setattr("package.name", value)
        for node in nodes:
            if isinstance(node, ast.Name) and node.id in outside.BY_NAME & reached:
                to.computed |= id(node) not in constant
            elif isinstance(node, ast.Attribute):
                if node.attr in outside.BY_NAME:
                    to.computed |= id(node) not in constant
                far = node.attr.startswith("_") or _root(node) in self.foreign
                to.computed |= far and node.attr in outside.MEMBERS
                to.everything |= node.attr in outside.HIDDEN or _root(node) == "builtins"
            elif isinstance(node, ast.FunctionDef) and node.name in outside.HOOKS:
                to.computed = True

    def _attribute(self, node: ast.Attribute) -> None:
        to, receiver = self.survey, _dotted(node.value)
        if _root(node) in self.foreign:
            to.keep(node.attr, "outside")
        if isinstance(node.ctx, ast.Store):
            to.define(node.attr, MEMBER)
        if receiver not in self.own or receiver in self.bound:
            to.members.add(node.attr)

    def _call(self, node: ast.Call) -> None:
        for each in node.keywords:
            if each.arg is None:
                continue
            form, callee = "other", ""
            if _root(node.func) not in self.foreign:
                form = {ast.Name: "name", ast.Attribute: "member"}.get(type(node.func), "other")
                callee = _last(node.func)
            self.survey.keywords.add((each.arg, form, callee))

    def _definition(self, node: ast.AST) -> None:
        to = self.survey
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            to.define(node.name, PRIVATE if node.name.startswith("_") else FUNCTION)
            to.definitions.add(node.name)
            self._parameters(node)
        elif isinstance(node, ast.Lambda):
            self._parameters(node)
        elif isinstance(node, ast.ClassDef):
            self._class(node)
        elif isinstance(node, ast.ExceptHandler | ast.MatchAs | ast.MatchStar) and node.name:
            to.define(node.name, VARIABLE)
            to.variables.add(node.name)
        elif isinstance(node, ast.MatchMapping) and node.rest:
            to.define(node.rest, VARIABLE)
        elif isinstance(node, ast.MatchClass):
            to.members |= set(node.kwd_attrs)
            for name in node.kwd_attrs if _root(node.cls) in self.foreign else ():
                to.keep(name, "outside")
        elif type(node).__name__ in ("TypeVar", "ParamSpec", "TypeVarTuple"):
            to.define(str(getattr(node, "name", "")), VARIABLE)

    def _parameters(self, node: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda) -> None:
        to, found = self.survey, arguments(node)
        to.parameters |= found
        to.takes_any |= node.args.kwarg is not None
        for name in found:
            to.define(name, VARIABLE)
        if isinstance(node, ast.Lambda):
            return
        by_pytest = node.name.startswith(("test", "pytest_", "setup", "teardown"))
        decorators = [_last(each) for each in node.decorator_list]
        ours = outside.DECORATORS | {"setter", "getter", "deleter"} | self._ours()
        alien = [name for name in decorators if name not in ours]
        if by_pytest or alien:
            for name in found | {node.name}:
                to.keep(name, "tests" if by_pytest or "fixture" in alien else "outside")

    def _ours(self) -> set[str]:
        """Names at the top of this file that are the task's own."""
        return (self.own | self.top) - self.foreign

    def _class(self, node: ast.ClassDef) -> None:
        to = self.survey
        to.define(node.name, CLASS)
        to.definitions.add(node.name)
        if node.name.startswith("Test"):
            to.keep(node.name, "tests")
        found = to.classes.setdefault(node.name, Defined())
        found.bases |= {_last(base.value if isinstance(base, ast.Subscript) else base) for base in node.bases}
        metaclasses = {_last(each.value) for each in node.keywords if each.arg == "metaclass"}
        found.odd |= bool(metaclasses - {"ABCMeta"}) or any(each.arg != "metaclass" for each in node.keywords)
        for each in node.keywords:
            to.keep(each.arg or "", "outside")
        alien = {_last(each) for each in node.decorator_list} - outside.DECORATORS - self._ours()
        if alien:
            found.odd = True
            to.keep(node.name, "outside")
        for part in node.body:
            names = {part.name} if isinstance(part, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) else set()
            for target in part.targets if isinstance(part, ast.Assign) else [getattr(part, "target", None)]:
                names |= {n.id for n in ast.walk(target) if isinstance(n, ast.Name)} if target is not None else set()
            found.members |= names
            to.members |= names
            if isinstance(part, ast.AnnAssign):
                to.fields |= names
            for name in names:
                to.define(name, MEMBER)
        for below in ast.walk(node):
            if isinstance(below, ast.Attribute) and isinstance(below.ctx, ast.Store):
                found.inside.add(below.attr)
            elif isinstance(below, ast.FunctionDef | ast.AsyncFunctionDef):
                found.inside |= {below.name} | arguments(below)


def arguments(node: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda) -> set[str]:
    """Names of a function's parameters."""
    args = node.args
    every = [*args.posonlyargs, *args.args, args.vararg, *args.kwonlyargs, args.kwarg]
    return {arg.arg for arg in every if arg is not None}


def _last(node: ast.expr) -> str:
    """The last name of what is called, derived from or used as a decorator."""
    if isinstance(node, ast.Call):
        return _last(node.func)
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""


def _root(node: ast.AST) -> str:
    """The name that a chain of members, calls and subscripts starts from."""
    while isinstance(node, ast.Attribute | ast.Call | ast.Subscript | ast.Await):
        node = node.func if isinstance(node, ast.Call) else node.value
    return node.id if isinstance(node, ast.Name) else ""


def _dotted(node: ast.AST) -> str:
    """`a.b.c` as text, or nothing."""
    parts: list[str] = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    return ".".join([node.id, *reversed(parts)]) if isinstance(node, ast.Name) else ""
