"""Lists of masks, as in ignore files."""

from collections.abc import Iterable

from pathmask.masks import matches


def read_masks(text: str) -> list[str]:
    """The masks in a text, one a line, without comments."""
    lines = (line.strip() for line in text.splitlines())
    return [line for line in lines if line and not line.startswith("#")]


def is_selected(path: str, masks: Iterable[str]) -> bool:
    """What the last matching mask says; ``!`` before a mask leaves out."""
    selected = False
    for mask in masks:
        leave_out = mask.startswith("!")
        if matches(path, mask[1:] if leave_out else mask):
            selected = not leave_out
    return selected


def select(paths: Iterable[str], masks: list[str]) -> list[str]:
    """The selected paths, in the given order."""
    return [path for path in paths if is_selected(path, masks)]
