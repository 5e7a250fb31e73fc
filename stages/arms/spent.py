"""What a campaign has cost so far, as far as its providers say."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterable
from fractions import Fraction

from stages.arms.journal import Finished
from stages.contract.digest import rational_text


class Spent:
    """Dollars over all attempts of all trials, replaced ones too, against the most that may be spent (None: any)."""

    def __init__(self, most: Fraction | None, before: Iterable[Finished]) -> None:
        self.most, self.total, self.untold = most, Fraction(0), 0
        self._lock = threading.Lock()
        for done in before:
            self.add(done)

    def add(self, done: Finished) -> None:
        """Count a finished trial: its calls with a price, and how many have none."""
        prices = [(json.loads(text)["usage"] or {}).get("cost_usd") for calls in done.calls for text in calls]
        with self._lock:
            self.total += sum((Fraction(price) for price in prices if price is not None), Fraction(0))
            self.untold += sum(price is None for price in prices)

    def over(self) -> bool:
        """Whether no further trial may start."""
        return self.most is not None and self.total >= self.most

    def why(self) -> str:
        """Why no further trial starts."""
        assert self.most is not None
        return f"run.max_cost {rational_text(self.most)} is reached: ${float(self.total):.4f} spent"
