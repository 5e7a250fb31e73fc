"""Cells of a delivery list."""


def read_lines(text: str):
    """Yield (line number, cells) for the data lines of a list."""
    lines = text.splitlines()
    for number, line in enumerate(lines[1:], start=2):
        if line.strip():
            yield number, [cell.strip() for cell in line.split(";")]
