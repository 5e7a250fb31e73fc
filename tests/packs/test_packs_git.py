"""Workspaces from git tags, held against git's own answers."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
import yaml

from stages.contract import layout
from stages.contract.study import entries, read_frozen, read_plan
from stages.contract.task import Source
from stages.contract.trees import Entry
from stages.freeze import freeze
from stages.packs.gitsource import read_tag
from tests.packs.repositories import commit, git, make_repository, pinned
from tests.support import mini

FILES = [
    Entry("latest", "120000", b"src/adder.py"),
    Entry("run.sh", "100755", b"#!/bin/sh\n"),
    Entry("src/adder.py", "100644", b"def add(a, b):\n    return a - b\n"),
]


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    return make_repository(tmp_path / "repository")


def read(base: Path, source: dict[str, str]) -> list[Entry]:
    return read_tag(Source(**source), base, "here")


def study_from(root: Path, source: dict[str, str]) -> Path:
    """A mini study whose first task has its workspace from a git source."""
    mini.make_study(root, items=2, placebos=1)
    folder = root / "data/pack/tasks/item-0"
    shutil.rmtree(folder / "workspace")
    value = {**yaml.safe_load((folder / "task.yaml").read_text()), "source": source}
    (folder / "task.yaml").write_text(yaml.safe_dump(value))
    return root


@pytest.mark.parametrize("tag", ["v1", "v1-annotated"])
def test_a_tag_freezes_to_the_tree_that_git_names(repository: Path, tmp_path: Path, tag: str) -> None:
    root = study_from(tmp_path / "study", pinned(repository, tag))
    freeze(root)
    plan = read_plan(root)
    assert plan.items[0].tree_git == git(repository, "rev-parse", f"{tag}^{{tree}}")
    assert plan.items[0].source == {"git": str(repository), "tag": tag, "commit": git(repository, "rev-parse", "v1")}
    assert entries(read_frozen(root, plan, layout.TREES))[("item-0", "workspace")] == FILES


def test_a_folder_freezes_to_the_tree_that_git_names(tmp_path: Path) -> None:
    root = mini.make_study(tmp_path / "study", items=2, placebos=1)
    work = root / "data/pack/tasks/item-0/workspace"
    (work / "run.sh").write_text("#!/bin/sh\n")
    (work / "run.sh").chmod(0o755)
    (work / "link").symlink_to("run.sh")
    (work / "tests.py").write_text("")  # sorts before the folder `tests`, whose name git takes as `tests/`
    freeze(root)
    shutil.copytree(work, tmp_path / "copy", symlinks=True)
    git(tmp_path / "copy", "init", "--quiet")
    commit(tmp_path / "copy")
    assert read_plan(root).items[0].tree_git == git(tmp_path / "copy", "rev-parse", "HEAD^{tree}")


def test_a_bundle_file_is_as_good_as_its_repository(repository: Path, tmp_path: Path) -> None:
    git(repository, "bundle", "create", "--quiet", str(tmp_path / "all.bundle"), "--all")
    assert read(tmp_path, pinned(repository, "v1", "all.bundle")) == FILES


def test_a_bare_and_a_shallow_clone_are_as_good_as_their_repository(repository: Path, tmp_path: Path) -> None:
    git(tmp_path, "clone", "--quiet", "--bare", str(repository), "bare")
    git(tmp_path, "clone", "--quiet", "--depth=1", "--branch=v1", f"file://{repository}", "shallow")
    for name in ("bare", "shallow", f"file://{tmp_path}/bare"):
        assert read(tmp_path, pinned(repository, "v1", name)) == FILES


def test_what_the_repository_does_later_changes_nothing(repository: Path, tmp_path: Path) -> None:
    source = pinned(repository, "v1")
    before = read(tmp_path, source)
    git(repository, "checkout", "--quiet", "--orphan", "other")
    git(repository, "rm", "-rfq", "--cached", ".")
    commit(repository, "another history")
    git(repository, "branch", "-D", "main")
    git(repository, "branch", "v1")  # a branch of the same name isn't what is meant
    git(repository, "gc", "--quiet", "--prune=now")
    assert read(tmp_path, source) == before == FILES


def test_neither_the_users_configuration_nor_a_calling_hook_is_heard(
    repository: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = tmp_path / "home"
    mini.write(home / ".gitconfig", '[url "/nowhere/"]\n  insteadOf = /\n[core]\n  autocrlf = true\n')
    other = make_repository(tmp_path / "other")
    held = git(other, "for-each-ref")
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("GIT_DIR", str(other / ".git"))
    monkeypatch.setenv("GIT_WORK_TREE", str(other))
    monkeypatch.setenv("GIT_INDEX_FILE", str(other / ".git/index"))
    assert read(tmp_path, pinned(repository)) == FILES
    assert git(other, "for-each-ref") == held


def test_attributes_of_the_repository_rewrite_nothing(repository: Path, tmp_path: Path) -> None:
    (repository / ".gitattributes").write_text("*.py text eol=crlf ident export-subst\nrun.sh export-ignore\n")
    (repository / "src/adder.py").write_text("# $Id$ $Format:%H$\n")
    commit(repository)
    git(repository, "tag", "v3")
    found = {e.path: e.content for e in read(tmp_path, pinned(repository, "v3"))}
    assert found["src/adder.py"] == b"# $Id$ $Format:%H$\n"
    assert "run.sh" in found


def test_names_that_an_author_may_not_use_pass_in_a_tag(repository: Path, tmp_path: Path) -> None:
    for name in ("node_modules/a.js", "README", "readme", "old.orig"):
        mini.write(repository / name, name)
    (repository / "dangling").symlink_to("nowhere")
    commit(repository)
    git(repository, "tag", "v3")
    root = study_from(tmp_path / "study", pinned(repository, "v3"))
    freeze(root)
    assert read_plan(root).items[0].tree_git == git(repository, "rev-parse", "v3^{tree}")
