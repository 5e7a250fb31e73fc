"""Quotes for goods and bundles."""
