"""Which identifiers of a task can be renamed everywhere at once, and why others can't.

A spelling is renamed in all of a task's Python files or in none, so nothing has to be guessed about which object an
attribute belongs to: it is enough that no occurrence is, or may be, of something that the task doesn't own.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from stages.packs import mutate_outside as outside

WHY = {
    "pinned": "part of the pinned interface, or declared in task.yaml",
    "path": "the name of a file or module",
    "outside": "comes from outside the task, or may",
    "text": "stands in a string, or in a file that isn't Python",
    "prose": "stands in the statement outside of code",
    "tests": "a fixture or a test's argument, which pytest finds by name",
    "computed": "members or names are reached by computed text in this task",
    "unknown": "imports from outside are of a package whose members aren't known",
    "budget": "beyond the task's budget",
}

PRIVATE, CLASS, FUNCTION, MEMBER, VARIABLE = range(5)
"""How much a name identifies a task, most first."""


@dataclass
class Defined:
    """A class by its name: names of its bases, of its members with their parameters."""

    bases: set[str] = field(default_factory=set)
    members: set[str] = field(default_factory=set)
    inside: set[str] = field(default_factory=set)
    odd: bool = False


@dataclass
class Survey:
    """What all Python files of a task say of each spelling. `ranks`: what is defined. `kept`: spelling to why."""

    tops: frozenset[str]
    paths: frozenset[str]
    ranks: dict[str, int] = field(default_factory=dict)
    kept: dict[str, str] = field(default_factory=dict)
    definitions: set[str] = field(default_factory=set)
    variables: set[str] = field(default_factory=set)
    parameters: set[str] = field(default_factory=set)
    fields: set[str] = field(default_factory=set)
    members: set[str] = field(default_factory=set)
    top: set[str] = field(default_factory=set)
    classes: dict[str, Defined] = field(default_factory=dict)
    keywords: set[tuple[str, str, str]] = field(default_factory=set)
    takes_any: bool = False
    unknown: bool = False
    computed: bool = False
    everything: bool = False

    def keep(self, name: str, why: str) -> None:
        self.kept.setdefault(name, why)

    def define(self, name: str, rank: int) -> None:
        self.ranks[name] = min(rank, self.ranks.get(name, rank))

    def conclude(self) -> None:
        """Decide what only the whole task can show: classes from outside, keywords, computed names."""
        foreign = outside.outside_names()
        for name in (self.members & foreign) | outside.BUILTINS:
            self.keep(name, "outside")
        for name, each in self.classes.items():
            if self._odd(name, set()):
                for member in each.members | each.inside:
                    self.keep(member, "outside")
        for name, form, callee in self.keywords:
            known = callee in self.definitions and callee not in self.variables | self.parameters
            known = known and (name in self.parameters or name in self.fields) and not self.takes_any
            known = known and self._own_constructor(callee, set()) and not callee.startswith("__")
            if not known or form == "other" or (form == "member" and callee in foreign):
                self.keep(name, "outside")
        mangled = {found[1] for name in self.members if (found := re.match(r"_+([A-Za-z]\w*?)__", name))}
        for name in self.classes:
            if name.lstrip("_") in mangled:
                self.keep(name, "computed")
        for name in self.ranks:
            if self.everything or (self.computed and name in self.members | self.top | self.definitions):
                self.keep(name, "computed")
            elif self.unknown and name in self.members:
                self.keep(name, "unknown")

    def _odd(self, name: str, seen: set[str]) -> bool:
        """Whether a class or one of its own ancestors stands on something that may look for members by name."""
        found = self.classes[name]
        if found.odd or any(base not in self.classes and base not in outside.BASES for base in found.bases):
            return True
        return any(self._odd(b, seen | {b}) for b in found.bases if b in self.classes and b not in seen | {name})

    def _own_constructor(self, name: str, seen: set[str]) -> bool:
        """Whether keywords of a call are parameters that the task defines itself."""
        found = self.classes.get(name)
        if found is None:
            return True
        if found.members & {"__init__", "__new__"}:
            return not found.odd
        return all(
            self._own_constructor(base, seen | {base}) if base in self.classes else base in outside.PLAIN_BASES
            for base in found.bases - seen - {name}
        )
