"""Placings of a heat."""
