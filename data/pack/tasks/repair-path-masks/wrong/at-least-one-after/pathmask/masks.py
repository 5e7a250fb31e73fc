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
    return _fits(path.split("/"), mask.split("/"))


def _fits(parts: list[str], pieces: list[str]) -> bool:
    if not parts or not pieces:
        return not parts and not pieces
    if pieces[0] == "**":
        return _fits(parts, pieces[1:]) or _fits(parts[1:], pieces)
    return fnmatchcase(parts[0], pieces[0]) and _fits(parts[1:], pieces[1:])
