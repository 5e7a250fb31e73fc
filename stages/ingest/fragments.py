"""Pieces of Python files, made to parse without the rest: openers before, ends after, doubtful context left out.

A hunk begins and ends anywhere: within a block, a bracket or a text in triple quotes. What is put round it says
nothing of its own. Of several readings the one with the most code in it is taken; without one, the piece isn't read.
"""

from __future__ import annotations

import ast
import re
import warnings
from collections.abc import Iterator, Sequence
from typing import NamedTuple

MAX_FRAGMENT = 2**20
_MOST_LEFT_OUT = 5  # rows at either end
_TRIED_WHOLE = 2**16  # longer ones are tried as they are, and no shorter
_TOKEN = re.compile(
    r"(?P<triple>\"\"\"|''')|\"(?:[^\"\\\n]|\\.)*\"?|'(?:[^'\\\n]|\\.)*'?|(?P<comment>#.*)|(?P<bracket>[()\[\]{}])"
)
_CLOSES = {"(": ")", "[": "]", "{": "}"}
_OPENS = {close: open_ for open_, close in _CLOSES.items()}
_WORD = re.compile(r"\w+|@")
_HANDLERS = ("except", "finally")
_HEADS = ("def", "class", "if", "elif", "while", "for", "with", "async")
_IMPORT = re.compile(r"\s*(?:import\s+[\w., ]+|from\s+(?P<module>\.*[\w.]*)\s+import\s+(?P<names>[\w*(].*))$")


class Row(NamedTuple):
    """A line and where it stands: its number in the file if the patch added it, 0 if not, None if it was put here."""

    text: str
    place: int | None


class _Line(NamedTuple):
    """The first row of a logical line: its indentation, its first word, what it ends in."""

    lead: str
    word: str
    end: str


class _Outline(NamedTuple):
    lines: list[_Line]
    closers: str  # closing brackets that open before the fragment, in their order
    openers: str  # opening brackets that close after it
    closed_at: str  # indentation of the row with the last such closing bracket
    within: bool  # ends within a text in triple quotes


def parses(text: str) -> bool:
    """Whether Python reads the text; never raises."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError, OverflowError):
        return False
    return True


def readable(rows: Sequence[Row], attempts: int) -> list[Row] | None:
    """The fragment with what it lacks, as Python that parses; None where no reading is found.

    Lines of context at either end may be left out, but for those that open or close a text in triple quotes.
    """
    if sum(len(row.text) for row in rows) > MAX_FRAGMENT:
        return None
    head = next((i for i, row in enumerate(rows) if row.place), len(rows))
    tail = next((i for i, row in enumerate(reversed(rows)) if row.place), len(rows))
    most = range(_MOST_LEFT_OUT + 1)
    cuts = sorted(((i, j) for i in most[: head + 1] for j in most[: tail + 1] if i + j <= len(rows)), key=sum)
    whole = sum(len(row.text) for row in rows) > _TRIED_WHOLE
    for i, j in cuts[: 1 if whole else attempts]:
        end = len(rows) - j
        if _quotes(rows[:i]) % 2 or _quotes(rows[end:]) % 2:
            continue
        found = [made for made in _candidates(rows[i:end]) if parses("\n".join(row.text for row in made) + "\n")]
        if found:
            # what reads as code is taken for code: few texts do
            return max(found, key=lambda made: len(_outline(made).lines))
    return None


def imports_alone(rows: Sequence[Row]) -> list[Row]:
    """The fragment with nothing left but single lines that read as imports, for one that can't be parsed."""
    return [Row(_import_of(row.text) if row.place else "", row.place) for row in rows]


def _import_of(text: str) -> str:
    match = _IMPORT.match(text[:2000])
    if match is None:
        return ""
    line = text[:2000].strip()
    if not parses(line) and match["module"]:
        names = re.match(r"\(?\s*(\w+)", match["names"])
        line = f"from {match['module']} import {names[1] if names else '_'}"
    return line if parses(line) else ""


def _quotes(rows: Sequence[Row]) -> int:
    return sum(row.text.count('"""') + row.text.count("'''") for row in rows)


