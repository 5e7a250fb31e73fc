"""Roles from lines of text."""

from gatekeys.policy import ALLOW, DENY, Policy, Role, Rule


def load(lines: list[str]) -> Policy:
    """Read lines such as ``editor allow report.*`` or ``editor extends reader``."""
    roles: dict[str, Role] = {}
    for line in lines:
        words = line.split()
        if not words or words[0].startswith("#"):
            continue
        if len(words) != 3:
            raise ValueError(f"three words expected: {line!r}")
        name, verb, target = words
        role = roles.setdefault(name, Role())
        if verb in (ALLOW, DENY):
            role.rules.append(Rule(verb, target))
        elif verb == "extends":
            role.extends.append(target)
        else:
            raise ValueError(f"unknown verb: {verb!r}")
    return Policy(roles)
