"""Splitting of lines into fields."""

from collections.abc import Iterable, Iterator

SEPARATOR = "|"
QUOTE = '"'


class RecordError(ValueError):
    """A line that cannot be read."""


def _finish(buffer: list[str], quoted: bool) -> str | None:
    """The value of a field of which all characters are known."""
    text = "".join(buffer)
    if quoted:
        return text
    return text.strip() or None


def split_record(line: str) -> list[str | None]:
    """The fields of a line; missing values are ``None``."""
    fields: list[str | None] = []
    buffer: list[str] = []
    inside = quoted = False
    index = 0
    while index < len(line):
        char = line[index]
        if inside:
            if char != QUOTE:
                buffer.append(char)
            elif line.startswith(QUOTE, index + 1):
                buffer.append(QUOTE)
                index += 1
            else:
                inside = False
        elif char == QUOTE and not buffer:
            inside = quoted = True
        elif char == SEPARATOR:
            fields.append(_finish(buffer, quoted))
            buffer = []
            quoted = False
        else:
            buffer.append(char)
        index += 1
    if inside:
        raise RecordError(f"quote is not closed: {line!r}")
    if buffer or line.endswith(SEPARATOR):
        fields.append(_finish(buffer, quoted))
    return fields


def read_records(lines: Iterable[str]) -> Iterator[list[str | None]]:
    """All records, without the empty lines."""
    for line in lines:
        line = line.rstrip("\r\n")
        if line.strip():
            yield split_record(line)
