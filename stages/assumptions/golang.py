"""Go: imports and environment reads of its sources."""

from __future__ import annotations

from stages.assumptions.language import Unexamined

LANGUAGE = Unexamined("Go", (".go",))
