"""Nightly jobs."""
