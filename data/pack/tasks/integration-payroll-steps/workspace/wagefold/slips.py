"""Slips on paper."""
from wagefold.payrun import pay_slip


def euros(cents: int) -> str:
    """Cents as euros."""
    return f"{cents // 100}.{cents % 100:02d}"


def print_slips(text: str) -> list[str]:
    """One line for each person, in order of the names, and the sum to transfer."""
    slips = sorted((pay_slip(line) for line in text.splitlines() if line.strip()), key=lambda slip: slip["name"])
    lines = [f"{slip['name']}: {euros(slip['gross'])} gross, {euros(slip['net'])} net" for slip in slips]
    lines.append(f"to transfer: {euros(sum(slip['net'] for slip in slips))}")
    return lines
