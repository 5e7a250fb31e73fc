"""An exported workspace holds the frozen bytes, one commit, and no way out."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from stages.contract.errors import InputError, WeighbridgeError
from stages.contract.trees import EXECUTABLE, FILE, LINK, Entry, git_tree_id
from stages.sandbox import export, read_tree

TREE = [
    Entry("README.md", FILE, b"hello\r\nworld\n"),
    Entry("bin/run", EXECUTABLE, b"#!/bin/sh\n"),
    Entry("link", LINK, b"bin/run"),
    Entry('odd "name"\\with\ttab', FILE, b""),
    Entry("sub/up", LINK, b"../README.md"),
    Entry(".gitattributes", FILE, b"* text=auto\n*.md filter=evil\n"),
    Entry(".gitignore", FILE, b"ignored\n"),
    Entry("ignored", FILE, b"\0binary\n"),
]


def git(folder: Path, *args: str) -> str:
    env = {"PATH": os.environ["PATH"], "GIT_CONFIG_GLOBAL": "/dev/null", "GIT_CONFIG_NOSYSTEM": "1", "HOME": "/"}
    done = subprocess.run(["git", *args], cwd=folder, env=env, capture_output=True, text=True, check=True)
    return done.stdout.strip()


def test_what_is_exported_is_what_is_read_back(tmp_path: Path) -> None:
    export(TREE, tmp_path / "out", git=True)
    assert read_tree(tmp_path / "out", skip_git=True).entries == sorted(TREE)


def test_the_repository_has_one_commit_with_the_exact_bytes(tmp_path: Path) -> None:
    export(TREE, tmp_path / "out", git=True)
    out = tmp_path / "out"
    assert git(out, "rev-list", "--all", "--count") == "1"
    assert git(out, "rev-parse", "HEAD^{tree}") == git_tree_id(TREE)
    assert git(out, "for-each-ref", "--format=%(refname)") == "refs/heads/main"
    assert git(out, "reflog", "--all") == ""
    assert git(out, "fsck", "--unreachable", "--no-reflogs") == ""
    assert git(out, "diff", "--cached") == ""
    assert not (out / ".git" / "hooks").exists()


def test_the_same_tree_gives_the_same_commit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GIT_AUTHOR_NAME", "somebody")
    monkeypatch.setenv("GIT_DIR", "/nowhere")
    for name in ("a", "b"):
        export(TREE, tmp_path / name, git=True)
    monkeypatch.undo()
    assert git(tmp_path / "a", "rev-parse", "HEAD") == git(tmp_path / "b", "rev-parse", "HEAD")
    assert git(tmp_path / "a", "log", "-1", "--format=%an %ae %at %cn %ct %s") == (
        "frozen frozen@invalid 946684800 frozen 946684800 frozen"
    )


def test_an_empty_tree_can_be_exported(tmp_path: Path) -> None:
    export([], tmp_path / "out", git=True)
    assert git(tmp_path / "out", "rev-list", "--all", "--count") == "1"


@pytest.mark.parametrize(
    "entries",
    [
        [Entry("../out", FILE, b"")],
        [Entry("/etc/x", FILE, b"")],
        [Entry("a//b", FILE, b"")],
        [Entry("a/./b", FILE, b"")],
        [Entry("", FILE, b"")],
        [Entry("a\0b", FILE, b"")],
        [Entry("a", FILE, b""), Entry("a/b", FILE, b"")],
        [Entry("a", LINK, b"sub"), Entry("a/b", FILE, b"")],
        [Entry("a", FILE, b""), Entry("a", FILE, b"2")],
        [Entry("a", LINK, b"/etc/passwd")],
        [Entry("a", LINK, b"../x")],
        [Entry("a/b", LINK, b"../../x")],
        [Entry("a/b", LINK, b"c/../../../x")],
        [Entry("a", LINK, b"")],
        [Entry("a", "160000", b"")],
        [Entry(".git/config", FILE, b"")],
        [Entry("sub/.GIT/hooks/pre-commit", EXECUTABLE, b"")],
    ],
)
def test_a_tree_that_would_reach_outside_is_refused(tmp_path: Path, entries: list[Entry]) -> None:
    with pytest.raises(InputError):
        export(entries, tmp_path / "out", git=True)
    assert not list(tmp_path.rglob("*"))


def test_a_folder_that_holds_something_is_refused(tmp_path: Path) -> None:
    (tmp_path / "x").write_text("")
    with pytest.raises(WeighbridgeError):
        export(TREE, tmp_path, git=False)
