"""Rules, roles and the decision."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from fnmatch import fnmatchcase

ALLOW = "allow"
DENY = "deny"


@dataclass(frozen=True)
class Rule:
    """Allows or denies the actions that match a pattern."""

    effect: str
    pattern: str

    def covers(self, action: str) -> bool:
        return fnmatchcase(action.lower(), self.pattern)


@dataclass
class Role:
    """Own rules, and the names of the roles whose rules apply as well."""

    rules: list[Rule] = field(default_factory=list)
    extends: list[str] = field(default_factory=list)


class Policy:
    """All the roles there are."""

    def __init__(self, roles: dict[str, Role]):
        self._roles = roles

    def _rules(self, name: str, seen: set[str]) -> Iterator[Rule]:
        """Own rules first, then those of the extended roles; each role once."""
        if name in seen:
            return
        seen.add(name)
        role = self._roles[name]
        yield from role.rules
        for parent in role.extends:
            yield from self._rules(parent, seen)

    def explain(self, name: str, action: str) -> list[Rule]:
        """The rules that have a say on ``action``."""
        return [rule for rule in self._rules(name, set()) if rule.covers(action)]

    def is_allowed(self, name: str, action: str) -> bool:
        """Whether the role called ``name`` may do ``action``."""
        covering = self.explain(name, action)
        allowed = any(rule.effect == ALLOW for rule in covering)
        denied = any(rule.effect == DENY for rule in covering)
        return allowed and not denied
