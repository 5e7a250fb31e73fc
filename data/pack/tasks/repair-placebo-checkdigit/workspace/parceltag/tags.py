"""Tags: the number and its check digit."""

from parceltag.digits import check_digit, clean


def make_tag(number: str) -> str:
    """The tag in groups of four digits."""
    full = clean(number) + str(check_digit(number))
    return " ".join(full[start:start + 4] for start in range(0, len(full), 4))


def is_valid(tag: str) -> bool:
    """Whether the last digit is the check digit of those before."""
    try:
        digits = clean(tag)
        return len(digits) > 1 and check_digit(digits[:-1]) == int(digits[-1])
    except ValueError:
        return False
