"""The walk sees all that lies on disk, follows nothing, and believes none of the agent's settings."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from stages.contract.errors import InputError
from stages.contract.trees import EXECUTABLE, FILE, LINK, Change, Entry, apply
from stages.sandbox import Special, Tree, TreeTooLarge, compare, read_tree, remove_tree
from tests.support.others import others_may_read


def write(root: Path, path: str, content: bytes = b"x", mode: int = 0o644) -> Path:
    place = root / path
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_bytes(content)
    place.chmod(mode)
    return place


def paths(tree: Tree) -> list[str]:
    return [entry.path for entry in tree.entries]


def test_hidden_ignored_and_cached_files_all_count(tmp_path: Path) -> None:
    for path in (".gitignore", ".env", "a/__pycache__/m.cpython-311.pyc", "ignored.log", ".gitattributes"):
        write(tmp_path, path, b"*")
    assert paths(read_tree(tmp_path, skip_git=True)) == sorted(
        [".gitignore", ".env", "a/__pycache__/m.cpython-311.pyc", "ignored.log", ".gitattributes"]
    )


def test_only_the_top_level_git_folder_is_left_out_and_only_on_request(tmp_path: Path) -> None:
    write(tmp_path, ".git/config")
    write(tmp_path, "sub/.git/config")
    assert paths(read_tree(tmp_path, skip_git=True)) == ["sub/.git/config"]
    assert paths(read_tree(tmp_path, skip_git=False)) == [".git/config", "sub/.git/config"]


def test_modes_are_those_of_git(tmp_path: Path) -> None:
    write(tmp_path, "plain", mode=0o664)
    write(tmp_path, "program", mode=0o700)
    write(tmp_path, "group_only", mode=0o655)
    os.symlink("plain", tmp_path / "link")
    modes = {entry.path: entry.mode for entry in read_tree(tmp_path, skip_git=True).entries}
    assert modes == {"plain": FILE, "program": EXECUTABLE, "group_only": FILE, "link": LINK}


def test_no_link_is_followed(tmp_path: Path) -> None:
    outside = write(tmp_path, "outside/secret", b"secret").parent
    root = tmp_path / "root"
    root.mkdir()
    os.symlink(outside, root / "folder")
    os.symlink(outside / "secret", root / "file")
    os.symlink("nowhere", root / "dangling")
    os.symlink(".", root / "loop")
    tree = read_tree(root, skip_git=True)
    assert [(e.path, e.mode) for e in tree.entries] == [(p, LINK) for p in ("dangling", "file", "folder", "loop")]
    assert all(b"secret" not in entry.content or entry.path == "file" for entry in tree.entries)
    with pytest.raises(InputError):
        read_tree(root / "folder", skip_git=True)


def test_special_files_are_named_and_not_opened(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(tmp_path / "socket"))
        tree = read_tree(tmp_path, skip_git=True)
    assert tree == Tree([], [Special("pipe", "fifo"), Special("socket", "socket")])


def test_names_that_are_not_utf8_become_escaped_specials(tmp_path: Path) -> None:
    (Path(os.fsdecode(os.fsencode(tmp_path) + b"/caf\xe9"))).write_bytes(b"x")
    write(tmp_path, "café", b"y")
    tree = read_tree(tmp_path, skip_git=True)
    assert paths(tree) == ["café"]
    assert tree.specials == [Special("caf\\xe9", "name")]
    change = compare([], tree)[1] if compare([], tree)[0].path == "café" else compare([], tree)[0]
    assert (change.op, change.mode_after) == ("special", "special:name")
    assert change.path.encode()  # fit for JSON


def test_the_limits_are_exact(tmp_path: Path) -> None:
    for number in range(3):
        write(tmp_path, f"f{number}", b"x" * 10)
    read_tree(tmp_path, skip_git=True, max_files=3, max_file_bytes=10, max_tree_bytes=30)
    for limits, name in (
        ({"max_files": 2}, "files"),
        ({"max_file_bytes": 9}, "file_bytes"),
        ({"max_tree_bytes": 29}, "tree_bytes"),
    ):
        with pytest.raises(TreeTooLarge) as caught:
            read_tree(tmp_path, skip_git=True, **limits)
        assert caught.value.limit == name


def test_a_sparse_file_is_refused_without_being_read(tmp_path: Path) -> None:
    with (tmp_path / "sparse").open("wb") as stream:
        stream.truncate(1 << 40)
    with pytest.raises(TreeTooLarge) as caught:
        read_tree(tmp_path, skip_git=True)
    assert caught.value.limit == "file_bytes"


def test_a_bottomless_folder_is_refused(tmp_path: Path) -> None:
    folder = tmp_path
    for _ in range(70):
        folder = folder / "d"
    folder.mkdir(parents=True)
    with pytest.raises(TreeTooLarge) as caught:
        read_tree(tmp_path, skip_git=True)
    assert caught.value.limit == "depth"


_AS_OTHER = """
import os, sys
from pathlib import Path
sys.path[:0] = sys.argv[2:]
if os.geteuid() == 0:
    os.setgid(54321); os.setuid(54321)
