"""`weighbridge task tag` in real repositories."""

from __future__ import annotations

from pathlib import Path

import pytest

from stages.contract.errors import InputError
from stages.packs.tags import tag_tasks
from tests.packs.repositories import commit, git
from tests.support import mini


@pytest.fixture
def study(tmp_path: Path) -> Path:
    """A committed mini study."""
    root = mini.make_study(tmp_path / "study", items=2, placebos=1)
    git(root, "init", "--quiet", "--initial-branch=main")
    commit(root)
    return root


def tag(root: Path, *items: str) -> list[str]:
    return tag_tasks(root, root / "data/pack", list(items))


def tags(root: Path) -> dict[str, str]:
    return {name: git(root, "rev-parse", name) for name in git(root, "tag").split()}


def edit(root: Path, **values: str) -> None:
    path = root / "data/pack/tasks/item-0/task.yaml"
    text = path.read_text()
    for key, value in values.items():
        text = "".join(f"{key}: '{value}'\n" if ln.startswith(f"{key}:") else ln for ln in text.splitlines(True))
    path.write_text(text)


def test_every_task_is_tagged_with_its_revision_at_head(study: Path) -> None:
    head = git(study, "rev-parse", "HEAD")
    lines = tag(study)
    assert tags(study) == {f"tasks/{name}/1": head for name in ("item-0", "item-1", "placebo-0")}
    assert lines == [f"{name} at {head[:12]}" for name in sorted(tags(study))]


def test_only_the_named_tasks_are_tagged(study: Path) -> None:
    tag(study, "item-1", "item-1")
    assert list(tags(study)) == ["tasks/item-1/1"]


def test_a_tag_on_the_same_bytes_stands_where_it_stood(study: Path) -> None:
    tag(study, "item-0")
    before = tags(study)
    (study / "notes.md").write_text("elsewhere")
    commit(study)
    (line,) = tag(study, "item-0")
    assert tags(study) == before
    assert "stands already" in line


def test_an_edited_task_needs_a_new_revision(study: Path) -> None:
    tag(study)
    edit(study, stratum="right")
    commit(study)
    with pytest.raises(InputError, match=r"tasks/item-0/1: stands on other bytes.*new rev"):
        tag(study)
    edit(study, rev="2")
    commit(study)
    tag(study)
    assert tags(study)["tasks/item-0/2"] == git(study, "rev-parse", "HEAD")


def test_one_refused_task_leaves_none_tagged(study: Path) -> None:
    (study / "data/pack/tasks/placebo-0/statement.md").write_text("edited\n")
    with pytest.raises(InputError, match="placebo-0: has changes that aren't committed"):
        tag(study)
    assert tags(study) == {}


@pytest.mark.parametrize("name", ["statement.md", "workspace/new.py", "workspace/m_item_0.py"])
def test_an_uncommitted_change_is_refused(study: Path, name: str) -> None:
    (study / "data/pack/tasks/item-0" / name).write_text("edited\n")
    with pytest.raises(InputError, match="aren't committed"):
        tag(study, "item-0")


def test_a_file_that_git_ignores_is_still_a_change(study: Path) -> None:
    (study / ".gitignore").write_text("*.bin\n")
    commit(study)
    (study / "data/pack/tasks/item-0/workspace/model.bin").write_bytes(b"frozen, and in no commit")
    with pytest.raises(InputError, match="aren't committed"):
        tag(study, "item-0")


def test_a_staged_change_isnt_committed(study: Path) -> None:
    (study / "data/pack/tasks/item-0/statement.md").write_text("edited\n")
    git(study, "add", "--all")
    with pytest.raises(InputError, match="aren't committed"):
        tag(study, "item-0")


@pytest.mark.parametrize("name", ["no-such", "../tasks", "..", "/etc"])
def test_a_task_that_there_isnt_is_refused(study: Path, name: str) -> None:
    with pytest.raises(InputError, match="no task"):
        tag(study, name)


def test_a_study_without_a_commit_is_refused(tmp_path: Path) -> None:
    root = mini.make_study(tmp_path / "study", items=1, placebos=1)
    with pytest.raises(InputError, match="no git repository with a commit"):
        tag(root)
    git(root, "init", "--quiet")
    with pytest.raises(InputError, match="no git repository with a commit"):
        tag(root)


def test_a_configuration_that_signs_tags_asks_nobody(study: Path) -> None:
    git(study, "config", "tag.gpgSign", "true")
    tag(study, "item-0")
    assert git(study, "cat-file", "-t", "tasks/item-0/1") == "commit"


def test_a_tag_in_the_way_is_refused_in_words(study: Path) -> None:
    git(study, "tag", "tasks/item-0")
    with pytest.raises(InputError, match="tag tasks/item-0/1: can't be made"):
        tag(study, "item-0")


def test_a_tag_of_no_commit_is_refused(study: Path) -> None:
    git(study, "tag", "tasks/item-0/1", git(study, "rev-parse", "HEAD:params.yaml"))
    with pytest.raises(InputError, match="stands on other bytes"):
        tag(study, "item-0")
