"""Time sheets."""


def read_line(line: str) -> dict:
    """Make an empty slip of a line ``name minutes rate``."""
    name, minutes, rate = line.split()
    if int(minutes) < 0 or int(rate) < 0:
        raise ValueError(f"negative numbers for {name}")
    return {"name": name, "minutes": int(minutes), "rate": int(rate), "kept": {}}
