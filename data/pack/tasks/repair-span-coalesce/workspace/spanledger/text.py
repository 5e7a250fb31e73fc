"""Spans as text, such as ``0-5,7-9``."""

from spanledger.spans import SpanSet


def parse_spans(text: str) -> SpanSet:
    """Read ``0-5,7-9``; blanks around the parts are allowed."""
    covered = SpanSet()
    for part in text.split(","):
        if not part.strip():
            continue
        start, dash, end = part.strip().partition("-")
        if not dash:
            raise ValueError(f"not a span: {part.strip()!r}")
        covered.add(int(start), int(end))
    return covered


def format_spans(covered: SpanSet) -> str:
    return ",".join(f"{start}-{end}" for start, end in covered.spans())
