"""How far the roof vents open."""

SAFE_OPENING = 30


def opening(bank, probe: str, target: float) -> int:
    """Vent opening in percent: ten for each full degree above the target.

    A faulty probe, or one without a reading, gives the safe opening.
    """
    if bank.bad(probe):
        return SAFE_OPENING
    now = bank.get_value(probe)
    if now is None:
        return SAFE_OPENING
    return max(0, min(100, int(now - target) * 10))


def hottest(bank):
    """The sound probe with the highest latest reading (None if there is no sound one)."""
    best = None
    for name in bank.list_all():
        if bank.bad(name):
            continue
        if best is None or bank.get_value(name) > bank.get_value(best):
            best = name
    return best
