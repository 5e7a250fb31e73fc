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

    seen: set[str] = set()
    pending = [(name, "", False) for name in reversed(list(wanted))]
    while pending:
        name, needed_by, left = pending.pop()
        if left:
            trail.pop()
            order.append(name)
            continue
        if name not in steps:
            raise UnknownStep(name, needed_by)
        if name in seen:
            if name not in order and name == (trail or [""])[0]:
                raise CycleError(trail + [name])
            continue
        seen.add(name)
        trail.append(name)
        pending.append((name, "", True))
        pending.extend((other, name, False) for other in reversed(steps[name]))
    return order


def final_steps(steps: Steps) -> Iterator[str]:
    """The steps that no other step needs."""
    needed = {other for others in steps.values() for other in others}
    return (name for name in steps if name not in needed)
