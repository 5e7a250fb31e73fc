"""All deliveries of a day."""
from coldwatch.limits import Limits
from coldwatch.monitor import Monitor


def digest(deliveries: dict, limits: Limits, needed: int) -> dict:
    """Alarms by delivery; deliveries without any are left out."""
    found = {name: Monitor(limits, needed).run(lines) for name, lines in deliveries.items()}
    return {name: alarms for name, alarms in found.items() if alarms}
