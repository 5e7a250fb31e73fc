"""Compact lists of integers."""

from tinywire.message import pack, unpack

__all__ = ["pack", "unpack"]
