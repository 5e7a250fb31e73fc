"""Syntax trees of languages other than Python: hostile bytes in, bounded trees out, or a reason in one line.

The grammars of ast-grep-py run in a process of their own (`grammar_child`), as they may take any time, or abort.
Trees are built here from what it answers. Whoever goes through one uses loops, not recursion.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
from array import array
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from importlib.util import find_spec
from pathlib import Path

from stages.assumptions.source import MAX_BYTES, Unreadable

CHILD = Path(__file__).with_name("grammar_child.py")
_BATCH = 2**20  # characters for one child
_BATCH_SECONDS = 300
_ENDS = re.compile(r"\r\n|\r|\n")

_COLUMNS = 5


class Node:
    """A node with its place in the text, characters `first` to `last`, half open. Comments are no nodes."""

    __slots__ = ("children", "first", "kind", "last", "named", "parent", "tree")

    def __init__(self, tree: Tree, kind: str, parent: Node | None, first: int, last: int, named: bool) -> None:
        self.tree, self.kind, self.parent = tree, kind, parent
        self.first, self.last, self.named = first, last, named
        self.children: list[Node] = []

    @property
    def text(self) -> str:
        return self.tree.text[self.first : self.last]

    @property
    def line(self) -> int:
        return self.tree.line(self.first)

    @property
    def lines(self) -> tuple[int, int]:
        """First and last line, 1-based."""
        return self.tree.line(self.first), self.tree.line(max(self.last - 1, self.first))

    @property
    def parts(self) -> list[Node]:
        """The named children."""
        return [child for child in self.children if child.named]

    def has(self, token: str) -> bool:
        """Whether a child is of this kind; unnamed ones are their own text."""
        return any(child.kind == token for child in self.children)

    def child(self, *kinds: str) -> Node | None:
        """The first child of one of these kinds."""
        return next((child for child in self.children if child.kind in kinds), None)

    def walk(self) -> Iterator[Node]:
        """This node and all below it, in the order of the text."""
        stack = [self]
        while stack:
            node = stack.pop()
            yield node
            stack += reversed(node.children)


class Tree:
    """A parsed text. `starts` are the places of its lines; `errors` are (first line, last line, reason)."""

    def __init__(self, text: str, starts: Sequence[int]) -> None:
        self.text, self.starts = text, starts
        self.nodes: list[Node] = []
        self.errors: list[tuple[int, int, str]] = []

    @property
    def root(self) -> Node:
        return self.nodes[0]

    def line(self, at: int) -> int:
        return max(bisect_right(self.starts, at), 1)


class Text:
    """A source as the grammar gets it: decoded, with the places where its lines begin."""

    def __init__(self, grammar: str, text: str, starts: Sequence[int], bad: int = 0) -> None:
        self.grammar, self.text, self.starts = grammar, text, starts
        self.bad = bad  # the line of the first byte that isn't UTF-8, 0 for none


def available() -> bool:
    """Whether the grammars are installed."""
    return find_spec("ast_grep_py") is not None


def decode(content: bytes, grammar: str) -> Text:
    """A source's text; bytes that aren't UTF-8 become U+FFFD. Raises Unreadable for long ones and for NUL."""
    if len(content) > MAX_BYTES:
        raise Unreadable(f"more than {MAX_BYTES} bytes")
    at = content.find(b"\0")
    if at >= 0:  # the grammars take it for the end
        raise Unreadable("a NUL byte", content.count(b"\n", 0, at) + 1)
    bad = 0
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        bad = content.count(b"\n", 0, error.start) + 1
        text = content.decode("utf-8-sig", "replace")
    return Text(grammar, text, line_starts(text), bad)


def line_starts(text: str) -> list[int]:
    return [0, *(match.end() for match in _ENDS.finditer(text))]


def parse(texts: Sequence[Text]) -> Iterator[Tree | Unreadable]:
    """A tree for each text, or why there is none, in turn."""
    done = 0
    while done < len(texts):
        batch: list[Text] = []
        size = 0
        for text in texts[done:]:
            if batch and size + len(text.text) > _BATCH:
                break
            batch.append(text)
            size += len(text.text)
        answered = 0
        for tree in _asked(batch):
            yield tree
            answered += 1
        if answered < len(batch):  # it ended at this one
            yield Unreadable("the grammar gives up on it")
            answered += 1
        done += answered


def _asked(batch: list[Text]) -> Iterator[Tree | Unreadable]:
    """Trees of as many of the texts as the child came to answer for."""
    request = json.dumps([[text.grammar, text.text] for text in batch]).encode()
    command = [sys.executable, "-I", str(CHILD)]
    try:
        done = subprocess.run(command, input=request, capture_output=True, timeout=_BATCH_SECONDS, check=False)
        answer = done.stdout
    except subprocess.TimeoutExpired as error:
        answer = error.stdout or b""
    at = 0
    for text in batch:
        end = answer.find(b"\n", at)
        if end < 0:
            break
        head = json.loads(answer[at:end])
        at = end + 1
        if head["nodes"] < 0:
            yield Unreadable("more syntax than is read")
            continue
        width = 4 * head["nodes"]
        if len(answer) < at + _COLUMNS * width:
            break
        columns = []
        for _ in range(_COLUMNS):
            column = array("i")
            column.frombytes(answer[at : at + width])
            columns.append(column)
            at += width
        yield _built(text, head["kinds"], columns)


def _built(text: Text, kinds: list[str], columns: list[array[int]]) -> Tree:
    tree = Tree(text.text, text.starts)
    for kind, parent, first, last, named in zip(*columns, strict=True):
        above = tree.nodes[parent] if parent >= 0 else None
        node = Node(tree, kinds[kind], above, first, last, bool(named))
        tree.nodes.append(node)
        if above is not None:
            above.children.append(node)
        missing = first == last and above is not None  # what the grammar put in to go on
        if node.kind == "ERROR" or missing:
            tree.errors.append((*node.lines, "a syntax error"))
    if text.bad:
        tree.errors.append((text.bad, text.bad, "not utf-8"))
    return tree
