"""Verdicts that a patch can't forge."""

from stages.oracle.admit import Admission, Finding, admit
from stages.oracle.bench import VERDICTS, Bench
from stages.oracle.choose import admit_within
from stages.oracle.selfcheck import SelfCheckFailed, tells_apart
from stages.oracle.store import VerdictStore
from stages.oracle.summary import summary
from stages.oracle.verdict import ORACLE_VERSION, Observation, cleaned, observe, oracle_key

__all__ = [
    "ORACLE_VERSION",
    "VERDICTS",
    "Admission",
    "Bench",
    "Finding",
    "Observation",
    "SelfCheckFailed",
    "VerdictStore",
    "admit",
    "admit_within",
    "cleaned",
    "observe",
    "oracle_key",
    "summary",
    "tells_apart",
]
