"""What git holds of a study: its repository, files as HEAD has them, and which commit brought a line."""

from __future__ import annotations

import os
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import git


def repository(root: Path) -> tuple[git.Repo, str] | None:
    """(repository, the study's folder in it, empty or ending in a slash); None where there is none with a commit."""
    import git

    study = Path(os.environ.get("DVC_ROOT") or root).resolve()
    try:
        repo = git.Repo(study, search_parent_directories=True)
        repo.head.commit  # noqa: B018 — raises in a repository without one
        inside = study.relative_to(Path(str(repo.working_tree_dir)).resolve()).as_posix()
    except (git.InvalidGitRepositoryError, git.NoSuchPathError, ValueError, git.GitCommandError):
        return None
    return repo, "" if inside == "." else f"{inside}/"


def blob(commit: git.Commit, path: str) -> bytes | None:
    """The bytes of a file at a commit, or None where it has none."""
    try:
        return bytes((commit.tree / path).data_stream.read())
    except KeyError:
        return None


def versions(repo: git.Repo, path: str) -> Iterator[git.Commit]:
    """Commits of HEAD's history that touched a file, newest first, merges included."""
    yield from repo.iter_commits("HEAD", paths=path, full_history=True)


def moment(commit: git.Commit) -> str:
    """When a commit was made, by its committer's own word, UTC."""
    return datetime.fromtimestamp(commit.committed_date, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def commit_that_brought(repo: git.Repo, path: str, line: bytes) -> git.Commit | None:
    """The oldest commit of HEAD's history whose version of a file holds a line."""
    found = None
    for commit in versions(repo, path):
        if line in (blob(commit, path) or b"").split(b"\n"):
            found = commit
    return found
