"""Samples and their weights."""


class DuplicateLabel(ValueError):
    """There is a sample of that label already."""


class UnknownLabel(LookupError):
    """There is no sample of that label."""


class Vault:
    """Weights (grams) of samples by label."""

    def __init__(self, samples=None):
        self._samples = dict(samples or {})
        self._saved = None

    def begin(self) -> None:
        """Remember the samples as they are."""
        self._saved = dict(self._samples)

    def commit(self) -> None:
        """Keep what was changed since `begin`."""
        self._saved = None

    def rollback(self) -> None:
        """Go back to the samples as they were at `begin`."""
        self._samples = self._saved
        self._saved = None

    def add(self, label: str, grams: int) -> None:
        if label in self._samples:
            raise DuplicateLabel(label)
        if grams <= 0:
            raise ValueError("a sample must weigh something")
        self._samples[label] = grams

    def remove(self, label: str) -> int:
        """Take a sample out; gives its weight."""
        if label not in self._samples:
            raise UnknownLabel(label)
        return self._samples.pop(label)

    def weight(self, label: str) -> int:
        if label not in self._samples:
            raise UnknownLabel(label)
        return self._samples[label]

    def labels(self) -> list:
        """All labels, sorted."""
        return sorted(self._samples)
