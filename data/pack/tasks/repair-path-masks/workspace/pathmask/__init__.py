"""Selecting paths by masks."""

from pathmask.masks import matches
from pathmask.selection import read_masks, select

__all__ = ["matches", "read_masks", "select"]
