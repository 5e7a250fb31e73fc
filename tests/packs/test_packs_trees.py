"""Folders as frozen trees: what is let in, and what links may do."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from stages.contract.errors import InputError
from stages.contract.trees import Entry
from stages.packs.folder import read_folder
from stages.packs.hygiene import check_tree, refused_name
from tests.support.mini import write


def link(path: str, target: str) -> Entry:
    return Entry(path, "120000", target.encode())


def file(path: str) -> Entry:
    return Entry(path, "100644", b"")


@pytest.mark.parametrize(
    ("path", "target"),
    [("a", "b/c"), ("b/l", "c"), ("b/l", "../b/c"), ("b/d/l", "../../b/c"), ("l", "b"), ("l", "."), ("b/l", "..")],
)
def test_a_link_to_a_file_or_folder_of_its_tree_is_let_in(path: str, target: str) -> None:
    check_tree("t", [file("b/c"), file("b/d/e"), link(path, target)])


def test_a_chain_of_links_is_followed_to_its_end() -> None:
    chain = [link(f"l{n:02}", f"l{n + 1:02}") for n in range(20)]
    check_tree("t", [*chain, file("l20")])
    with pytest.raises(InputError, match="isn't there"):
        check_tree("t", [*chain, file("other")])


def test_a_link_through_a_linked_folder_is_let_in_if_it_leads_somewhere() -> None:
    check_tree("t", [file("real/x"), link("alias", "real"), link("l", "alias/x")])
    with pytest.raises(InputError, match="isn't there"):
        check_tree("t", [file("real/x"), link("alias", "real"), link("l", "alias/y")])


@pytest.mark.parametrize("target", ["..", "../x", "b/../../x", "../../x", "/x", "b/../c", "", "./../.."])
def test_a_link_that_leaves_or_might_leave_is_refused_whoever_wrote_it(target: str) -> None:
    for authored in (True, False):
        with pytest.raises(InputError, match="stays inside"):
            check_tree("t", [file("b/c"), link("l", target)], authored=authored)


@pytest.mark.parametrize("path", ["a/../b", "/a", "a//b", "", ".", "a\\b", "a\nb", "x" * 241, ".git/config", "a/.Git"])
def test_a_path_that_no_workspace_may_hold_is_refused_whoever_wrote_it(path: str) -> None:
    with pytest.raises(InputError):
        check_tree("t", [file(path)], authored=False)


def test_a_path_that_is_both_file_and_folder_is_refused() -> None:
    with pytest.raises(InputError, match="both file and folder"):
        check_tree("t", [file("a"), file("a/b")], authored=False)


@pytest.mark.parametrize("path", ["setup.py", "git/x.py", ".gitignore", ".github/x.yml", "cache/x", "env/x", "a.pycx"])
def test_an_ordinary_name_is_let_in(path: str) -> None:
    assert refused_name(path) is None


def test_a_folder_is_read_whole_in_order_with_git_modes_and_links_unfollowed(tmp_path: Path) -> None:
    write(tmp_path / "b.py", "b")
    write(tmp_path / "a/c.sh", "c")
    (tmp_path / "a/c.sh").chmod(0o750)
    (tmp_path / "b.py").chmod(0o646)
    (tmp_path / "empty").mkdir()
    (tmp_path / "z").symlink_to("a")
    (tmp_path / "a/up").symlink_to("../b.py")
    assert read_folder(tmp_path) == [
        Entry("a/c.sh", "100755", b"c"),
        Entry("a/up", "120000", b"../b.py"),
        Entry("b.py", "100644", b"b"),
        Entry("z", "120000", b"a"),
    ]


@pytest.mark.skipif(os.geteuid() == 0, reason="root reads everything")
def test_a_file_that_cant_be_read_is_refused(tmp_path: Path) -> None:
    write(tmp_path / "a", "")
    (tmp_path / "a").chmod(0)
    with pytest.raises(InputError, match="can't be read"):
        read_folder(tmp_path)
