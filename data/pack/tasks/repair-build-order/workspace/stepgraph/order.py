"""Depth-first ordering of steps."""

from collections.abc import Iterable, Iterator, Mapping, Sequence

Steps = Mapping[str, Sequence[str]]


class UnknownStep(KeyError):
    """A step that is needed but not defined."""

    def __init__(self, name: str, needed_by: str):
        super().__init__(name)
        self.name = name
        self.needed_by = needed_by


class CycleError(ValueError):
    """Steps that need one another."""

    def __init__(self, path: list[str]):
        super().__init__(" -> ".join(path))
        self.path = path


def run_order(steps: Steps, wanted: Iterable[str]) -> list[str]:
    """All that has to run for the ``wanted`` steps, in order."""
    order: list[str] = []
    trail: list[str] = []

    def visit(name: str, needed_by: str) -> None:
        if name not in steps:
            raise UnknownStep(name, needed_by)
        if name in trail:
            raise CycleError(trail + [name])
        trail.append(name)
        for other in steps[name]:
            visit(other, name)
        order.append(name)

    for step in wanted:
        visit(step, "")
    return order


def final_steps(steps: Steps) -> Iterator[str]:
    """The steps that no other step needs."""
    needed = {other for others in steps.values() for other in others}
    return (name for name in steps if name not in needed)
