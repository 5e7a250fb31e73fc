"""Readings of the temperature probes in one house."""


class ProbeBank:
    """Keeps the last readings of every probe, and which probes are faulty."""

    def __init__(self, limit: int = 24):
        self._limit = limit
        self._values = {}
        self._faulty = set()

    def record(self, probe: str, value: float) -> None:
        """Add a reading; only the last `limit` ones are kept."""
        values = self._values.setdefault(probe, [])
        values.append(value)
        del values[:-self._limit]

    def latest(self, probe: str):
        """The last reading, or None where there is none."""
        values = self._values.get(probe)
        return values[-1] if values else None

    def mean(self, probe: str):
        """The mean of the kept readings, or None where there is none."""
        values = self._values.get(probe)
        return sum(values) / len(values) if values else None

    def flag_faulty(self, probe: str) -> None:
        self._faulty.add(probe)

    def is_faulty(self, probe: str) -> bool:
        return probe in self._faulty

    def probe_names(self) -> list:
        """The names of all probes with readings, sorted."""
        return sorted(self._values)
