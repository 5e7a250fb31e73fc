"""Put jobs in order."""
from typing import NamedTuple


class Step(NamedTuple):
    """A job, ready to be run."""

    name: str
    needs: tuple = ()
    retries: int = 0


def plan(jobs) -> list:
    """Steps such that each comes after those it needs; of several that could be next, the first by name."""
    waiting = {job.name: job for job in jobs}
    steps = []
    planned = set()
    while waiting:
        ready = sorted(name for name, job in waiting.items() if planned.issuperset(job.needs))
        if not ready:
            raise ValueError("jobs wait for each other or for unknown jobs: " + ", ".join(sorted(waiting)))
        job = waiting.pop(ready[0])
        planned.add(job.name)
        steps.append(Step(job.name, job.needs, job.retries))
    return steps
