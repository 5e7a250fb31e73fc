"""How much water a bed gets."""

BASE_TEMPERATURE = 10


def dose_ml(bank, probe: str, per_degree: int = 15) -> int:
    """Water in millilitres, by how far the mean lies above the base temperature."""
    if bank.is_faulty(probe):
        return 0
    mean = bank.mean(probe)
    if mean is None:
        return 0
    return max(0, round((mean - BASE_TEMPERATURE) * per_degree))


def check_spread(bank, probe: str, allowed: float) -> bool:
    """Flag a probe whose latest reading is further than `allowed` from its mean.

    True if the probe was flagged by this call.
    """
    mean = bank.mean(probe)
    if mean is None or bank.is_faulty(probe):
        return False
    if abs(bank.latest(probe) - mean) > allowed:
        bank.set_bad(probe)
        return True
    return False
