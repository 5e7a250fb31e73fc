"""Core of a service for booking rooms."""
