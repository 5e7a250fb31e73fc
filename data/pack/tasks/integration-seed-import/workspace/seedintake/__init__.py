"""Delivery lists of a seed bank."""
