"""Who may see what."""
from shelfgate.directory import Document


class Gate:
    """The rules of access."""

    def __init__(self, admins=()) -> None:
        self._admins = frozenset(admins)

    def is_admin(self, user: str) -> bool:
        """Is the user an administrator?"""
        return user in self._admins

    def owns(self, user: str, document: Document) -> bool:
        """Is it the user's own document?"""
        return document.owner == user

    def shared(self, user: str, document: Document) -> bool:
        """Is it shared with the user, by name or with everyone?"""
        return user in document.shared_with or "everyone" in document.shared_with

    def denies(self, user: str, document: Document) -> bool:
        """Must the document be kept from the user?"""
        if self.is_admin(user):
            return False
        if document.archived:
            return True
        return not (self.owns(user, document) or self.shared(user, document))
