"""`weighbridge comment`: a decision as Markdown for a bot to post, checked first."""

from __future__ import annotations

from pathlib import Path

from stages.contract import layout
from stages.contract.bundled import MAX_JSON_BYTES
from stages.contract.decision import Decision
from stages.contract.text import read_json
from stages.contract.types import validate
from stages.evidence.opening import opened
from stages.evidence.verify import verify


def comment_on(path: Path, *, check: bool) -> tuple[str, int]:
    """(the comment, exit code) on a folder or a bundle; with `check` it says what `verify` found. Raises InputError."""
    from stages.gate import REASONS, RULES
    from stages.render.comment import comment

    found = verify(path) if check else None
    with opened(path) as study:
        decision = read_json(study.root / layout.DECISION, MAX_JSON_BYTES)
        validate(Decision, decision, f"{path}: {layout.DECISION}")
    says = {key: one.says for key, one in REASONS.items()} | {key: one.says for key, one in RULES.items()}
    changes = {key: one.change for key, one in REASONS.items()}
    return comment(decision, says, changes, found.line() if found else None), found.exit_code if found else 0
