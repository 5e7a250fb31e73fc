"""Reading the logs of other harnesses: one module per format, all ending in the same rows of trials."""
