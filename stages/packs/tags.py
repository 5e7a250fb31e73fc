"""Tags of task revisions in the study's own repository."""

from __future__ import annotations

from pathlib import Path

import git

from stages.contract.errors import InputError
from stages.packs.read import read_task


def tag_tasks(root: Path, pack: Path, items: list[str]) -> list[str]:
    """Write `tasks/<item_id>/<rev>` at HEAD for each task; returns a line each.

    A tag that stands already must stand on the same bytes of the task: an edited task needs a new rev. Raises
    InputError otherwise, and where a task isn't committed.
    """
    try:
        repo = git.Repo(root, search_parent_directories=True)
        head = repo.head.commit
    except (git.InvalidGitRepositoryError, git.NoSuchPathError, ValueError):
        raise InputError(
            root, "is in no git repository with a commit", "a committed study", "git init, add, commit"
        ) from None
    top = Path(str(repo.working_tree_dir)).resolve()
    folder = pack / "tasks"
    names = items or sorted(p.name for p in folder.iterdir() if p.is_dir())
    wanted = []
    for name in names:
        if not (folder / name).is_dir() or "/" in name or name in (".", ".."):
            raise InputError(folder, f"no task {name!r}", "the name of a task folder")
        read = read_task(folder / name)
        inside = (folder / name).resolve().relative_to(top).as_posix()
        if repo.is_dirty(untracked_files=True, path=inside):
            raise InputError(folder / name, "has changes that aren't committed", "a committed task", "commit it first")
        wanted.append((f"tasks/{read.task.id}/{read.task.rev}", inside))
    lines = []
    for tag, inside in wanted:
        standing = next((t for t in repo.tags if t.name == tag), None)
        if standing is None:
            repo.create_tag(tag, ref=head)
            lines.append(f"{tag} at {head.hexsha[:12]}")
            continue
        try:
            old = (standing.commit.tree / inside).hexsha
        except KeyError:
            old = "nothing"
        if old != (head.tree / inside).hexsha:
            raise InputError(
                f"tag {tag}",
                "stands on other bytes of this task",
                "the same bytes",
                "give the task a new rev",
            )
        lines.append(f"{tag} stands already at {standing.commit.hexsha[:12]}")
    return lines
