"""The tables that stages hand on, as Arrow schemas. Units stand in the field metadata; `key` sorts and is unique."""

from __future__ import annotations

import pyarrow as pa

_S, _I, _F, _B, _X = pa.string(), pa.int64(), pa.float64(), pa.bool_(), pa.binary()


def _field(name: str, kind: pa.DataType, unit: str = "", null: bool = False) -> pa.Field:
    return pa.field(name, kind, nullable=null, metadata={"unit": unit} if unit else None)


def _schema(name: str, key: str, *fields: pa.Field) -> pa.Schema:
    return pa.schema(fields, metadata={"table": f"weighbridge.{name}/1", "key": key})


ITEMS = _schema(
    "items",
    "item_id",
    _field("item_id", _S),
    _field("rev", _S),
    _field("stratum", _S),
    _field("cluster", _S, null=True),
    _field("placebo", _B),
    _field("time_budget_s", _I, "s"),
    _field("prompt_path", _S),
    _field("prompt_sha256", _S),
    _field("oracle_kind", _S),
    _field("oracle_command", _S),
    _field("oracle_sha256", _S),
    _field("solution_sha256", _S, null=True),
    _field("tree_sha256", _S),
    _field("tree_git", _S),
    _field("allow", _S),
    _field("interface", _S, null=True),
    _field("item_sha256", _S),
)

_BYTES = (
    _field("item_id", _S),
    _field("role", _S),
    _field("path", _S),
    _field("mode", _S),
    _field("git_blob", _S),
    _field("sha256", _S),
    _field("content", _X),
)
TREES = _schema("trees", "item_id,role,path", *_BYTES)
HIDDEN = _schema("hidden", "item_id,role,path", *_BYTES)

CHECKS = _schema(
    "checks",
    "item_id,check,try",
    _field("item_id", _S),
    _field("check", _S),
    _field("try", _I),
    _field("found", _S),
    _field("expected", _S),
    _field("ok", _B),
    _field("rule", _S, null=True),
    _field("detail", _S),
    _field("observed_at", _S, "UTC"),
    _field("wall_s", _F, "s"),
)

_TRIAL = (_field("item_id", _S), _field("arm", _S), _field("repeat", _I))
_TRIAL_KEY = "item_id,arm,repeat"

TRIALS = _schema(
    "trials",
    _TRIAL_KEY,
    *_TRIAL,
    _field("block", _I),
    _field("position", _I),
    _field("ended", _S),
    _field("reason", _S, null=True),
    _field("exit_code", _I, null=True),
    _field("started_at", _S, "UTC"),
    _field("wall_s", _F, "s"),
    _field("cpu_s", _F, "s", null=True),
    _field("max_rss_kb", _I, "KiB", null=True),
    _field("load_1m", _F, null=True),
    _field("time_budget_s", _I, "s"),
    _field("attempts", _I),
    _field("interrupted", _I),
    _field("replaced", _I),
    _field("patch_sha256", _S),
    _field("patch_files", _I),
    _field("transcript_sha256", _S),
    _field("temperature", _S),
    _field("seed", _S, null=True),
    _field("arm_name", _S),
    _field("arm_version", _S),
    _field("version_said", _S, null=True),
    _field("install_before", _S),
    _field("install_after", _S),
    _field("isolation", _S),
    _field("limits", _S),
    _field("plan_sha256", _S),
    _field("pack_sha256", _S),
    _field("slice_id", _S),
    _field("study_id", _S),
    _field("manifest_sha256", _S),
)

PATCHES = _schema(
    "patches",
    f"{_TRIAL_KEY},path",
    *_TRIAL,
    _field("path", _S),
    _field("op", _S),
    _field("mode_before", _S, null=True),
    _field("mode_after", _S, null=True),
    _field("before_sha256", _S, null=True),
    _field("after_sha256", _S, null=True),
    _field("content", _X, null=True),
)

TRANSCRIPTS = _schema(
    "transcripts",
    f"{_TRIAL_KEY},stream",
    *_TRIAL,
    _field("stream", _S),
    _field("bytes_total", _I, "B"),
    _field("content", _X),
)

STAMPS = _schema(
    "stamps",
    f"{_TRIAL_KEY},attempt",
    *_TRIAL,
    _field("attempt", _I),
    _field("stamp", _S),
)

CALLS = _schema(
    "calls",
    f"{_TRIAL_KEY},attempt,call",
    *_TRIAL,
    _field("attempt", _I),
    _field("call", _I),
    _field("record", _S),
)

