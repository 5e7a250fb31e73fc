"""Order of the steps of a build."""
