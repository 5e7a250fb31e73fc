"""Tags of task revisions in the study's own repository."""

from __future__ import annotations

from pathlib import Path

from stages.contract.errors import InputError
from stages.contract.trees import git_tree_id
from stages.packs.folder import read_folder
from stages.packs.gitsource import git
from stages.packs.read import read_task


def tag_tasks(root: Path, pack: Path, items: list[str]) -> list[str]:
    """Write `tasks/<item_id>/<rev>` at HEAD for each task, all or none of them; returns a line each.

    A tag that stands already must stand on the same bytes of the task: an edited task needs a new rev. Raises
    InputError otherwise, and where a task isn't committed as it lies there, ignored files included.
    """
    repo, head, top = _repository(root)
    folder = pack / "tasks"
    names = items or (sorted(p.name for p in folder.iterdir() if p.is_dir()) if folder.is_dir() else [])
    if not names:
        raise InputError(folder, "holds no task", "one folder per task")
    standing = {tag.name: tag for tag in repo.tags}
    wanted: dict[str, str] = {}
    for name in dict.fromkeys(names):
        if "/" in name or name in ("", ".", "..") or not (folder / name).is_dir():
            raise InputError(folder, f"no task {name!r}", "the name of a task folder")
        task = read_task(folder / name).task
        tag = f"tasks/{task.id}/{task.rev}"
        committed = _tree(head, folder / name, top)
        if committed is None or committed != git_tree_id(read_folder(folder / name)):
            raise InputError(folder / name, "has changes that aren't committed", "a committed task", "commit it first")
        if tag in standing and _tree(standing[tag], folder / name, top) != committed:
            raise InputError(
                f"tag {tag}",
                "stands on other bytes of this task",
                "the same bytes",
                "give the task a new rev",
            )
        wanted[tag] = f"{tag} stands already at {standing[tag].commit.hexsha[:12]}" if tag in standing else ""
    for tag in wanted:
        if tag not in standing:
            _create(repo, tag, head)
            wanted[tag] = f"{tag} at {head.hexsha[:12]}"
    return list(wanted.values())


def _repository(root: Path) -> tuple[git.Repo, git.Commit, Path]:
    """The repository of a study, its HEAD, and the folder that it is checked out in."""
    try:
        repo = git.Repo(root, search_parent_directories=True)
        if repo.working_tree_dir is not None:
            return repo, repo.head.commit, Path(repo.working_tree_dir).resolve()
    except (git.InvalidGitRepositoryError, git.NoSuchPathError, ValueError):
        pass
    raise InputError(root, "is in no git repository with a commit", "a committed study", "git init, add, commit")


def _tree(at: git.Commit | git.TagReference, folder: Path, top: Path) -> str | None:
    """Id of a folder's tree in a commit, or None."""
    try:
        commit = at if isinstance(at, git.Commit) else at.commit
        return str((commit.tree / folder.resolve().relative_to(top).as_posix()).hexsha)
    except (KeyError, ValueError):
        return None


def _create(repo: git.Repo, tag: str, head: git.Commit) -> None:
    try:
        # Not `git tag`, which a user's configuration may turn into a signed one that asks for a message.
        repo.git.update_ref(f"refs/tags/{tag}", head.hexsha, "0" * 40)
    except git.GitCommandError:
        raise InputError(f"tag {tag}", "can't be made", "no tag in its place, and a repository to write to") from None
