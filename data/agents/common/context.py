"""What an operator may look at when it proposes edits."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from random import Random

from common.edits import Edit
from common.kinds import Kinds
from common.project import Project
from common.runner import Result
from common.source import Function, Source, parameters
from common.spectrum import Levels
from common.statement import Hints
from common.task import Task


@dataclass(frozen=True)
class Context:
    """One round's view: the tree as it stands, the hints, the results of the visible tests, the suspicion."""

    task: Task
    project: Project
    hints: Hints
    results: Sequence[Result]
    levels: Levels
    rng: Random

    def level(self, path: str, line: int) -> float:
        """Return the suspicion of a line; 0.0 for lines that aren't known."""
        found = self.levels.get(path, [])
        return found[line] if 0 <= line < len(found) else 0.0

    def hot(self, *kinds: type[ast.AST]) -> Iterator[tuple[Source, ast.AST]]:
        """Yield every node of these kinds on a suspected line, with its file."""
        for source in self.project.code():
            for node in source.nodes:
                if isinstance(node, kinds) and self.level(source.path, node.lineno) > 0:
                    yield source, node

    @cached_property
    def failures(self) -> list[Result]:
        """The results of the visible tests that fail."""
        return [result for result in self.results if not result.passed]

    @cached_property
    def kinds(self) -> Kinds:
        """Guesses at types."""
        return Kinds(self.project)

    @cached_property
    def defined(self) -> dict[str, list[tuple[Source, Function]]]:
        """Every function and method of the code by name."""
        found: dict[str, list[tuple[Source, Function]]] = {}
        for source in self.project.code():
            for function in source.functions:
                found.setdefault(function.name, []).append((source, function))
        return found

    def names_at(self, source: Source, node: ast.AST) -> list[str]:
        """Return parameters and local names of the functions around a node, in order of the text."""
        found: dict[str, None] = {}
        function = source.function_of(node)
        while function is not None:
            found.update(dict.fromkeys(parameters(function)))
            for inner in ast.walk(function):
                if isinstance(inner, ast.Name) and isinstance(inner.ctx, ast.Store):
                    found[inner.id] = None
            function = source.function_of(function)
        return list(found)

    def globals_of(self, source: Source) -> dict[str, str]:
        """Return the kind ("function", "class", "value" or "import") of every name at the top of a file."""
        found: dict[str, str] = {}
        for node in source.tree.body:
            if isinstance(node, Function):
                found[node.name] = "function"
            elif isinstance(node, ast.ClassDef):
                found[node.name] = "class"
            elif isinstance(node, ast.Assign | ast.AnnAssign):
                targets = node.targets if isinstance(node, ast.Assign) else [node.target]
                found.update({item.id: "value" for item in targets if isinstance(item, ast.Name)})
            elif isinstance(node, ast.Import | ast.ImportFrom):
                found.update({item.asname or item.name.split(".")[0]: "import" for item in node.names})
        return found

    def attributes_of(self, owner: ast.ClassDef | None) -> tuple[list[str], list[str]]:
        """Return (fields, methods) of a class, in order of the text."""
        fields: dict[str, None] = {}
        methods: dict[str, None] = {}
        for node in ast.walk(owner) if owner is not None else ():
            if isinstance(node, Function):
                plain = not any(
                    isinstance(item, ast.Name) and item.id == "property" for item in node.decorator_list
                )
                (methods if plain else fields)[node.name] = None
            elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
                if isinstance(node.value, ast.Name) and node.value.id == "self":
                    fields[node.attr] = None
            elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name) and node in owner.body:
                fields[node.target.id] = None
        return list(fields), list(methods)


Operator = Callable[[Context], Iterator[Edit]]
