"""Keep picking bins filled from the reserve."""
