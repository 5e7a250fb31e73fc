"""Matching of one path with one mask."""

from fnmatch import fnmatchcase


def check_path(path: str) -> None:
    """Refuse what isn't a plain relative path."""
    if not path or path.startswith("/") or path.endswith("/") or "//" in path:
        raise ValueError(f"not a relative path: {path!r}")


def is_literal(mask: str) -> bool:
    """Whether the mask can match one path only."""
    return not any(char in mask for char in "*?[")


def matches(path: str, mask: str) -> bool:
    """Whether ``mask`` describes ``path``."""
    check_path(path)
    if is_literal(mask):
        return path == mask
    if "**" in mask:
        return fnmatchcase(path, mask) or fnmatchcase(path, mask.replace("**/", ""))
    return path.count("/") == mask.count("/") and fnmatchcase(path, mask)
