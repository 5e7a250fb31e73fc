"""Read the jobs."""
from typing import NamedTuple


class Job(NamedTuple):
    name: str
    needs: tuple = ()
    retries: int = 0


def read_jobs(text: str) -> list:
    """Jobs of lines ``name: need, need; retries=n``; needs and retries may be left out."""
    jobs = []
    for line in text.splitlines():
        if not line.strip():
            continue
        name, _, rest = line.partition(":")
        needs, _, option = rest.partition(";")
        retries = 0
        if option.strip():
            key, _, value = option.strip().partition("=")
            if key != "retries":
                raise ValueError(f"unknown option {key!r}")
            retries = int(value)
        names = tuple(need.strip() for need in needs.split(",") if need.strip())
        jobs.append(Job(name.strip(), names, retries))
    return jobs
