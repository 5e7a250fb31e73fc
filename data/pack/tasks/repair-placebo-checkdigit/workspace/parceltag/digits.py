"""Check digits."""


def clean(number: str) -> str:
    """The digits alone."""
    digits = number.replace(" ", "").replace("-", "")
    if not digits or not all("0" <= char <= "9" for char in digits):
        raise ValueError(f"not a parcel number: {number!r}")
    return digits


def weighted_sum(digits: str) -> int:
    """The digits with the weights 3 and 1 in turn."""
    total = 0
    for position, char in enumerate(digits):
        weight = 3 if position % 2 == 1 else 1
        total += int(char) * weight
    return total


def check_digit(number: str) -> int:
    """The digit that completes the number of a parcel."""
    return -weighted_sum(clean(number)) % 10