REPLACED = _schema(
    "replaced",
    f"{_TRIAL_KEY},number",
    *_TRIAL,
    _field("number", _I),
    _field("rule", _S),
    _field("found", _S),
    _field("started_at", _S, "UTC"),
    _field("ended", _S),
    _field("attempts", _I),
    _field("patch_sha256", _S),
    _field("stamps", _S),
)

VERDICTS = _schema(
    "verdicts",
    f"{_TRIAL_KEY},kind",
    *_TRIAL,
    _field("kind", _S),
    _field("oracle_key", _S),
    _field("verdict", _S),
    _field("reason", _S),
    _field("outcomes", _S),
    _field("events", _S),
    _field("isolation", _S),
    _field("wall_s", _F, "s"),
    _field("cpu_s", _F, "s"),
    _field("max_rss_kb", _I, "KiB"),
)

LEDGER = _schema(
    "ledger",
    _TRIAL_KEY,
    *_TRIAL,
    _field("rev", _S),
    _field("stratum", _S),
    _field("cluster", _S, null=True),
    _field("placebo", _B),
    _field("status", _S),
    _field("passed", _I),
    _field("ended", _S),
    _field("ended_reason", _S, null=True),
    _field("verdict", _S, null=True),
    _field("verdict_reason", _S, null=True),
    _field("late_pass", _B),
    _field("recheck", _S, null=True),
    _field("inside_contract", _S, null=True),
    _field("verdict_isolation", _S, null=True),
    _field("wall_s", _F, "s"),
    _field("budget_share", _F),
    _field("cpu_s", _F, "s", null=True),
    _field("max_rss_kb", _I, "KiB", null=True),
    _field("load_1m", _F, null=True),
    _field("started_at", _S, "UTC"),
    _field("position", _I),
    _field("prompt_sha256", _S),
    _field("patch_sha256", _S),
    _field("oracle_sha256", _S),
    _field("generated_lines", _I),
    _field("invented_imports", _I),
    _field("invented_env", _I),
    _field("unauthorised_files", _I),
    _field("violations", _I),
    _field("extended", _I),
    _field("interface_drift", _I, null=True),
    _field("canary_hits", _I),
    _field("stamps", _S),
    _field("attempts", _I),
    _field("temperature", _S),
    _field("isolation", _S),
    _field("limits", _S),
    _field("runner_changed", _S, null=True),
    _field("plan_sha256", _S),
    _field("pack_sha256", _S),
    _field("slice_id", _S),
    _field("study_id", _S),
)

FINDINGS = _schema(
    "findings",
    f"{_TRIAL_KEY},number",
    *_TRIAL,
    _field("number", _I),
    _field("kind", _S),
    _field("path", _S),
    _field("line", _I),
    _field("symbol", _S),
    _field("how", _S),
    _field("counted", _S),
    _field("seen", _S),
)

PAIRS = _schema(
    "pairs",
    "item_id,repeat",
    _field("item_id", _S),
    _field("repeat", _I),
    _field("stratum", _S),
    _field("cluster", _S, null=True),
    _field("candidate", _I, null=True),
    _field("control", _I, null=True),
    _field("candidate_status", _S),
    _field("control_status", _S),
    _field("candidate_late", _B),
    _field("control_late", _B),
    _field("candidate_beside", _B),
    _field("control_beside", _B),
    _field("first", _S),
    _field("candidate_rule", _S, null=True),
    _field("control_rule", _S, null=True),
    _field("kept", _B),
)

EXCLUSIONS = _schema(
    "exclusions",
    "number",
    _field("number", _I),
    _field("rule", _S),
    _field("scope", _S),
    _field("item_id", _S),
    _field("arm", _S, null=True),
    _field("repeat", _I, null=True),
    _field("time", _S, "UTC", null=True),
    _field("evidence", _S),
    _field("accepted", _B),
    _field("refused_why", _S, null=True),
)

ALL = {
    "items": ITEMS,
    "trees": TREES,
    "hidden": HIDDEN,
    "checks": CHECKS,
    "trials": TRIALS,
    "patches": PATCHES,
    "transcripts": TRANSCRIPTS,
    "replaced": REPLACED,
    "stamps": STAMPS,
    "calls": CALLS,
    "verdicts": VERDICTS,
    "ledger": LEDGER,
    "findings": FINDINGS,
    "pairs": PAIRS,
    "exclusions": EXCLUSIONS,
}
