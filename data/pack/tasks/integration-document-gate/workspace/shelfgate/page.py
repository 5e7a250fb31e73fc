"""A listing as text."""
from shelfgate.directory import load
from shelfgate.gate import Gate
from shelfgate.listing import visible_documents


def render(user: str, rows: list[str], admins: tuple = ()) -> str:
    """The page for a user, a line per document."""
    documents = visible_documents(user, load(rows), Gate(admins))
    if not documents:
        return "(nothing to show)"
    lines = []
    for document in documents:
        mark = " [archived]" if document.archived else ""
        lines.append(f"- {document.title} ({document.owner}){mark}")
    return "\n".join(lines)
