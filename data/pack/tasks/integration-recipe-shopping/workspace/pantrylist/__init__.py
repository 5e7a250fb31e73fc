"""Shopping lists from planned recipes."""
