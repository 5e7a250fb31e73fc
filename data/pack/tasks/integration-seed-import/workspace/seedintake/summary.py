"""What became of an import."""
from dataclasses import dataclass, field


@dataclass
class Summary:
    accepted: int = 0
    rejected: list = field(default_factory=list)

    def accept(self) -> None:
        """One more lot was taken in."""
        self.accepted += 1

    def reject(self, line_number: int, reason: str) -> None:
        """A line was refused."""
        self.rejected.append((line_number, reason))

    def text(self) -> str:
        """The summary for people."""
        lines = [f"{self.accepted} accepted, {len(self.rejected)} rejected"]
        lines += [f"line {number}: {reason}" for number, reason in self.rejected]
        return "\n".join(lines)
