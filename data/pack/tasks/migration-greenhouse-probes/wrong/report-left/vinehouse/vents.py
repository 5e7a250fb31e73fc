"""How far the roof vents open."""

SAFE_OPENING = 30


def opening(bank, probe: str, target: float) -> int:
    """Vent opening in percent: ten for each full degree above the target.

    A faulty probe, or one without a reading, gives the safe opening.
    """
    if bank.is_faulty(probe):
        return SAFE_OPENING
    now = bank.latest(probe)
    if now is None:
        return SAFE_OPENING
    return max(0, min(100, int(now - target) * 10))


def hottest(bank):
    """The sound probe with the highest latest reading (None if there is no sound one)."""
    best = None
    for name in bank.probe_names():
        if bank.is_faulty(name):
            continue
        if best is None or bank.latest(name) > bank.latest(best):
            best = name
    return best
