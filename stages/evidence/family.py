"""Holm's step-down over finished studies of one family: several candidates, one control, one slice."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import Any

from stages.contract import layout
from stages.contract.digest import canonical, rational_text, short
from stages.contract.errors import InputError, UsageError, WeighbridgeError
from stages.contract.text import read_json
from stages.gate import Evidence, decide_study, read_evidence
from stages.stats import alpha_look, show_p


@dataclass(frozen=True)
class Member:
    """A finished study: where it lies, what it is derived from, what it decided, and what its look may spend."""

    path: Path
    evidence: Evidence
    decision: dict[str, Any]
    look_alpha: Fraction

    @property
    def weight(self) -> float:
        """p as a share of what the look may spend: the order in which Holm steps down."""
        p = self.decision["summary"]["p_sign_flip"]
        return 2.0 if p is None else float(p) / float(self.look_alpha)


def step_down(paths: Sequence[Path]) -> list[dict[str, Any]]:
    """A row per study, in the order of the steps (Holm 1979): its decision at the alpha of its step.

    With m the registered family, the first step spends `alpha_look / m`, the next `alpha_look / (m - 1)`, and so on;
    after the first that isn't published the others stay where they are. Candidates that were never finished keep their
    place in m, so naming fewer studies gains nothing. Every step reruns the whole rule. Looks of one candidate are that
    candidate's own; the error over the family is at most the largest of them, 4/5 of alpha.

    Raises UsageError for fewer than two studies, InputError for studies that aren't of one family, aren't finished, or
    whose decision isn't what their tables give.
    """
    if len(paths) < 2:
        raise UsageError("family", f"{len(paths)} study", "two or more finished studies of one family")
    members = [_member(path) for path in paths]
    _one_family(members)
    first = members[0].evidence.manifest.protocol
    tried = sorted({name for m in members for name in m.evidence.campaign["candidates"]})
    members.sort(key=lambda m: (m.weight, m.decision["candidate"]["name"], m.decision["study_id"]))
    rows, open_ = [], True
    for step, member in enumerate(members):
        alpha = member.look_alpha / (first.family - step) if open_ else None
        campaign = {**member.evidence.campaign, "candidates": tried}
        seen = decide_study(replace(member.evidence, campaign=campaign), alpha) if alpha is not None else None
        open_ = open_ and seen is not None and seen["decision"] == "publish"
        rows.append(_row(member, step + 1, alpha, seen))
    return rows


def _row(member: Member, step: int, alpha: Fraction | None, seen: dict[str, Any] | None) -> dict[str, Any]:
    own = member.decision
    shown = seen or own
    return {
        "study": str(member.path),
        "candidate": f"{own['candidate']['name']} {own['candidate']['version']}",
        "step": step,
        "family": member.evidence.manifest.protocol.family,
        "control": f"{own['control']['name']} {own['control']['version']}",
        "slice_id": own["slice_id"],
        "look": own["looks"]["look"],
        "alpha_step": None if alpha is None else float(alpha),
        "alpha_step_exact": None if alpha is None else rational_text(alpha),
        "alpha_spent": own["summary"]["alpha_spent"],
        "p_sign_flip": own["summary"]["p_sign_flip"],
        "delta": shown["summary"]["delta"],
        "lo": shown["summary"]["lo"],
        "hi": shown["summary"]["hi"],
        "decision_alone": own["decision"],
        "decision": shown["decision"] if seen else "withhold",
        "reason": shown["reason"] if seen else "not_reached",
        "reasons": shown["reasons"] if seen else ["not_reached"],
    }


def _member(path: Path) -> Member:
    for name in (layout.MANIFEST, layout.PAIRS, layout.DECISION):
        if not (path / name).exists():
            raise InputError(
                path / name, "isn't there", "a finished study's folder", "run `dvc repro` or `dvc pull` there"
            )
    try:
        evidence = read_evidence(path)
        decision, stored = decide_study(evidence), read_json(path / layout.DECISION)
    except WeighbridgeError as error:  # its message names a file of some study
        raise InputError(f"{path}: {error.where}", error.found, error.expected, error.todo) from None
    if canonical(stored) != canonical(decision):
        found = "isn't what its tables give"
        raise InputError(path / layout.DECISION, found, "its own decision", "run `dvc repro` there")
    if decision["summary"] is None:
        raise InputError(path / layout.DECISION, f"study.mode {decision['mode']}", "a benchmark")
    alpha = alpha_look(evidence.manifest.protocol.alpha, int(evidence.campaign["look"]))
    return Member(path, evidence, decision, alpha)


def _one_family(members: Sequence[Member]) -> None:
    """Raise InputError unless all studies hold one slice and one control, each candidate once, within the family."""
    first = members[0]
    seen: dict[str, Path] = {}
    for m in members:
        d, one = m.decision, first.decision
        for key in ("slice_id", "control"):
            if d[key] != one[key]:
                found, wanted = (
                    short(x[key]) if key == "slice_id" else f"{x[key]['name']} {x[key]['version']}" for x in (d, one)
                )
                raise InputError(
                    m.path, f"{key} {found}", f"{wanted} as in {first.path}", "a family shares slice and control"
                )
        name = d["candidate"]["name"]
        if name in seen:
            raise InputError(m.path, f"candidate {name} once more", f"each candidate once; it is in {seen[name]} too")
        seen[name] = m.path
    family = first.evidence.manifest.protocol.family
    if len(members) > family:
        raise InputError(first.path, f"{len(members)} studies", f"at most protocol.family, {family}")


def family_lines(rows: list[dict[str, Any]]) -> list[str]:
    """The steps for people, under a line that says what they are."""
    first = rows[0]
    lines = [
        f"Holm's steps over {len(rows)} of a family of {first['family']} candidates against {first['control']} "
        f"on slice {short(first['slice_id'])}; p is the exact sign-flip test's"
    ]
    for row in rows:
        reached = row["reason"] if row["alpha_step"] else "not reached: the step before wasn't published"
        p = "no p" if row["p_sign_flip"] is None else f"p {show_p(row['p_sign_flip'])}"
        step = f"step {row['step']}, alpha {row['alpha_step']:.6g}" if row["alpha_step"] else f"step {row['step']}"
        interval = "" if row["lo"] is None else f", Δ {row['delta']:+.3f} [{row['lo']:+.3f}, {row['hi']:+.3f}]"
        own = f"its own decision, at {row['alpha_spent']:.6g}: {row['decision_alone']}"
        lines.append(f"{row['candidate']}: {row['decision']} ({reached}); {step}, {p}{interval}; {own}")
    return lines
