"""Wherever a repository keeps the fix that came later, neither the frozen bytes nor a trial's workspace hold it."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from stages.contract import layout
from stages.contract.study import entries, read_frozen, read_plan
from stages.freeze import freeze
from stages.sandbox import export, find, run
from tests.packs.repositories import commit, git, make_repository, pinned
from tests.packs.test_packs_git import study_from

FIX = "the-fix-that-came-later"

HUNTER = f"""
import json, os, subprocess, sys, zlib
FIX = {FIX!r}.encode()

def holds(content):
    if FIX in content:
        return True
    at = content.find(b"\\x78")  # every place where a zlib stream may begin, in loose objects and packs alike
    while at >= 0:
        try:
            if FIX in zlib.decompressobj().decompress(content[at:], 1 << 20):
                return True
        except zlib.error:
            pass
        at = content.find(b"\\x78", at + 1)
    return False

found = []
for folder, _, names in os.walk("."):
    for name in names:
        path = os.path.join(folder, name)
        if not os.path.islink(path) and holds(open(path, "rb").read()):
            found.append(path)
said = lambda *words: subprocess.run(["git", *words], capture_output=True).stdout
for line in said("cat-file", "--batch-all-objects", "--batch-check=%(objectname)").split():
    if FIX in said("cat-file", "-p", line.decode()):
        found.append(line.decode())
for words in (("log", "--all", "-p"), ("stash", "list", "-p"), ("reflog", "--all", "-p"), ("fsck", "--lost-found"), ("for-each-ref",)):
    if FIX in said(*words):
        found.append(" ".join(words))
commits = said("rev-list", "--all", "--reflog").split()
reached = [path for path in json.loads(sys.argv[1]) if os.path.lexists(path)]
print(json.dumps([found, len(commits), reached]))
"""


def _fixed(folder: Path) -> str:
    (folder / "src/adder.py").write_text(f"def add(a, b):\n    return a + b  # {FIX}\n")
    return commit(folder, FIX)


def later_tag(folder: Path) -> None:
    _fixed(folder)
    git(folder, "tag", "v3")


def branch(folder: Path) -> None:
    git(folder, "checkout", "--quiet", "-b", "fix")
    _fixed(folder)
    git(folder, "checkout", "--quiet", "main")


def reflog(folder: Path) -> None:
    before = git(folder, "rev-parse", "HEAD")
    _fixed(folder)
    git(folder, "reset", "--hard", "--quiet", before)


def unreachable_object(folder: Path) -> None:
    reflog(folder)
    git(folder, "reflog", "expire", "--expire=now", "--all")


def alternates(folder: Path) -> None:
    beside = folder.parent / "beside"
    git(folder.parent, "clone", "--quiet", str(folder), str(beside))
    _fixed(beside)
    (folder / ".git/objects/info/alternates").write_text(f"{beside}/.git/objects\n")


def stash(folder: Path) -> None:
    (folder / "src/adder.py").write_text(f"def add(a, b):\n    return a + b  # {FIX}\n")
    git(folder, "stash", "--quiet")


def working_tree(folder: Path) -> None:
    (folder / "src/adder.py").write_text(f"# {FIX}\n")
    (folder / "untracked.py").write_text(f"# {FIX}\n")


def packed(folder: Path) -> None:
    later_tag(folder)
    git(folder, "gc", "--quiet", "--aggressive")


def note(folder: Path) -> None:
    git(folder, "notes", "add", "-m", FIX, "v1")


def replacement(folder: Path) -> None:
    """`refs/replace` would make git itself hand out the fixed commit in place of the tagged one."""
    git(folder, "replace", git(folder, "rev-parse", "v1^{commit}"), _fixed(folder))


WAYS = [later_tag, branch, reflog, unreachable_object, alternates, stash, working_tree, packed, note, replacement]


@pytest.mark.parametrize("hide", WAYS, ids=lambda way: way.__name__)
def test_the_fix_is_neither_frozen_nor_in_a_workspace(tmp_path: Path, hide: Callable[[Path], None]) -> None:
    if find().tier == "none":
        pytest.skip(f"no namespaces here: {find().why}")
    repository = make_repository(tmp_path / "repository")
    source = pinned(repository)
    hide(repository)
    root = study_from(tmp_path / "study", source)
    freeze(root)
    files = entries(read_frozen(root, read_plan(root), layout.TREES))[("item-0", "workspace")]
    assert not [entry.path for entry in files if FIX.encode() in entry.content]
    workspace = tmp_path / "ws"
    export(files, workspace, git=True)
    outside = [str(repository), str(repository / ".git"), str(tmp_path / "beside"), str(root)]
    done = run(
        ["python3", "-c", HUNTER, json.dumps(outside)], isolation=find(), workspace=workspace, env={}, timeout_s=60
    )
    assert json.loads(done.stdout or "[]") == [[], 1, []], done.stderr


def test_the_hunter_does_find_it_in_a_clone(tmp_path: Path) -> None:
    """Else the test above would pass with a hunter that finds nothing anywhere: a clone holds a later tag's fix."""
    import subprocess
    import sys

    repository = make_repository(tmp_path / "repository")
    later_tag(repository)
    git(tmp_path, "clone", "--quiet", "--branch", "v1", str(repository), str(tmp_path / "clone"))
    done = subprocess.run(
        [sys.executable, "-c", HUNTER, json.dumps([str(repository)])],
        cwd=tmp_path / "clone",
        capture_output=True,
        check=True,
    )
    found, commits, reached = json.loads(done.stdout)
    assert "log --all -p" in found
    assert (commits > 1, reached) == (True, [str(repository)])
