"""Words of texts, and what in a text is code: spans and blocks of a statement, comments, docstrings."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

_WORD = re.compile(r"(?<!\\)\w+")  # not after a backslash, which may make its first letter an escape
_DASH = re.compile(r"(?<=\w)-(?=\w)")
_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})")
_SPAN = re.compile(r"(?<!`)(`+)(?!`)(.+?)(?<!`)\1(?!`)", re.DOTALL)
_LIST = re.compile(r"\s*([-*+]|\d+[.)])\s")
_SHAPED = re.compile(r"_|\d|[a-z][A-Z]")


def words(text: str) -> set[str]:
    """Whole words, and those that a dash would make as an underscore (an option `--dry-run` is `dry_run`)."""
    return {*re.findall(r"\w+", text), *re.findall(r"\w+", _DASH.sub("_", text))}


def replace_words(text: str, names: Mapping[str, str]) -> str:
    """The text with whole words exchanged."""
    return _WORD.sub(lambda found: names.get(found[0], found[0]), text)


def replace_spans(text: str, names: Mapping[str, str]) -> str:
    """The text of a Markdown file with whole words exchanged in its code only."""
    return "".join(replace_words(part, names) if code else part for code, part in code_parts(text))


def replace_remark(text: str, names: Mapping[str, str]) -> str:
    """A comment or docstring: words in backticks, and elsewhere only what no prose would be (`_past`, `LineEditor`).

    A docstring that shows a session is code from end to end.
    """
    if ">>>" in text:
        return replace_words(text, names)
    shaped = {name: to for name, to in names.items() if _SHAPED.search(name)}
    return "".join(replace_words(part, names if code else shaped) for code, part in _spans(text))


def code_parts(text: str) -> Iterator[tuple[bool, str]]:
    """(whether it is code, text) of all parts of a Markdown text, in order; where in doubt, it is prose.

    Code are fenced blocks, indented blocks after a blank line that stand in no list, and spans in backticks.
    """
    prose: list[str] = []
    fence, listed, blank, indented = "", False, True, False
    for line in text.splitlines(keepends=True):
        mark = _FENCE.match(line)
        if fence:
            yield True, line
            if mark and mark[1].startswith(fence) and not line[mark.end() :].strip():
                fence = ""
            continue
        deep = line.startswith(("    ", "\t")) and bool(line.strip())
        indented = deep and not listed and (blank or indented)
        if mark and "`" not in line[mark.end() :]:
            fence, code = mark[1], False  # the line of the fence itself may name a language
        else:
            code = indented
        if code:
            yield from _spans("".join(prose))
            prose = []
            yield True, line
        else:
            prose.append(line)
            if fence:
                yield from _spans("".join(prose))
                prose = []
        blank = not line.strip()
        if not blank and not deep:
            listed = bool(_LIST.match(line)) or (listed and line[:1].isspace())
        listed = listed or bool(deep and _LIST.match(line) and not indented)
    yield from _spans("".join(prose))


def _spans(text: str) -> Iterator[tuple[bool, str]]:
    """Spans in backticks, which no blank line interrupts."""
    for paragraph in re.split(r"(\n[ \t]*\n)", text):
        at = 0
        for found in _SPAN.finditer(paragraph):
            yield False, paragraph[at : found.start()]
            yield True, found[0]
            at = found.end()
        yield False, paragraph[at:]
