"""Verify: the same decision from the same bytes, or what differs first. No network, no clock, no DVC, no agent.

What flows through: a folder, or a bundle unpacked into one → signature → every file hashed against the bill → the
frozen ids from their parts → trials against the plan → the ledger from trials and verdicts → pairs, exclusions,
decision and report from the ledger → registration. Nothing is believed that wasn't hashed, nothing said beyond it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from stages.contract.errors import WeighbridgeError
from stages.contract.imported import is_imported
from stages.contract.parquet_pages import check_size
from stages.evidence.checking import Check
from stages.evidence.opening import PARTS_OF_BILL, Opened, bundle_differs, check_json_sizes, opened
from stages.evidence.signing import Signer, check_signature
from stages.evidence.verify_bill import check_bill

OPEN = "whoever made them could have made all of them up; a signature by somebody you trust would tell"


@dataclass(frozen=True)
class Verified:
    """What was checked, and what these bytes give. `decision` is None where it couldn't be derived."""

    checks: list[Check]
    decision: dict[str, Any] | None
    signed_by: str | None
    left_open: list[str] = field(default_factory=list)

    @property
    def differs(self) -> str | None:
        """The first thing that differs."""
        return next((f"{line}" for check in self.checks for line in check.differs), None)

    @property
    def exit_code(self) -> int:
        return 1 if self.differs else 0

    def line(self) -> str:
        """The last line: what was found, and never more than was checked."""
        if self.differs:
            return f"differs: {self.differs}"
        assert self.decision is not None
        who = f"signed by {self.signed_by}" if self.signed_by else "self-consistent, not authenticated"
        return f"verified: these bytes give {self.decision['decision']} ({self.decision['reason']}); {who}"


def verify(
    path: Path,
    *,
    deep: bool = False,
    signer: Signer | None = None,
    tsa: Path | None = None,
    say: Callable[[str], None] = lambda _: None,
) -> Verified:
    """Check a project, a study's folder or a bundle. Raises WeighbridgeError where it can't be read at all."""
    with opened(path) as found:
        return _verified(found, deep, signer, tsa, say)


def _verified(
    found: Opened, deep: bool, signer: Signer | None, tsa: Path | None, say: Callable[[str], None]
) -> Verified:
    root = found.root
    check_json_sizes(root)
    checks: list[Check] = []
    if found.bundle is not None:
        checks.append(Check("archive", "every byte of the archive, and its own list", bundle_differs(found)))
    signature, signed_by = check_signature(found, signer)
    checks += [signature, check_bill(found)]
    decision: dict[str, Any] | None = None
    try:
        for name in PARTS_OF_BILL:
            if name.suffix == ".parquet" and (root / name).is_file():
                check_size(root / name)
        if is_imported(root):
            from stages.evidence.verify_imported import imported_checks as derive
        else:
            from stages.evidence.verify_study import study_checks as derive
        derived, decision = derive(found, deep, tsa, say)
        checks += derived
    except WeighbridgeError as error:
        # What can't be read after the bill said that it is another file is no news; else it is the first one.
        if not any(check.differs for check in checks):
            raise
        checks.append(Check("derivation", "all that follows from these files", unread=[str(error)]))
    return Verified(checks, decision, signed_by, _left_open(checks, signed_by))


def _left_open(checks: list[Check], signed_by: str | None) -> list[str]:
    said = [] if signed_by else [f"authorship: these files agree with each other, and {OPEN}"]
    return said + [f"{check.name}: {line}" for check in checks for line in check.unread]
