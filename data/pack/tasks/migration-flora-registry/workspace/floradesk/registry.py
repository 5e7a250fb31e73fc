"""The registry of species."""
from typing import NamedTuple

MAX_CODES = 5


class UnknownCode(LookupError):
    """The registry has no species of that code."""


class Species(NamedTuple):
    name: str
    family: str


class Registry:
    """Species by code; `requests` counts the requests made."""

    def __init__(self, species: dict):
        self._species = dict(species)
        self.requests = 0

    def lookup_many(self, codes: list) -> dict:
        """The known ones of up to MAX_CODES different codes."""
        if not 1 <= len(codes) <= MAX_CODES:
            raise ValueError(f"1 to {MAX_CODES} codes can be asked for, not {len(codes)}")
        if len(set(codes)) < len(codes):
            raise ValueError("the same code is asked for twice")
        self.requests += 1
        return {code: self._species[code] for code in sorted(codes, reverse=True) if code in self._species}
