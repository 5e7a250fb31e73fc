"""What a user gets to see."""


def visible_documents(user: str, documents: list, gate) -> list:
    """The documents for a user, in order of their titles."""
    chosen = [document for document in documents if gate.denies(user, document)]
    return sorted(chosen, key=lambda document: document.title.casefold())
