"""The assumption ledger: what a patch invents beyond its contract, and whether its interface still holds.

Method: the assumption-ledger article. Its three kinds (imports, environment reads, files) are counted apart
from ours (`extended`), from interface drift, and from notes. Sources are read and never run.
"""

from stages.assumptions.globs import matches
from stages.assumptions.ledger import article_object, examine
from stages.assumptions.model import Allow, Densities, Finding, Interface, Ledger, densities
from stages.assumptions.solvable import beyond_contract, terms

__all__ = [
    "Allow",
    "Densities",
    "Finding",
    "Interface",
    "Ledger",
    "article_object",
    "beyond_contract",
    "densities",
    "examine",
    "matches",
    "terms",
]
