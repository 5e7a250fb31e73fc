"""Measuring plots of land."""
