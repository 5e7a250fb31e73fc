"""What a name stands for: dotted origins and constant texts, followed through aliases and files.

An origin is `os.environ` for something of a module that isn't in the tree, `builtins.exec` for a built-in,
`.billing.settings.env` for a definition in the tree. Each comes with whether the patch touched a binding on
the way. Following is bounded: what needs more than MAX_HOPS steps, or a file that needs more than MAX_STEPS
steps in circles, is reported as tangled.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Hashable

from stages.assumptions.scopes import Binding, Scope, join
from stages.assumptions.stdlib import STDLIB
from stages.assumptions.workspace import Workspace, placed

MAX_HOPS, MAX_STEPS, MAX_TEXTS, MAX_NAME = 40, 20_000, 64, 200

Found = dict[str, bool]
"""Origins or texts, each with whether the patch touched how it comes about."""

_HANDED_ON = re.compile(r"^(?P<top>\w+)(?:\.\w+)*\.(?P<module>os|sys|builtins)(?P<rest>\..+)?$")
_LOOKED_FOR = """
    __builtins__ __import__ compile dict eval exec frozenset getattr globals list open set sorted tuple vars
"""
_BUILTINS = frozenset(_LOOKED_FOR.split())  # no star import is taken to hide them
_SAME = {"posix": "os", "nt": "os", "posixpath": "os.path", "ntpath": "os.path", "__builtins__": "builtins"}


def merge(*parts: Found) -> Found:
    """All of them, the first MAX_TEXTS; fresh where one of them is."""
    merged: Found = {}
    for part in parts:
        for name, fresh in part.items():
            if name in merged or len(merged) < MAX_TEXTS:
                merged[name] = merged.get(name, False) or fresh
    return merged


class Names:
    """Follows names in one tree. `fresh` says whether lines of a file were touched by the patch."""

    def __init__(self, workspace: Workspace, fresh: Callable[[str, int, int], bool]) -> None:
        self._workspace, self._fresh = workspace, fresh
        self._memo: dict[Hashable, Found | None] = {}
        self._builtin: dict[str, Found] = {}
        self._open: dict[Hashable, int] = {}
        self._low = MAX_HOPS
        self._steps = 0
        self.tangled = False

    def begin(self) -> None:
        """A new file: its steps are counted afresh."""
        self._steps, self.tangled = 0, False

    def origins(self, expr: ast.expr, scope: Scope) -> Found:
        attributes = []
        while isinstance(expr, ast.Attribute):
            attributes.append(expr.attr)
            expr = expr.value
        if isinstance(expr, ast.Name):
            found = self._name(expr.id, scope)
        elif isinstance(expr, ast.Call | ast.Subscript | ast.NamedExpr | ast.IfExp | ast.BoolOp):
            from stages.assumptions.derived import expression  # which follows names in its turn

            inner = expr
            found = self.once(inner, lambda: expression(self, inner, scope)) or {}
        else:
            return {}
        for attribute in reversed(attributes):
            if not found:
                break
            found = self._all(found, lambda name, a=attribute: self.canonical(f"{name}.{a}", scope.path))  # type: ignore[misc]
        return found

    def bindings(self, expr: ast.expr, scope: Scope) -> list[Binding] | None:
        """The bindings behind a name or a module's attribute, imports followed; None where there are none."""
        if isinstance(expr, ast.Name):
            home = self._home(expr.id, scope)
            found = home.names[expr.id] if home else None
            if found and len(found) == 1 and found[0].form == "module":
                return self._member(found[0].name, scope.path)
            return found
        if isinstance(expr, ast.Attribute):
            origins = list(self.origins(expr.value, scope))
            return self._member(f"{origins[0]}.{expr.attr}", scope.path) if len(origins) == 1 else None
        return None

    def touched(self, binding: Binding) -> bool:
        return self._fresh(binding.scope.path, *binding.lines)

    def _name(self, name: str, scope: Scope) -> Found:
        home = self._home(name, scope)
        if home is not None:
            if (home, name) in self._memo:
                return self._memo[home, name] or {}
            bindings = home.names[name]
            return self.once((home, name), lambda: merge(*map(self._binding, bindings))) or {}
        top = list(scope.chain())[-1]
        for module in top.stars if name not in _BUILTINS else ():
            found = self.canonical(join(module, name), scope.path)
            if any(self._known(origin) for origin in found):
                return found
        if name not in self._builtin:
            said = f"builtins.{name}" if name != "__builtins__" else "builtins"
            self._builtin[name] = self.canonical(said, scope.path)
        return self._builtin[name]

    def _known(self, origin: str) -> bool:
        """Whether a star import can be taken to bring this in."""
        return origin.split(".")[0] in STDLIB or self._member(origin, "") is not None

    @staticmethod
    def _home(name: str, scope: Scope) -> Scope | None:
        candidate: Scope | None = scope
        while candidate is not None:
            if candidate.kind != "class" or candidate is scope:
                home = candidate.elsewhere.get(name, candidate) if candidate.elsewhere else candidate
                if name in home.names:
                    return home
            candidate = candidate.parent
        return None

    def _binding(self, binding: Binding) -> Found:
        touched = self.touched(binding)
        if binding.form == "module":
            found = self.canonical(binding.name, binding.scope.path)
        elif binding.form == "value" and binding.value is not None:
            found = self.origins(binding.value, binding.scope)
        elif binding.form == "definition" and binding.scope.kind == "module":
            found = {join(placed(binding.scope.path), binding.name): False}
        else:
            return {}
        return {name: touched or fresh for name, fresh in found.items()}

    def canonical(self, name: str, path: str) -> Found:
        """One name for one thing: platform modules, modules handed on by others, names of the tree."""
        if len(name) > MAX_NAME:
            return {}
        top, dot, rest = name.partition(".")
        if top in _SAME:
            name = _SAME[top] + dot + rest
        handed = _HANDED_ON.match(name)
        if handed and handed["top"] in STDLIB:
            return {handed["module"] + (handed["rest"] or ""): False}
        if name == "importlib.__import__":
            return {"builtins.__import__": False}
        if top in STDLIB:
            return {name: False}
        folder = path.rpartition("/")[0]
        return self.once(("name", folder, name), lambda: self._placed(name, path)) or {}

    def _placed(self, name: str, path: str) -> Found:
        file, rest = self._split(name, path)
        if file is None:
            return {name: False}
        here = placed(file) if not file.endswith("/") else "." + file[:-1].replace("/", ".")
        if not rest:
            return {here: False}
        top = self._workspace.scope(file)
        if top is None:
            return {f"{here}.{'.'.join(rest)}": False}
        found = self._name(rest[0], top) if rest[0] in top.names or top.stars else {}
        for attribute in rest[1:]:
            found = self._all(found, lambda n, a=attribute: self.canonical(f"{n}.{a}", file))  # type: ignore[misc]
        return found

    def _split(self, name: str, path: str) -> tuple[str | None, list[str]]:
        """The file of the longest prefix that is a module of the tree, and what follows it."""
        lead = "." if name.startswith(".") else ""
        parts = name[len(lead) :].split(".")
        for i in range(min(len(parts), 12), 0, -1):
            file = self._workspace.locate(lead + ".".join(parts[:i]), path or None)
            if file is not None:
                return file, parts[i:]
        return None, parts

    def _member(self, name: str, path: str) -> list[Binding] | None:
        for _ in range(MAX_HOPS):
            if name.split(".")[0] in STDLIB:
                return None
            file, rest = self._split(name, path)
            top = self._workspace.scope(file) if file is not None else None
            found = top.names.get(rest[0]) if top is not None and len(rest) == 1 else None
            if not found or len(found) > 1 or found[0].form != "module":
                return found
            name, path = found[0].name, found[0].scope.path
        return None

    def _all(self, found: Found, step: Callable[[str], Found]) -> Found:
        return merge(*({n: fresh or f for n, f in step(name).items()} for name, fresh in found.items()))

    def once(self, key: Hashable, compute: Callable[[], Found | None]) -> Found | None:
        """Compute once. A question that comes up while it is being answered is cut there; answers below the
        cut are provisional and not remembered. Only provisional work is limited: the rest is linear."""
        if key in self._memo:
            return self._memo[key]
        depth = len(self._open)
        if key in self._open:
            self._steps += 1
            self._low = min(self._low, self._open[key])
            return {}
        if depth >= MAX_HOPS or self._steps > MAX_STEPS:
            self.tangled, self._low = True, -1
            return {}
        outer, self._low = self._low, MAX_HOPS
        self._open[key] = depth
        answer = compute()
        del self._open[key]
        if self._low >= depth:
            self._memo[key], self._low = answer, MAX_HOPS
        else:
            self._steps += 1
        self._low = min(outer, self._low) if depth else MAX_HOPS
        return answer
