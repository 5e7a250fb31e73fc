"""Verdicts that a patch can't forge."""

from stages.oracle.admit import Admission, admit
from stages.oracle.bench import Bench
from stages.oracle.store import VerdictStore
from stages.oracle.verdict import ORACLE_VERSION, Observation, cleaned, observe, oracle_key

__all__ = [
    "ORACLE_VERSION",
    "Admission",
    "Bench",
    "Observation",
    "VerdictStore",
    "admit",
    "cleaned",
    "observe",
    "oracle_key",
]
