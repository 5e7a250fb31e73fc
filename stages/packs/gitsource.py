"""A workspace from a git tag that is pinned to a commit and a tree. The repository's history goes no further."""

from __future__ import annotations

import re
import tempfile
from pathlib import Path

from stages.contract import limits
from stages.contract.errors import InputError, MissingInput
from stages.contract.task import Source
from stages.contract.trees import EXECUTABLE, FILE, LINK, Entry

try:
    import git as git
except ImportError:  # GitPython can't be imported without the program
    raise MissingInput("git", "isn't installed", "git on PATH, for tags and git sources") from None

_ENV = {
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_CONFIG_GLOBAL": "/dev/null",
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_ALLOW_PROTOCOL": "file:https:http:ssh:git",
    "LC_ALL": "C.UTF-8",
}
_MODES = {0o100644: FILE, 0o100755: EXECUTABLE, 0o120000: LINK}


def read_tag(source: Source, base: Path, where: str) -> list[Entry]:
    """The tree of the pinned tag, sorted by path. A relative address counts from `base`.

    Raises InputError when the repository can't be read, the name is no tag (`floating_source`), the tag has moved,
    or the tree holds what can't be frozen (submodules).
    """
    url, tag = source.git or "", source.tag or ""
    if url.startswith("-") or re.match(r"\w*::", url):
        raise InputError(where, f"a git source {url!r}", "a path, a bundle, or an https, ssh or git address")
    if not re.match(r"[a-z]+://|[^/]+@[^/]+:", url):
        url = str((base / url).resolve())
    if not re.fullmatch(r"[A-Za-z0-9_.][\w./+@-]*", tag) or ".." in tag:
        raise InputError(where, f"a tag name {tag!r}", "the name of a tag")
    with tempfile.TemporaryDirectory(prefix="wb-git-") as folder:
        repo = _repository(folder)
        try:
            commit = _fetch(repo, url, source, where)
            for what, found, pinned in (
                ("commit", commit.hexsha, source.commit),
                ("tree", commit.tree.hexsha, source.tree),
            ):
                if found != pinned:
                    raise InputError(
                        where,
                        f"tag {tag} stands at {what} {found}",
                        f"the pinned {pinned}",
                        "a tag that moved is another task: pin it anew under a new rev",
                    )
            return _entries(commit, where)
        except (git.GitError, git.ODBError, ValueError) as error:
            raise InputError(where, f"a tree that can't be read ({error})", "files and folders") from None
        finally:
            repo.close()


def _repository(folder: str) -> git.Repo:
    """An empty bare repository that looks at nothing but itself, even when called by a hook of another one."""
    place = Path(folder)
    for name in ("objects", "refs"):
        (place / name).mkdir()
    # By hand, since `git init` hears the GIT_WORK_TREE of a hook, and an environment can only be added to.
    (place / "HEAD").write_text("ref: refs/heads/none\n")
    (place / "config").write_text("[core]\n\trepositoryformatversion = 0\n\tbare = true\n")
    repo = git.Repo(folder)
    repo.git.update_environment(**_ENV, GIT_DIR=folder, GIT_OBJECT_DIRECTORY=f"{folder}/objects")
    return repo


def _fetch(repo: git.Repo, url: str, source: Source, where: str) -> git.Commit:
    try:
        listed = str(repo.git.ls_remote("--", url)).splitlines()
    except git.GitCommandError as error:
        raise InputError(where, f"{source.git} can't be read ({_said(error)})", "a git repository or bundle") from None
    names = {line.split("\t", 1)[1] for line in listed if "\t" in line}
    if f"refs/tags/{source.tag}" not in names:
        if source.tag in names or f"refs/heads/{source.tag}" in names:
            found = f"{source.tag} is a branch, not a tag (floating_source)"
            raise InputError(where, found, "a tag", "tag the commit and pin it")
        raise InputError(where, f"no tag {source.tag} in {source.git}", "a tag of that repository")
    try:
        repo.git.fetch("--quiet", "--depth=1", "--no-tags", "--", url, f"refs/tags/{source.tag}:refs/tags/pinned")
        return repo.tag("refs/tags/pinned").commit
    except git.GitCommandError as error:
        raise InputError(where, f"tag {source.tag} can't be fetched ({_said(error)})", "a whole repository") from None
    except ValueError:
        raise InputError(where, f"tag {source.tag} is of no commit", "a tag of a commit") from None


def _said(error: git.GitCommandError) -> str:
    """The first complaint of git."""
    said = str(error.stderr).strip().removeprefix("stderr:").strip(" \n'").splitlines()
    return said[0] if said else f"exit code {error.status}"


def _entries(commit: git.Commit, where: str) -> list[Entry]:
    found: list[Entry] = []
    total = 0
    for item in commit.tree.traverse(visit_once=False):
        if isinstance(item, git.Tree):
            continue
        path = str(getattr(item, "path", ""))
        if not isinstance(item, git.Blob) or item.mode not in _MODES:
            kind = f"mode {item.mode:o}" if isinstance(item, git.Blob) else "a submodule"
            raise InputError(f"{where}: {path}", kind, "files and links only")
        total += item.size
        if item.size > limits.MAX_FILE_BYTES or total > limits.MAX_ITEM_BYTES:
            raise InputError(f"{where}: {path}", f"{item.size:,} bytes", f"at most {limits.MAX_FILE_BYTES:,} a file")
        found.append(Entry(path, _MODES[item.mode], item.data_stream.read()))
    return sorted(found)
