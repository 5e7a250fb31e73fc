"""Documents as they are stored."""
from dataclasses import dataclass


@dataclass(frozen=True)
class Document:
    title: str
    owner: str
    shared_with: frozenset = frozenset()
    archived: bool = False


def load(rows) -> list:
    """Documents of rows ``title|owner|shared,with|flags``; the last two may be left out."""
    documents = []
    for row in rows:
        title, owner, *rest = [cell.strip() for cell in row.split("|")]
        shared = rest[0] if rest else ""
        flags = rest[1] if len(rest) > 1 else ""
        names = frozenset(name.strip() for name in shared.split(",") if name.strip())
        documents.append(Document(title, owner, names, "archived" in flags))
    return documents
