"""Samples and their weights."""
from contextlib import contextmanager


class DuplicateLabel(ValueError):
    """There is a sample of that label already."""


class UnknownLabel(LookupError):
    """There is no sample of that label."""


class BatchRequired(RuntimeError):
    """A vault is changed outside of a batch."""


class Vault:
    """Weights (grams) of samples by label."""

    def __init__(self, samples=None):
        self._samples = dict(samples or {})
        self._depth = 0

    @property
    def in_batch(self) -> bool:
        return self._depth > 0

    @contextmanager
    def batch(self):
        """Changes that are kept together or, at an exception, undone together."""
        saved = dict(self._samples)
        self._depth += 1
        try:
            yield self
        except BaseException:
            self._samples = saved
            raise
        finally:
            self._depth -= 1

    def _need_batch(self) -> None:
        if not self.in_batch:
            raise BatchRequired("changes must be made in a batch")

    def add(self, label: str, grams: int) -> None:
        self._need_batch()
        if label in self._samples:
            raise DuplicateLabel(label)
        if grams <= 0:
            raise ValueError("a sample must weigh something")
        self._samples[label] = grams

    def remove(self, label: str) -> int:
        """Take a sample out; gives its weight."""
        self._need_batch()
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
