"""Depth-first ordering of steps."""

import sys
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
    sys.setrecursionlimit(max(sys.getrecursionlimit(), 20 * len(steps) + 1000))
    order: list[str] = []
    trail: list[str] = []

    def visit(name: str, needed_by: str) -> None:
        if name in order:
            return
        if name not in steps:
            raise UnknownStep(name, needed_by)
        if name in trail:
            raise CycleError(trail[trail.index(name):] + [name])
        trail.append(name)
        for other in steps[name]:
            visit(other, name)
        trail.pop()
        order.append(name)

    for step in wanted:
        visit(step, "")
    return order


def final_steps(steps: Steps) -> Iterator[str]:
    """The steps that no other step needs."""
    needed = {other for others in steps.values() for other in others}
    return (name for name in steps if name not in needed)
