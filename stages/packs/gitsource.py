"""A workspace from a git tag that is pinned to a commit and a tree. The repository's history goes no further."""

from __future__ import annotations

import re
import tempfile
from pathlib import Path

import git

from stages.contract import limits
from stages.contract.errors import InputError
from stages.contract.task import Source
from stages.contract.trees import EXECUTABLE, FILE, LINK, Entry

_ENV = {
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_CONFIG_GLOBAL": "/dev/null",
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_ALLOW_PROTOCOL": "file:https:http:ssh:git",
    "LC_ALL": "C.UTF-8",
}
_MODES = {0o100644: FILE, 0o100755: EXECUTABLE, 0o120000: LINK}


def read_tag(source: Source, base: Path, where: str) -> list[Entry]:
    """The tree of the pinned tag, sorted by path.

    Raises InputError when the repository can't be read, the name is no tag (`floating_source`), the tag has moved,
    or the tree holds what can't be frozen (submodules).
    """
    url, tag = source.git or "", source.tag or ""
    if url.startswith("-") or "::" in url:
        raise InputError(where, f"a git source {url!r}", "a path, a bundle, or an https, ssh or git address")
    if not re.match(r"[a-z]+://|[^/]+@[^/]+:", url):
        url = str((base / url).resolve())
    if tag.startswith("-") or not re.fullmatch(r"[\w./+@-]+", tag) or ".." in tag:
        raise InputError(where, f"a tag name {source.tag!r}", "the name of a tag")
    with tempfile.TemporaryDirectory(prefix="wb-git-") as folder:
        repo = git.Repo.init(folder, bare=True)
        repo.git.update_environment(**_ENV)
        commit = _fetch(repo, url, source, where)
        if commit.hexsha != source.commit:
            raise InputError(
                where,
                f"tag {source.tag} stands at commit {commit.hexsha}",
                f"the pinned {source.commit}",
                "a tag that moved is another task: pin it anew under a new rev",
            )
        if commit.tree.hexsha != source.tree:
            raise InputError(
                where,
                f"tree {commit.tree.hexsha}",
                f"the pinned {source.tree}",
                "pin the tree of that commit",
            )
        return _entries(commit, where)


def _fetch(repo: git.Repo, url: str, source: Source, where: str) -> git.Commit:
    try:
        listed = str(repo.git.ls_remote("--", url)).splitlines()
    except git.GitCommandError as error:
        reason = str(error.stderr).strip().removeprefix("stderr:").strip(" \n'")
        raise InputError(where, f"the repository {source.git} can't be read ({reason})", "a git repository") from None
    names = {line.split("\t", 1)[1] for line in listed if "\t" in line}
    if f"refs/tags/{source.tag}" not in names:
        if source.tag == "HEAD" or f"refs/heads/{source.tag}" in names or source.tag in names:
            raise InputError(
                where,
                f"{source.tag} is a branch, not a tag (floating_source)",
                "a tag",
                "tag the commit and pin it",
            )
        raise InputError(where, f"no tag {source.tag} in {source.git}", "a tag of that repository")
    try:
        repo.git.fetch("--quiet", "--depth=1", "--no-tags", "--", url, f"refs/tags/{source.tag}:refs/tags/pinned")
        return repo.tag("refs/tags/pinned").commit
    except (git.GitCommandError, ValueError) as error:
        raise InputError(where, f"tag {source.tag} can't be fetched ({error})", "a tag of a commit") from None


def _entries(commit: git.Commit, where: str) -> list[Entry]:
    found: list[Entry] = []
    total = 0
    for item in commit.tree.traverse(visit_once=False):
        if isinstance(item, git.Tree):
            continue
        path = str(getattr(item, "path", ""))
        if not isinstance(item, git.Blob) or item.mode not in _MODES:
            raise InputError(f"{where}: {path}", "a submodule", "files and links only")
        total += item.size
        if item.size > limits.MAX_FILE_BYTES or total > limits.MAX_ITEM_BYTES:
            raise InputError(f"{where}: {path}", f"{item.size:,} bytes", f"at most {limits.MAX_FILE_BYTES:,} a file")
        found.append(Entry(path, _MODES[item.mode], item.data_stream.read()))
    return sorted(found)
