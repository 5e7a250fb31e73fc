"""What can be wrong with a git source."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.cli.refusals import Case, Damage, parametrised, task
from tests.packs.repositories import commit, git, make_repository, pinned

WHERE = "data/pack/tasks/item-0/task.yaml: source"
NOTHING = "0" * 40


def _source(change: Callable[[Path, dict[str, str]], Any] = lambda *_: None, tag: str = "v1") -> Damage:
    """The workspace of item-0 from a repository, after something happened to it or to the pin."""

    def damage(root: Path) -> None:
        repository = make_repository(root / "repository")
        source = pinned(repository, tag, "../../../../repository")
        change(repository, source)
        shutil.rmtree(root / "data/pack/tasks/item-0/workspace")
        task(lambda value: value.update(source=source))(root)

    return damage


def _pin(**values: str) -> Damage:
    return _source(lambda _, source: source.update(values))


def _submodule(repository: Path, source: dict[str, str]) -> None:
    git(repository, "submodule", "--quiet", "add", "./", "inner")
    commit(repository)
    git(repository, "tag", "v3")
    source.update(pinned(repository, "v3", source["git"]))


def _tree_with(name: str) -> Damage:
    """A tag of a tree that git itself would never write."""

    def change(repository: Path, source: dict[str, str]) -> None:
        blob = git(repository, "hash-object", "-w", "run.sh")
        tree = repository.parent / "tree"
        tree.write_bytes(f"100644 {name}".encode() + b"\0" + bytes.fromhex(blob))
        made = git(repository, "hash-object", "-w", "-t", "tree", "--literally", str(tree))
        git(repository, "tag", "v3", git(repository, "commit-tree", made, "-m", "odd"))
        source.update(pinned(repository, "v3", source["git"]))

    return _source(change)


CASES = [
    Case("a moved tag", _source(lambda repo, _: git(repo, "tag", "-f", "v1", "v2")), (WHERE, "tag v1 stands at commit", "moved")),
    Case("a wrong commit", _pin(commit=NOTHING), (WHERE, f"the pinned {NOTHING}")),
    Case("a wrong tree", _pin(tree=NOTHING), (WHERE, "tag v1 stands at tree", f"the pinned {NOTHING}"), process=True),
    Case("no pin", _source(lambda _, source: source.pop("tree")), (WHERE, "with tag, commit and tree")),
    Case("a short pin", _pin(commit="abc1234"), (f"{WHERE}.commit", "40 lowercase hex")),
    Case("a branch", _pin(tag="main"), (WHERE, "main is a branch", "floating_source"), process=True),
    Case("HEAD", _pin(tag="HEAD"), (WHERE, "HEAD is a branch", "floating_source")),
    Case("no such tag", _pin(tag="v9"), (WHERE, "no tag v9 in ../../../../repository")),
    Case("an option for a tag", _pin(tag="--upload-pack=touch /tmp/x"), (WHERE, "a tag name")),
    Case("a tag upwards", _pin(tag="../heads/main"), (WHERE, "a tag name")),
    Case("a tag of a file", _source(lambda repo, _: git(repo, "tag", "-f", "v1", "HEAD:run.sh")), (WHERE, "of no commit")),
    Case("no repository", _pin(git="../nowhere"), (WHERE, "../nowhere can't be read", "does not")),
    Case("a folder that is none", _pin(git="../item-1"), (WHERE, "../item-1 can't be read")),
    Case("an ext address", _pin(git="ext::sh -c touch% /tmp/wb-pwned"), (f"{WHERE}: a git source", "ext::")),
    Case("an fd address", _pin(git="fd::17"), (f"{WHERE}: a git source", "fd::17")),
    Case("an option for an address", _pin(git="--upload-pack=x"), (f"{WHERE}: a git source", "--upload-pack")),
    Case("both kinds of source", _pin(path="workspace"), (WHERE, "not both")),
    Case("a submodule", _source(_submodule), (f"{WHERE}: inner", "a submodule")),
    Case("a tree with .git in it", _tree_with(".git"), (WHERE, "can't be read", ".git")),
    Case("a tree with .. in it", _tree_with(".."), (WHERE, "can't be read", "..")),
    Case("a broken repository", _source(lambda repo, _: [shutil.rmtree(p) for p in (repo / ".git/objects").iterdir() if len(p.name) == 2]), (WHERE, "can't be")),
]  # fmt: skip


@parametrised(CASES)
def test_a_source_that_isnt_a_pinned_tag_is_refused_in_one_line(case: Case, refuse: Callable[[Case], None]) -> None:
    refuse(case)
    assert not Path("/tmp/wb-pwned").exists()
