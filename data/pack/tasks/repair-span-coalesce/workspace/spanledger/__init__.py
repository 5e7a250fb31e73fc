"""Bookkeeping of covered integer ranges."""

from spanledger.spans import SpanSet
from spanledger.text import format_spans, parse_spans

__all__ = ["SpanSet", "format_spans", "parse_spans"]
