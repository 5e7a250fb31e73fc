"""Where untrusted code lives: workspaces, the walk of what it left, isolation tiers, bounded launches."""

from stages.sandbox.bubble import WORKSPACE, Isolation, Limits
from stages.sandbox.launch import RESULT_FD, Outcome, run
from stages.sandbox.tiers import FORCE, find, require
from stages.sandbox.walk import Special, Tree, TreeTooLarge, compare, read_tree, remove_tree
from stages.sandbox.workspace import check, export, stays_inside

__all__ = [
    "FORCE",
    "RESULT_FD",
    "WORKSPACE",
    "Isolation",
    "Limits",
    "Outcome",
    "Special",
    "Tree",
    "TreeTooLarge",
    "check",
    "compare",
    "export",
    "find",
    "read_tree",
    "remove_tree",
    "require",
    "run",
    "stays_inside",
]
