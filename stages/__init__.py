"""Weighbridge: decides whether a paired comparison of two coding agents may be published."""

__version__ = "0.1.0"
