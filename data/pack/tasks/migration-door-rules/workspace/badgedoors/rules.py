"""Which badge may enter which area."""


class Denied(Exception):
    """A badge may not enter an area."""


class RuleBook:
    """The rights of all badges."""

    def __init__(self):
        self._rights = set()

    def grant(self, badge: str, area: str) -> None:
        """Let a badge enter an area."""
        self._rights.add((badge, area))

    def revoke(self, badge: str, area: str) -> None:
        """Take the right away; nothing happens if there was none."""
        self._rights.discard((badge, area))

    def check(self, badge: str, area: str) -> bool:
        """Whether a badge may enter an area."""
        return (badge, area) in self._rights

    def require(self, badge: str, area: str) -> None:
        """Raise Denied unless the badge may enter the area."""
        if not self.check(badge, area):
            raise Denied(f"{badge} may not enter {area}")

    def holders(self, area: str) -> list:
        """The badges that may enter an area, sorted."""
        return sorted(badge for badge, where in self._rights if where == area)
