"""Takings of a car park."""
