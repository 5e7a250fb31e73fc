"""Send slips through the steps."""
from wagefold.sheet import read_line
from wagefold.steps import gross, net, overtime, pension, tax

STEPS = (gross, pension, tax, net)


def pay_slip(line: str) -> dict:
    """The full slip for a line of the time sheet."""
    slip = read_line(line)
    for step in STEPS:
        step(slip)
    return slip
