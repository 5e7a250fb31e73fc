"""Lines of the recorder."""
from dataclasses import dataclass


@dataclass(frozen=True)
class Sample:
    probe: str
    tenths: int

    @property
    def whole(self) -> int:
        """Degrees Celsius as the small display shows them (towards zero)."""
        return int(self.tenths / 10)

    @property
    def celsius(self) -> float:
        """Degrees Celsius."""
        return self.tenths / 10


def parse_sample(line: str) -> Sample:
    """Read ``probe tenths``."""
    probe, tenths = line.split()
    return Sample(probe, int(tenths))
