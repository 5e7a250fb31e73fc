"""Standings of a lap race."""
