"""Frozen trees and what an agent changed in one: the two shapes that every room passes on."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from stages.contract.digest import canonical_texts, sha256

FILE, EXECUTABLE, LINK = "100644", "100755", "120000"
Op = Literal["add", "delete", "modify", "mode", "special"]


@dataclass(frozen=True, order=True)
class Entry:
    """One file of a tree. `mode` is git's (100644, 100755, 120000); a link's content is its target."""

    path: str
    mode: str
    content: bytes

    @property
    def sha256(self) -> str:
        return sha256(self.content)

    @property
    def git_blob(self) -> str:
        """The id that git gives these bytes (SHA-1 object format)."""
        return hashlib.sha1(b"blob %d\0" % len(self.content) + self.content, usedforsecurity=False).hexdigest()


@dataclass(frozen=True, order=True)
class Change:
    """One path that differs between the frozen and the produced tree.

    `special` is anything that isn't a regular file or a link (socket, fifo, device); it has no content.
    `mode` changes keep the content. Modes are git's, or `special:<kind>`.
    """

    path: str
    op: Op
    mode_before: str | None
    mode_after: str | None
    before_sha256: str | None
    after_sha256: str | None
    content: bytes | None


def tree_digest(entries: Iterable[Entry]) -> str:
    """sha256 over the sorted (path, mode, sha256) of a tree."""
    return sha256(canonical_texts(sorted([e.path, e.mode, e.sha256] for e in entries)))


def patch_digest(changes: Iterable[Change]) -> str:
    """sha256 over the sorted changes of a patch; the empty patch has one too."""
    return sha256(
        canonical_texts(
            sorted([c.path, c.op, c.mode_before or "", c.mode_after or "", c.after_sha256 or ""] for c in changes)
        )
    )


def apply(entries: Iterable[Entry], changes: Iterable[Change]) -> list[Entry]:
    """The produced tree: the frozen one with the changes carried out. Special files are left out."""
    tree = {e.path: e for e in entries}
    for change in changes:
        if change.op in ("delete", "special"):
            tree.pop(change.path, None)
        elif change.op == "mode":
            if change.path in tree:  # absent only if the pack was edited after the run, which withholds by itself
                tree[change.path] = Entry(change.path, change.mode_after or FILE, tree[change.path].content)
        else:
            tree[change.path] = Entry(change.path, change.mode_after or FILE, change.content or b"")
    return [tree[path] for path in sorted(tree)]


def overlaid(entries: Iterable[Entry], overlay: Iterable[Entry]) -> list[Entry]:
    """The tree with whole files laid over it, sorted by path."""
    laid = {**{e.path: e for e in entries}, **{e.path: e for e in overlay}}
    return [laid[path] for path in sorted(laid)]


def overlay_changes(entries: Iterable[Entry], overlay: Iterable[Entry]) -> list[Change]:
    """What an overlay changes in a tree, as a patch; files that it leaves as they are don't count."""
    before, found = {e.path: e for e in entries}, []
    for new in sorted(overlay):
        old = before.get(new.path)
        if old == new:
            continue
        op: Op = "add" if old is None else "mode" if old.content == new.content else "modify"
        was = (old.mode, old.sha256) if old else (None, None)
        found.append(Change(new.path, op, was[0], new.mode, was[1], new.sha256, new.content))
    return found


def git_tree_id(entries: Iterable[Entry]) -> str:
    """The id that git gives this tree (SHA-1 object format), so that folders and tags are comparable."""
    root: dict[str, object] = {}
    for entry in entries:
        node = root
        *folders, name = entry.path.split("/")
        for folder in folders:
            child = node.setdefault(folder, {})
            assert isinstance(child, dict), "a path is both file and folder"
            node = child
        node[name] = entry

    def write(node: dict[str, object]) -> bytes:
        rows = []
        for name, child in node.items():
            raw = name.encode()
            if isinstance(child, Entry):
                rows.append((raw, child.mode.encode(), bytes.fromhex(child.git_blob)))
            else:
                assert isinstance(child, dict)
                rows.append((raw + b"/", b"40000", write(child)))
        rows.sort(key=lambda row: row[0])  # git sorts folders as if they ended in a slash
        body = b"".join(mode + b" " + name.rstrip(b"/") + b"\0" + oid for name, mode, oid in rows)
        return hashlib.sha1(b"tree %d\0" % len(body) + body, usedforsecurity=False).digest()

    return write(root).hex()
