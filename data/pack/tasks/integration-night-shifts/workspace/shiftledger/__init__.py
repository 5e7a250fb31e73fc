"""Working time by day."""
