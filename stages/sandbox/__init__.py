"""Where untrusted code lives: workspaces, the walk of what it left, isolation tiers, bounded launches."""

from stages.sandbox.bubble import HOME, WORKSPACE, Isolation, Limits
from stages.sandbox.doorway import PORT
from stages.sandbox.environment import INSIDE as ENVIRONMENT
from stages.sandbox.environment import environments, packages
from stages.sandbox.launch import run
from stages.sandbox.prepare import RESULT_FD, Outcome
from stages.sandbox.tiers import FORCE, find, require
from stages.sandbox.walk import Special, Tree, TreeTooLarge, compare, read_tree, remove_tree
from stages.sandbox.workspace import check, export, stays_inside

__all__ = [
    "ENVIRONMENT",
    "FORCE",
    "HOME",
    "PORT",
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
    "environments",
    "export",
    "find",
    "packages",
    "read_tree",
    "remove_tree",
    "require",
    "run",
    "stays_inside",
]