def _candidates(rows: Sequence[Row]) -> Iterator[list[Row]]:
    """The fragment as code from its start; with half of a text in quotes, as text at its start and at its end."""
    outline = _outline(rows)
    if not outline.within:
        yield _wrapped(list(rows), outline)
        return
    for quotes in ('"""', "'''"):
        if any(quotes in row.text for row in rows):
            after_it = _outline([Row(quotes, None), *rows]).lines[1:2]
            for made in (
                [Row((after_it[0].lead if after_it else "") + quotes, None), *rows],
                [*rows, Row(quotes, None)],
            ):
                outline = _outline(made)
                if not outline.within:
                    yield _wrapped(made, outline)


def _outline(rows: Sequence[Row]) -> _Outline:
    lines: list[_Line] = []
    stack: list[str] = []
    closers, closed_at, within, going = "", "", "", False
    for row in rows:
        text = row.text.rstrip()
        lead = text[: len(text) - len(text.lstrip())]
        fresh = not (within or stack or going)
        at, code = 0, ""
        while at < len(text):
            if within:
                end = text.find(within, at)
                at = len(text) if end < 0 else end + 3
                within = within if end < 0 else ""
                code += "s"
                continue
            match = _TOKEN.search(text, at)
            code += text[at : match.start() if match else None]
            if match is None:
                break
            at = match.end()
            within = match["triple"] or ""
            if match["bracket"]:
                code += match["bracket"]
                if match["bracket"] in _CLOSES:
                    stack.append(match["bracket"])
                elif stack:
                    stack.pop()
                else:
                    closers, closed_at = closers + match["bracket"], lead
            elif not match["comment"]:
                code += "s"
        going = code.endswith("\\") and not within
        stripped = code.strip()
        if stripped and fresh:
            word = _WORD.match(stripped)
            lines.append(_Line(lead, word[0] if word else "", stripped[-1]))
        elif stripped and lines:
            lines[-1] = lines[-1]._replace(end=stripped[-1])
    return _Outline(lines, closers, "".join(stack), closed_at, bool(within))


def _wrapped(rows: list[Row], outline: _Outline) -> list[Row]:
    """The rows between openers for blocks and brackets that began before them, and ends for those that go on."""
    lines, before, after = list(outline.lines), [], []
    if outline.closers:
        opener = outline.closed_at + "_ = " + "".join(_OPENS[c] for c in reversed(outline.closers))
        before.append(Row(opener, None))
        rest = [line for line in lines if len(line.lead) <= len(outline.closed_at)]
        lines = [_Line(outline.closed_at, "_", "s"), *rest]
    if lines and lines[0].word in ("elif", "else", *_HANDLERS):
        first = lines[0]
        word = "try" if first.word in _HANDLERS else "if 1"
        before = [Row(f"{first.lead}{word}: pass", None), *before]
    lowest: list[_Line] = []
    for line in lines:
        if not lowest or len(line.lead.expandtabs()) < len(lowest[-1].lead.expandtabs()):
            lowest.append(line)
    blocks = [Row(f"{line.lead}{'try' if line.word in _HANDLERS else 'if 1'}:", None) for line in lowest[:0:-1]]
    if lowest and lowest[-1].lead:
        blocks.insert(0, Row("if 1:", None))
    if outline.openers:
        ends = "".join(_CLOSES[c] for c in reversed(outline.openers))
        heads = bool(lines) and lines[-1].word in _HEADS
        after.append(Row(ends + ": pass" * heads, None))
    elif lines and lines[-1].end == ":":
        after.append(Row(lines[-1].lead + " pass", None))
    elif lines and lines[-1].word == "@":
        after.append(Row(lines[-1].lead + "def _(): pass", None))
    after += [Row(f"{lead}finally: pass", None) for lead in _open_tries(lines)]
    return [*blocks, *before, *rows, *after]


def _open_tries(lines: Sequence[_Line]) -> list[str]:
    """Indentations of `try:` blocks that have no handler yet at the end, innermost first."""
    open_: list[str] = []
    for line in lines:
        while open_ and len(line.lead) <= len(open_[-1]):
            open_.pop()
        if line.word == "try" and line.end == ":":
            open_.append(line.lead)
    return open_[::-1]
