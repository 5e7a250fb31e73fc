"""Real git repositories for tests, made with the git program alone."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

_ENV = {
    **{key: value for key, value in os.environ.items() if not key.startswith("GIT_")},
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_CONFIG_GLOBAL": "/dev/null",
    "GIT_AUTHOR_NAME": "a",
    "GIT_AUTHOR_EMAIL": "a@example.org",
    "GIT_AUTHOR_DATE": "2026-01-01T00:00:00Z",
    "GIT_COMMITTER_NAME": "a",
    "GIT_COMMITTER_EMAIL": "a@example.org",
    "GIT_COMMITTER_DATE": "2026-01-01T00:00:00Z",
}


def git(folder: Path, *words: str) -> str:
    """What git prints, called in a folder."""
    done = subprocess.run(
        ["git", "-c", "protocol.file.allow=always", *words],
        cwd=folder,
        env=_ENV,
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout.strip()


def commit(folder: Path, message: str = "next") -> str:
    """Everything in the folder committed; the commit's id."""
    git(folder, "add", "--all", "--force")
    git(folder, "commit", "--quiet", "--allow-empty", "-m", message)
    return git(folder, "rev-parse", "HEAD")


def make_repository(folder: Path) -> Path:
    """A repository with a tagged workspace (a script and a link among its files), and a later fix that isn't in it."""
    (folder / "src").mkdir(parents=True)
    (folder / "src/adder.py").write_text("def add(a, b):\n    return a - b\n")
    (folder / "run.sh").write_text("#!/bin/sh\n")
    (folder / "run.sh").chmod(0o755)
    (folder / "latest").symlink_to("src/adder.py")
    git(folder, "init", "--quiet", "--initial-branch=main")
    commit(folder, "first")
    git(folder, "tag", "v1")
    git(folder, "tag", "-a", "v1-annotated", "-m", "the same")
    (folder / "src/adder.py").write_text("def add(a, b):\n    return a + b\n")
    commit(folder, "the fix")
    git(folder, "tag", "v2")
    return folder


def pinned(folder: Path, tag: str = "v1", address: str | None = None) -> dict[str, str]:
    """`source` of a task: this tag of the repository, pinned as git says."""
    return {
        "git": address or str(folder),
        "tag": tag,
        "commit": git(folder, "rev-parse", f"{tag}^{{commit}}"),
        "tree": git(folder, "rev-parse", f"{tag}^{{tree}}"),
    }
