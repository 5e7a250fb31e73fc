"""Applying and showing hunks."""

from patchlines.hunks import Hunk


class PatchError(ValueError):
    """The hunks don't fit the text."""


def patch(old: list[str], hunks: list[Hunk]) -> list[str]:
    """The new text."""
    result: list[str] = []
    position = 0
    for hunk in hunks:
        if hunk.old_start < position:
            raise PatchError("hunks overlap")
        result.extend(old[position:hunk.old_start])
        position = hunk.old_start + len(hunk.old_lines)
        if old[hunk.old_start:position] != hunk.old_lines:
            raise PatchError(f"text differs at {hunk.header}")
        result.extend(hunk.new_lines)
    return result + old[position:]


def render(hunks: list[Hunk]) -> str:
    """The hunks as text."""
    return "\n".join(
        line
        for hunk in hunks
        for line in [hunk.header, *(mark + text for mark, text in hunk.lines)]
    )
