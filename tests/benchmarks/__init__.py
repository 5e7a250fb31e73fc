"""Measurements against other people's code: `python -m tests.benchmarks [SUBJECT ...] [--quick] [--json FILE]`."""
