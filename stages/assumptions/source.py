"""Reading Python source that may be hostile: bytes in, a bounded syntax tree out, or a reason in one line.

Limits are set well inside what CPython 3.11 to 3.14 can take, so that the same source is readable on each.
"""

from __future__ import annotations

import ast
import codecs
import io
import threading
import tokenize
import warnings

from stages.assumptions.nodes import depth
from stages.contract.errors import one_line

MAX_BYTES = 2**20
MAX_DEPTH = 800
_ENCODINGS = """
    utf-8 ascii iso8859-1 iso8859-2 iso8859-9 iso8859-15 cp1250 cp1251 cp1252 koi8-r
    euc_jp shift_jis cp932 gbk gb2312 gb18030 big5 euc_kr cp949
"""
ENCODINGS = frozenset(_ENCODINGS.split())
"""Supersets of ASCII whose line ends are the bytes 10 and 13."""

_FILTERS = threading.Lock()  # warning filters belong to the process


class Unreadable(Exception):
    """A source that isn't read. Its text is the reason, its `line` the place where known, else 0."""

    def __init__(self, reason: str, line: int = 0) -> None:
        super().__init__(one_line(reason, 120))
        self.line = line


def parse(content: bytes) -> ast.Module:
    """The tree of a source file. Raises Unreadable, whatever the bytes."""
    if len(content) > MAX_BYTES:
        raise Unreadable(f"more than {MAX_BYTES} bytes")
    at = content.find(b"\0")
    if at >= 0:
        raise Unreadable("a NUL byte", content.count(b"\n", 0, at) + 1)
    try:
        declared, _ = tokenize.detect_encoding(io.BytesIO(content).readline)
        name = codecs.lookup(declared).name.removesuffix("-sig")
        if name not in ENCODINGS:
            raise Unreadable(f"the declared encoding {name} isn't one that is read", 1)
        text = content.decode(declared)
    except (SyntaxError, LookupError):
        raise Unreadable("no usable encoding", 1) from None
    except UnicodeDecodeError as error:
        raise Unreadable(f"not {error.encoding}", content.count(b"\n", 0, error.start) + 1) from None
    return parse_text(text)


def parse_text(text: str) -> ast.Module:
    """The tree of source text. Raises Unreadable for a syntax error and for trees deeper than MAX_DEPTH."""
    try:
        with _FILTERS, warnings.catch_warnings():
            warnings.simplefilter("ignore")  # invalid escapes are no finding
            tree = ast.parse(text)
    except SyntaxError as error:
        raise Unreadable("a syntax error", error.lineno or 0) from None
    except (RecursionError, MemoryError):
        raise Unreadable(f"nested deeper than {MAX_DEPTH}") from None
    except (ValueError, OverflowError):  # lone surrogates, absurd numbers
        raise Unreadable("no Python source") from None
    if depth(tree) > MAX_DEPTH:
        raise Unreadable(f"nested deeper than {MAX_DEPTH}")
    return tree
