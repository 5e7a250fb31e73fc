"""Run as a program of its own: parse hostile sources where running out of time or memory ends nobody else.

A tree-sitter grammar can take minutes and gigabytes over 20 kB of `a<a<a<`, and aborts its process then. So
this file knows nothing of the package and is run by path: requests in on stdin, flat syntax trees out on stdout.
`stages.assumptions.syntax` is the other side.

Request: a JSON array of [grammar, text]. Answer, per text: a JSON line {"nodes": n, "kinds": [...]}, then five
arrays of n 32-bit integers, nodes in preorder: kind, parent (-1 for none), first and last character (half open),
and 1 where the node is named. Kinds are numbered in the order of their first use. Comments are left out.
A text of more than the allowed nodes is answered by {"nodes": -1}.
"""

from __future__ import annotations

import json
import sys
from array import array
from typing import Any

CPU_SECONDS = 20  # for one text; an ordinary one of 1 MB takes under one
MEMORY = 3 * 2**30
MAX_NODES = 750_000


def main() -> None:
    """Answer every request in turn. A crash takes the rest with it; the other side asks for that again."""
    from ast_grep_py import SgRoot

    for grammar, text in json.loads(sys.stdin.buffer.read()):
        limit()
        kinds: dict[str, int] = {}
        columns = flat(SgRoot(text, grammar).root(), text, kinds)
        head = {"nodes": len(columns[0]) if columns else -1, "kinds": list(kinds)}
        sys.stdout.buffer.write(json.dumps(head).encode() + b"\n")
        for column in columns:
            sys.stdout.buffer.write(column.tobytes())
        sys.stdout.buffer.flush()


def limit() -> None:
    """Bound memory, and processor time from here on, where the platform can."""
    try:
        import resource
    except ImportError:
        return
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    used = resource.getrusage(resource.RUSAGE_SELF)
    _, hard = resource.getrlimit(resource.RLIMIT_CPU)
    resource.setrlimit(resource.RLIMIT_CPU, (int(used.ru_utime + used.ru_stime) + CPU_SECONDS, hard))


def flat(root: Any, text: str, kinds: dict[str, int]) -> list[array[int]]:
    """The tree's columns, none where it has too many nodes.

    Places come from the leaves' own texts, in order: asking the parser for one costs a scan from the start.
    """
    kind, parent, first, last, named = (array("i") for _ in range(5))
    at = 0
    stack = [(root, -1)]
    while stack:
        node, above = stack.pop()
        name = node.kind()
        leaf = node.is_leaf()
        begin = at
        if leaf:
            own = node.text()
            if own:
                begin = text.find(own, at)
                begin = at if begin < 0 else begin
                at = begin + len(own)
        if name.endswith("comment"):
            at = at if leaf else max(at, text.find(node.text(), at) + len(node.text()))
            continue
        here = len(kind)
        if here >= MAX_NODES:
            return []
        kind.append(kinds.setdefault(name, len(kinds)))
        parent.append(above)
        first.append(begin if leaf else -1)
        last.append(at)
        named.append(node.is_named())
        if not leaf:
            stack += [(child, here) for child in reversed(node.children())]
    for i in range(len(kind) - 1, 0, -1):  # an inner node spans its leaves
        above = parent[i]
        if first[i] < 0:
            first[i] = last[i]
        if first[above] < 0 or first[i] < first[above]:
            first[above] = first[i]
        last[above] = max(last[above], last[i])
    if kind and first[0] < 0:
        first[0] = 0
    return [kind, parent, first, last, named]


if __name__ == "__main__":
    main()
