"""Climate control of a vine house."""
