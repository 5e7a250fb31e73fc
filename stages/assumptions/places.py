"""Places in a tree: what a relative path leads to, and the folders above a file."""

from __future__ import annotations

from collections.abc import Iterator


def joined(folder: str, target: str) -> str | None:
    """The place that a target means in a folder, empty for the tree's root; None where it leads out."""
    parts = folder.split("/") if folder else []
    for part in target.split("/"):
        if part == "..":
            if not parts:
                return None
            parts.pop()
        elif part not in ("", "."):
            parts.append(part)
    return "/".join(parts)


def above(path: str) -> Iterator[str]:
    """The folders that a path lies in, innermost first, without the root."""
    folder = path.rpartition("/")[0]
    while folder:
        yield folder
        folder = folder.rpartition("/")[0]
