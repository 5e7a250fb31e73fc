"""Where everything of a study lies, relative to its root folder."""

from __future__ import annotations

import os
from pathlib import Path

PARAMS = Path("params.yaml")
PLAN = Path("data/frozen/plan.json")
MANIFEST = Path("data/frozen/manifest.json")
ITEMS = Path("data/frozen/items.parquet")
TREES = Path("data/frozen/trees.parquet")
HIDDEN = Path("data/frozen/hidden.parquet")
ADMITTED = Path("data/preflight/admitted.json")
CHECKS = Path("data/preflight/checks.parquet")
TRIALS = Path("data/trials/trials.parquet")
PATCHES = Path("data/trials/patches.parquet")
STAMPS = Path("data/trials/stamps.parquet")
CALLS = Path("data/trials/calls.parquet")
REPLACED = Path("data/trials/replaced.parquet")
TRANSCRIPTS = Path("data/trials/transcripts.parquet")
CAMPAIGN = Path("data/trials/campaign.json")
LEDGER = Path("data/ledger/ledger.parquet")
FINDINGS = Path("data/ledger/findings.parquet")
VERDICTS = Path("data/ledger/verdicts.parquet")
EVENTS = Path("data/exclusions.jsonl")
REHEARSALS = Path("data/rehearsals.jsonl")
PAIRS = Path("data/kept/pairs.parquet")
EXCLUSIONS = Path("data/kept/exclusions.parquet")
DECISION = Path("reports/decision.json")
METRICS = Path("reports/metrics.json")
REPORT_MD = Path("reports/report.md")
REPORT_HTML = Path("reports/report.html")
BILL = Path("reports/bill.json")
RUN_BILL = Path("reports/run_bill.txt")
INGEST = Path("data/trials/ingest.json")
REGISTRY = Path("data/registry.jsonl")

IMPORTED = [MANIFEST, ITEMS, TRIALS, INGEST, LEDGER, FINDINGS]
"""What a study that was read from logs has in the place of freeze to score."""


def journal(root: Path) -> Path:
    """Where journal and stored verdicts lie: beside the study, or in the parent repository when DVC runs a copy."""
    return Path(os.environ.get("DVC_ROOT") or root) / ".trials"
