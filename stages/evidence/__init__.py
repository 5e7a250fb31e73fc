"""Looking at a study's evidence, and replaying its stages on it."""
