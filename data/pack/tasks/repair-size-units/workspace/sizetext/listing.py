"""Listings of files and their sizes."""

from sizetext.sizes import format_size


def listing(sizes: dict[str, int]) -> str:
    """One line a file, the largest first, and a last line with the sum."""
    rows = sorted(sizes.items(), key=lambda item: (-item[1], item[0]))
    rows.append(("total", sum(sizes.values())))
    width = max(len(name) for name, _ in rows)
    return "\n".join(f"{name:<{width}}  {format_size(size):>10}" for name, size in rows)


def growth(before: int, after: int) -> str:
    """By how much a file has grown, with a sign."""
    difference = after - before
    sign = "+" if difference > 0 else ""
    return sign + format_size(difference)
