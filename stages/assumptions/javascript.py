"""JavaScript and TypeScript: imports and environment reads of its sources."""

from __future__ import annotations

from stages.assumptions.language import Unexamined

LANGUAGE = Unexamined("JavaScript and TypeScript", (".js", ".jsx", ".mjs", ".cjs", ".ts", ".tsx", ".mts", ".cts"))
