"""Slips as they were handed in."""


def read_slips(text: str) -> list:
    """Pairs of talk and points; empty lines are passed over."""
    slips = []
    for line in text.splitlines():
        if not line.strip():
            continue
        talk, points = line.rsplit(":", 1)
        if not 0 <= int(points) <= 10:
            raise ValueError(f"points must be from 0 to 10: {line!r}")
        slips.append((talk.strip(), int(points)))
    return slips
