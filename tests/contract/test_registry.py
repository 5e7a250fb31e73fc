"""The registry's chain: what is appended stays; a line that is removed, changed, put in or forked is named."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from stages.contract.digest import canonical, sha256
from stages.contract.errors import InputError
from stages.contract.registry import Item, Registered, Result, Withdrawn, entry_for, line_of, read_chain, standing

Lines = list[bytes]


def registered(number: int, previous: str | None, **more: Any) -> Registered:
    digest = f"{number:064x}"
    return Registered(
        previous=previous, manifest_sha256=digest, plan_sha256=digest, slice_id="a" * 64, study_id=digest,
        pack_id="pack", pack_revision="1", pack_sha256="b" * 64, mutation_seed=None, control="old",
        candidate=f"new-{number}", campaign="1", look=1, items={"x": Item(rev="1", sha256="c" * 64)}, **more,
    )  # fmt: skip


def chain(count: int) -> Lines:
    lines: Lines = []
    for number in range(count):
        lines.append(line_of(registered(number, sha256(lines[-1]) if lines else None)))
    return lines


def data(lines: Lines) -> bytes:
    return b"".join(line + b"\n" for line in lines)


def test_a_chain_is_read_as_it_was_written() -> None:
    lines = chain(4)
    found = read_chain(data(lines))
    assert [one.number for one in found] == [1, 2, 3, 4]
    assert [one.sha256 for one in found] == [sha256(line) for line in lines]
    assert read_chain(b"") == []


def test_what_is_withdrawn_stands_no_more() -> None:
    lines = chain(2)
    lines.append(line_of(Withdrawn(previous=sha256(lines[1]), entry=sha256(lines[0]))))
    found = read_chain(data(lines))
    assert [entry.candidate for _, entry in standing(found)] == ["new-1"]
    assert entry_for(f"{0:064x}", found) is None
    assert entry_for(f"{1:064x}", found) is not None


def _edit(number: int, **changes: Any) -> Callable[[Lines], Lines]:
    def change(lines: Lines) -> Lines:
        value = {**json.loads(lines[number]), **changes}
        return [*lines[:number], canonical(value), *lines[number + 1 :]]

    return change


def _added(entry: Callable[[Lines], Any]) -> Callable[[Lines], Lines]:
    return lambda lines: [*lines, line_of(entry(lines))]


def _result(lines: Lines, entry: str) -> Result:
    more = {"manifest_sha256": "d" * 64, "decision_sha256": "e" * 64, "decision": "withhold", "reason": "x"}
    return Result(previous=sha256(lines[-1]), entry=entry, **more)  # type: ignore[arg-type]


BROKEN: dict[str, tuple[Callable[[Lines], Lines | bytes], str, str]] = {
    "a line removed from within": (lambda x: [x[0], *x[2:]], ":2", "removed or rewritten"),
    "the first line removed": (lambda x: x[1:], ":1", "removed or rewritten"),
    "a line rewritten": (_edit(1, candidate="other"), ":3", "removed or rewritten"),
    "two lines changed about": (lambda x: [x[0], x[2], x[1], x[3]], ":2", "removed or rewritten"),
    "a fork": (_added(lambda x: registered(9, sha256(x[1]))), ":5", "forked: it follows line 2"),
    "a chain of its own": (_added(lambda _: registered(9, None)), ":5", "4 lines stand before it"),
    "a line twice": (lambda x: [*x, x[3]], ":5", "forked"),
    "a manifest twice": (_added(lambda x: registered(0, sha256(x[-1]))), ":5", "a manifest that line 1 has"),
    "a result of nothing": (_added(lambda x: _result(x, "f" * 64)), ":5", "entry ffff"),
    "a withdrawal of nothing": (_added(lambda x: Withdrawn(previous=sha256(x[-1]), entry="f" * 64)), ":5", "entry ffff"),
    "spaces": (lambda x: [*x[:3], x[3].replace(b":", b": ", 1)], ":4", "canonical"),
    "keys in another order": (lambda x: [b"{" + b",".join(reversed(x[0][1:-1].split(b',"'))) + b"}"], ":1", ""),
    "a torn last line": (lambda x: data(x)[:-20], ":4", "ends within a line"),
    "no last line end": (lambda x: data(x)[:-1], ":4", "ends within a line"),
    "an empty line": (lambda x: [x[0], b"", *x[1:]], ":2", "JSON"),
    "no JSON": (lambda x: [*x, b"registered"], ":5", "JSON"),
    "a list": (lambda x: [*x, b"[]"], ":5", "kind None"),
    "another kind": (_edit(3, kind="promised"), ":4", "kind promised"),
    "another schema": (_edit(3, schema="weighbridge.registry/2"), ":4", "schema"),
    "a key too many": (_edit(3, sure=True), ":4", "sure"),
    "a key too few": (lambda x: [*x[:3], canonical({k: v for k, v in json.loads(x[3]).items() if k != "look"})], ":4", "look"),
    "a look of nought": (_edit(3, look=0), ":4", "look"),
    "a look of text": (_edit(3, look="1"), ":4", "look"),
    "half a digest": (_edit(3, manifest_sha256="abc"), ":4", "manifest_sha256"),
    "no base64": (_edit(3, token="!!"), ":4", "token"),
    "NaN": (lambda x: [*x[:3], x[3].replace(b'"look":1', b'"look":NaN')], ":4", "JSON"),
    "a key twice": (lambda x: [*x[:3], x[3].replace(b'"look":1', b'"look":1,"look":1')], ":4", "twice"),
    "no UTF-8": (lambda x: data(x) + b"\xff\n", "registry", "UTF-8"),
    "a byte-order mark": (lambda x: b"\xef\xbb\xbf" + data(x), "registry", "byte-order"),
    "CRLF": (lambda x: data(x).replace(b"\n", b"\r\n"), ":1", "canonical"),
    "deep": (lambda x: [*x, b"[" * 5000 + b"]" * 5000], ":5", "JSON"),
}  # fmt: skip


@pytest.mark.parametrize("what", BROKEN)
def test_a_chain_that_is_broken_is_refused_in_a_line(what: str) -> None:
    change, where, why = BROKEN[what]
    made = change(chain(4))
    with pytest.raises(InputError) as told:
        read_chain(made if isinstance(made, bytes) else data(made), "registry.jsonl")
    said = str(told.value)
    assert where in said
    assert why in said
    assert len(said.splitlines()) == 1
