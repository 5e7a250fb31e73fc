"""Evaluate the slips of a conference."""
