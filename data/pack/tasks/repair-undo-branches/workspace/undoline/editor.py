"""A line of text that is edited."""

from undoline.timeline import Timeline


class LineEditor:
    """Edits a line, step by step."""

    def __init__(self, text: str = "", limit: int = 100):
        self.timeline = Timeline(text, limit)

    @property
    def text(self) -> str:
        return self.timeline.current

    def insert(self, position: int, piece: str) -> None:
        self.timeline.record(self.text[:position] + piece + self.text[position:])

    def delete(self, start: int, end: int) -> None:
        self.timeline.record(self.text[:start] + self.text[end:])

    def undo(self, times: int = 1) -> str:
        for _ in range(times):
            self.timeline.undo()
        return self.text

    def redo(self, times: int = 1) -> str:
        for _ in range(times):
            self.timeline.redo()
        return self.text