from stages.sandbox.walk import read_tree, remove_tree
root = Path(sys.argv[1])
(root / "shut").mkdir(); (root / "shut" / "inner").write_text("x")
(root / "file").write_text("y")
os.chmod(root / "file", 0); os.chmod(root / "shut", 0)
tree = read_tree(root, skip_git=True)
print([e.path for e in tree.entries], [(s.path, s.kind) for s in tree.specials])
os.chmod(root / "shut" / "inner", 0); os.chmod(root / "shut", 0)
remove_tree(root)
print(root.exists())
"""


def test_what_the_agent_locked_is_opened_and_what_others_own_is_reported() -> None:
    """As an ordinary user where we are root, since nothing is locked for root."""
    import rfc8785

    if os.geteuid() == 0 and not os.path.exists("/usr/bin/python3"):
        pytest.skip("no interpreter that an ordinary user may execute")
    if os.geteuid() == 0 and not others_may_read(Path(__file__).parent):
        pytest.skip("this checkout lies where an ordinary user can't read it")
    parent = Path("/tmp") / f"wb-test-{os.getpid()}"
    root = parent / "root"
    root.mkdir(parents=True)
    try:
        expected = "[]"
        if os.geteuid() == 0:
            write(root, "theirs/inner").parent.chmod(0o700)
            write(root, "theirs_too", mode=0o600)
            os.chown(root, 54321, 54321)
            os.chown(parent, 54321, 54321)
            expected = "[('theirs', 'unreadable'), ('theirs_too', 'unreadable')]"
        program = "/usr/bin/python3" if os.geteuid() == 0 else sys.executable
        here = [str(Path(__file__).parents[2]), str(Path(rfc8785.__file__).parents[1])]
        done = subprocess.run([program, "-c", _AS_OTHER, str(root), *here], capture_output=True, text=True, check=False)
        assert done.stdout.splitlines()[:1] == [f"['file', 'shut/inner'] {expected}"], done.stderr
        assert os.geteuid() == 0 or done.stdout.splitlines()[1] == "False"
    finally:
        remove_tree(parent)


def test_every_kind_of_change_is_told_apart_and_sorted() -> None:
    frozen = [
        Entry("deleted", FILE, b"1"),
        Entry("modified", FILE, b"1"),
        Entry("same", FILE, b"1"),
        Entry("to_link", FILE, b"target"),
        Entry("to_pipe", FILE, b"1"),
        Entry("to_program", FILE, b"1"),
    ]
    produced = Tree(
        [
            Entry("added", FILE, b"2"),
            Entry("modified", FILE, b"2"),
            Entry("same", FILE, b"1"),
            Entry("to_link", LINK, b"target"),
            Entry("to_program", EXECUTABLE, b"1"),
        ],
        [Special("to_pipe", "fifo")],
    )
    changes = compare(frozen, produced)
    assert [(c.path, c.op, c.mode_before, c.mode_after) for c in changes] == [
        ("added", "add", None, FILE),
        ("deleted", "delete", FILE, None),
        ("modified", "modify", FILE, FILE),
        ("to_link", "modify", FILE, LINK),
        ("to_pipe", "special", FILE, "special:fifo"),
        ("to_program", "mode", FILE, EXECUTABLE),
    ]
    assert apply(frozen, changes) == produced.entries
    assert compare(frozen, Tree(frozen, [])) == []
    assert isinstance(changes[0], Change)
