"""The ledger of one patch: what it assumes beyond its contract, and whether its interface still holds."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from stages.assumptions import golang, java, javascript, python, rust
from stages.assumptions.drift import drift
from stages.assumptions.globs import matches
from stages.assumptions.joined import joined
from stages.assumptions.language import Changed, Language
from stages.assumptions.model import FILE, Allow, Finding, Interface, Ledger, densities
from stages.assumptions.workspace import Workspace
from stages.contract import lines
from stages.contract.errors import one_line
from stages.contract.ran import Ran
from stages.contract.trees import LINK, Change, Entry, apply

LANGUAGES: tuple[Language, ...] = (
    python.LANGUAGE,
    javascript.LANGUAGE,
    golang.LANGUAGE,
    rust.LANGUAGE,
    java.LANGUAGE,
)


def examine(
    frozen: Iterable[Entry],
    changes: Iterable[Change],
    allow: Allow,
    interface: Interface | None,
    ran: Iterable[Ran] = (),
) -> Ledger:
    """The ledger of a patch, from its text and from what it was seen to do as it `ran`.

    Hostile content gives findings, never errors; the order of arguments is free.

    Raises InputError for a contract that can't be carried out: a bad path pattern or pinned signature.
    """
    before = tuple(sorted(frozen))
    patch = tuple(sorted(changes, key=lambda change: change.path))
    findings = [f for f in (_unauthorised(change, allow) for change in patch) if f is not None]
    files, generated = [], 0
    old = {entry.path: entry for entry in before}
    for change in patch:
        if change.content is None or change.op not in ("add", "modify") or change.mode_after == LINK:
            continue
        binary = lines.is_binary(change.content)
        was = old.get(change.path)
        base = was.content if was is not None and was.mode != LINK and not lines.is_binary(was.content) else None
        touched = lines.touched(base, change.content)
        files.append(Changed(change.path, change.content, touched))
        if binary:
            findings.append(Finding("binary", change.path, 0, change.path, "counts no lines", "note"))
        else:
            generated += touched.count
        if not touched.exact:
            how = "too large to compare; all between head and tail counts"
            findings.append(Finding("diff_bounded", change.path, 0, change.path, how, "note"))
    for language in LANGUAGES:
        own = [file for file in files if language.owns(file.path, file.content)]
        findings += language.findings(before, patch, own, allow)
    deeds = tuple(ran)
    if deeds:
        findings = joined(findings, deeds, Workspace(apply(before, patch)), allow, python.tree_habits(before))
    checked = interface is not None and interface.module is not None and interface.function is not None
    if checked and interface is not None:
        findings += drift(Workspace(apply(before, patch)), interface)
    tidy = {replace(f, symbol=one_line(f.symbol, 120), how=one_line(f.how, 200)) for f in findings}
    return Ledger(tuple(sorted(tidy, key=lambda f: f.key)), generated, checked)


def article_object(
    task_id: str, rev: str, prompt_sha256: str, patch_sha256: str, oracle_pass: bool, ledger: Ledger
) -> dict[str, Any]:
    """The replayable object of the assumption-ledger article, with all that goes beyond it under `extended`.

    Rates are floats of 6 significant digits, None where no line was generated.
    """
    sums = densities([ledger])
    return {
        "task_id": task_id,
        "rev": rev,
        "prompt_sha256": prompt_sha256,
        "patch_sha256": patch_sha256,
        "oracle_pass": int(oracle_pass),
        "assumption_violations": ledger.violations,
        "assumption_per_kloc": _six_digits(sums.assumption_per_kloc),
        "invented_imports": [f.symbol for f in ledger.of("article", "import")],
        "invented_env": [f.symbol for f in ledger.of("article", "environment")],
        "extended": {
            "unauthorised_files": [f.symbol for f in ledger.of("article", FILE)],
            "generated_lines": ledger.generated_lines,
            "extended_findings": ledger.extended,
            "extended_per_kloc": _six_digits(sums.extended_per_kloc),
            "interface_drift": ledger.interface_drift if ledger.interface_checked else None,
            "parse_errors": ledger.parse_errors,
            "findings": [
                {
                    "kind": f.kind,
                    "path": f.path,
                    "line": f.line,
                    "symbol": f.symbol,
                    "how": f.how,
                    "counted": f.counted,
                    "seen": f.seen,
                }
                for f in ledger.findings
            ],
        },
    }


def _unauthorised(change: Change, allow: Allow) -> Finding | None:
    if matches(allow.files_write, change.path):
        return None
    how: str = change.op
    if change.op == "mode":
        how = f"mode {change.mode_before} to {change.mode_after}"
    elif change.op == "special":
        how = change.mode_after or "special"
    elif change.mode_after == LINK:
        how = f"{change.op}, a link to {(change.content or b'').decode('utf-8', 'backslashreplace')}"
    return Finding(FILE, change.path, 0, change.path, how, "article")


def _six_digits(value: Any) -> float | None:
    return None if value is None else float(f"{float(value):.6g}")
