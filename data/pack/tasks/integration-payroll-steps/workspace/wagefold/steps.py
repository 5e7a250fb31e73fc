"""The steps of the reckoning. All money is in whole cents."""

FULL_WEEK = 40 * 60
ALLOWANCE = 20_000


def _part(amount: int, numerator: int, denominator: int) -> int:
    """A part of an amount, a half cent going up."""
    return (2 * amount * numerator + denominator) // (2 * denominator)


def gross(slip: dict) -> None:
    """Pay for all of the time."""
    slip["gross"] = _part(slip["minutes"], slip["rate"], 60)
    slip["taxable"] = slip["gross"]


def overtime(slip: dict) -> None:
    """Half as much again for the time above the full week."""
    extra = _part(max(slip["minutes"] - FULL_WEEK, 0), slip["rate"], 120)
    slip["gross"] += extra
    slip["taxable"] += extra


def pension(slip: dict) -> None:
    """Contribution to the pension."""
    contribution = _part(slip["gross"], 5, 100)
    slip["kept"]["pension"] = contribution
    slip["taxable"] -= contribution


def tax(slip: dict) -> None:
    """A fifth of all that is above the allowance."""
    slip["kept"]["tax"] = _part(max(slip["taxable"] - ALLOWANCE, 0), 20, 100)


def net(slip: dict) -> None:
    """What is paid out."""
    slip["net"] = slip["gross"] - sum(slip["kept"].values())
