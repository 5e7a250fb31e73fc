"""Read the export lines of the meter gateway."""


def parse_line(line: str) -> dict:
    """Split one export line, ``meter;day;amount;unit``, into a row."""
    parts = [part.strip() for part in line.split(";")]
    if len(parts) != 4:
        raise ValueError(f"expected 4 fields, got {len(parts)}: {line!r}")
    meter, day, amount, unit = parts
    return {"meter": meter, "day": day, "amount": amount, "unit": unit}


def read_rows(lines):
    """Yield the rows of an export; blank lines and ``#`` comments are passed over."""
    for line in lines:
        if line.strip() and not line.lstrip().startswith("#"):
            yield parse_line(line)
