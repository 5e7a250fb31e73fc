"""A catalogue that is served in pages."""


class Shelf:
    """Titles in a fixed order, so many to a page."""

    def __init__(self, titles, page_size: int) -> None:
        if page_size < 1:
            raise ValueError("a page holds at least one title")
        self._titles = list(titles)
        self._page_size = page_size

    def page_count(self) -> int:
        """Number of pages; the last one may be part filled."""
        return -(-len(self._titles) // self._page_size)

    def fetch(self, index: int) -> list:
        """The titles of one page, the first page having index 0."""
        if index < 0:
            raise IndexError("no page before the first")
        start = index * self._page_size
        return self._titles[start:start + self._page_size]
