"""One-line formulas."""

from calcline.evaluate import evaluate
from calcline.tokens import FormulaError

__all__ = ["FormulaError", "evaluate"]
