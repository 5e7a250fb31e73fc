"""Steps as lines of text, such as ``app: ui core``."""

from stepgraph.order import final_steps, run_order


def read_steps(text: str) -> dict[str, list[str]]:
    steps: dict[str, list[str]] = {}
    for line in text.splitlines():
        line = line.partition("#")[0].strip()
        if not line:
            continue
        name, colon, needs = line.partition(":")
        if not colon or not name.strip():
            raise ValueError(f"not a step: {line!r}")
        steps[name.strip()] = needs.split()
    return steps


def plan(text: str, *wanted: str) -> list[str]:
    """The order for the wanted steps, or for all final ones."""
    steps = read_steps(text)
    return run_order(steps, wanted or final_steps(steps))
