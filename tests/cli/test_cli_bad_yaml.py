"""What can be wrong with a YAML file as a file."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

from tests.cli.refusals import Case, parametrised, put, text

TASK = "data/pack/tasks/item-0/task.yaml"


def _head(new: str) -> Callable[[Path], object]:
    return text("params.yaml", "study:\n", new)


def _replace_by(name: str, make: Callable[[Path], object]) -> Callable[[Path], object]:
    def damage(root: Path) -> None:
        (root / name).unlink()
        make(root / name)

    return damage


CASES = [
    Case("broken YAML", _head("study: [\n"), ("params.yaml:", "YAML"), process=True),
    Case("a tab for indentation", text("params.yaml", "  mode", "\tmode"), ("params.yaml:2", "\\t")),
    Case("a tag", _head('x: !!python/object/apply:os.system ["id"]\nstudy:\n'), ("params.yaml:1", "a tag")),
    Case("an anchor", _head("study: &again\n"), ("params.yaml:1", "an anchor")),
    Case("an alias", text(TASK, "placebo: false", "placebo: *x"), ("item-0/task.yaml:", "an alias")),
    Case("a billion laughs", put("params.yaml", "a: &a [x,x]\nb: &b [*a,*a]\nc: [*b,*b]\n"), ("params.yaml:1",)),
    Case("a repeated key", _head("pack: {}\nstudy:\n"), ("params.yaml:", "'pack' twice")),
    Case("a repeated key of a task", text(TASK, "rev:", "rev: '1'\nrev:"), (TASK, "'rev' twice")),
    Case("a merge key", _head("<<: {a: 1}\nstudy:\n"), ("params.yaml: <<", "unknown key")),
    Case("a key that is no text", _head("1: x\nstudy:\n"), ("params.yaml:1", "a key that is no text")),
    Case("two documents", _head("a: 1\n---\nstudy:\n"), ("params.yaml:", "YAML")),
    Case("an empty file", put("params.yaml", ""), ("params.yaml", "nothing at the top")),
    Case("a file of comments", put(TASK, "# nothing\n"), (TASK, "nothing at the top")),
    Case("a list at the top", put("params.yaml", "- a\n"), ("params.yaml", "a list at the top"), process=True),
    Case("text at the top", put("data/pack/pack.yaml", "mini\n"), ("data/pack/pack.yaml", "text at the top")),
    Case("no UTF-8", put("params.yaml", b"study: \xff\n"), ("params.yaml", "byte 7 isn't UTF-8"), process=True),
    Case("UTF-16", put("params.yaml", "study: {}\n".encode("utf-16")), ("params.yaml", "isn't UTF-8")),
    Case("a byte-order mark", put("params.yaml", b"\xef\xbb\xbfstudy: {}\n"), ("params.yaml", "byte-order mark")),
    Case("a NUL", put("params.yaml", b"study: {}\0\n"), ("params.yaml", "NUL")),
    Case("an escaped NUL", put("data/pack/pack.yaml", 'id: "a\\0b"\n'), ("pack.yaml:1", "no text")),
    Case("half a surrogate pair", put("data/pack/pack.yaml", 'id: "\\ud800"\n'), ("pack.yaml:1", "no text")),
    Case("a control character", put("params.yaml", b"a: b\nstudy: \x07\n"), ("params.yaml:2", "U+0007")),
    Case("a huge file", put("params.yaml", b"#" * 300_000), ("params.yaml", "larger than 262,144 bytes")),
    Case("deep nesting", put("params.yaml", "a: " + "[" * 100_000), ("params.yaml:1", "nesting")),
    Case("deep nesting in blocks", put("params.yaml", "- " * 100_000), ("params.yaml:1", "nesting")),
    Case("many small nodes", put("params.yaml", "a: [" + "x," * 30_000 + "]"), ("params.yaml:1", "beyond limits")),
    Case("no file", _replace_by("params.yaml", lambda _: None), ("params.yaml", "doesn't exist"), process=True),
    Case("a folder for a file", _replace_by("params.yaml", Path.mkdir), ("params.yaml", "is a folder")),
    Case("a pipe for a file", _replace_by(TASK, os.mkfifo), (TASK, "no regular file")),
    Case("a link for a task", _replace_by(TASK, lambda p: p.symlink_to("/etc/hostname")), (TASK, "is a link")),
    Case("a link to itself", _replace_by("params.yaml", lambda p: p.symlink_to(p.name)), ("params.yaml", "exist")),
]


@parametrised(CASES)
def test_a_file_that_is_no_plain_yaml_is_refused_in_one_line(case: Case, refuse: Callable[[Case], None]) -> None:
    refuse(case)
