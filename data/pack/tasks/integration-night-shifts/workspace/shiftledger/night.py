"""What counts as night."""

MORNING = 6 * 60
EVENING = 22 * 60


def night_minutes(start: int, end: int) -> int:
    """Minutes at night of a time within one day."""
    early = max(min(end, MORNING) - start, 0)
    late = max(end - max(start, EVENING), 0)
    return early + late
