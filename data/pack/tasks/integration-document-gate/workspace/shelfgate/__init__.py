"""Listings of documents for the people who may see them."""
