"""What the files of a SWE-bench log say, one by one: verdicts, predictions, claims. Nothing is merged here yet."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from stages.contract.errors import InputError
from stages.ingest.model import Notes
from stages.ingest.swebench_text import flag, item_id, text_of

RUN_LISTS: tuple[tuple[str, str | None, str], ...] = (
    ("resolved_ids", "passed", ""),
    ("unresolved_ids", "failed", ""),
    ("empty_patch_ids", "failed", "empty patch"),
    ("error_ids", "aborted", "error_ids: the evaluation ended in an error"),
    ("submitted_ids", None, "submitted, and in no list of outcomes"),
    ("completed_ids", None, "completed, and in no list of outcomes"),
    ("incomplete_ids", None, "incomplete_ids: nothing was submitted"),
    ("pending_ids", None, "pending_ids: its evaluation hadn't ended"),
)
"""Lists of a run report (schema 1 and 2): what an id in them is."""

RESULT_LISTS: tuple[tuple[str, str | None, str], ...] = (
    ("resolved", "passed", ""),
    ("resolvedIds", "passed", ""),
    ("no_generation", "failed", "empty patch"),
    ("no_apply", "failed", "the patch didn't apply"),
    ("test_timeout", "timeout", "test_timeout: the tests ran out of time"),
    ("test_errored", "aborted", "test_errored: the tests ended in an error"),
    ("reset_failed", "aborted", "reset_failed: the repository couldn't be reset"),
    ("install_fail", "aborted", "install_fail: the environment couldn't be installed"),
    ("applied", "failed", "its tests ran, and it isn't resolved"),
    ("generated", None, "a patch, and no outcome"),
    ("with_logs", None, "logs, and no outcome"),
    ("no_logs", None, "no_logs"),
)
"""Lists of a leaderboard submission's results.json; `applied` decides only where nothing else does."""

_WEAK = ("applied",)


@dataclass(frozen=True)
class Seen:
    """One word of a log on one instance. `run`: the evaluation run where a folder names one. `report`: the name of the
    run report that it stands in. `extra`: columns of the row, known from here. `file`: where it was read."""

    item: str
    source: int
    line: int
    run: str | None = None
    report: str | None = None
    status: str | None = None
    reason: str = ""
    patch: bytes | None = None
    extra: Mapping[str, Any] = field(default_factory=dict)
    file: str = ""


@dataclass
class Log:
    """All words of the files of one arm, in the order of reading."""

    notes: Notes
    strata: str | None = None  # the field of predictions that holds the stratum
    file: str = ""  # the file that is being read
    verdicts: list[Seen] = field(default_factory=list)
    predictions: list[Seen] = field(default_factory=list)
    judged: dict[tuple[str | None, str], bytes] = field(default_factory=dict)  # (run, item): patch that was evaluated
    planned: dict[str, None] = field(default_factory=dict)
    models: dict[str, None] = field(default_factory=dict)  # names of what made the predictions
    facts: dict[str, set[str]] = field(default_factory=dict)
    digests: dict[tuple[str, ...], str] = field(default_factory=dict)  # identity of what was read, to where
    copies: list[str] = field(default_factory=list)

    def say(self, seen: Seen) -> None:
        """Keep an outcome, or the word that there is none."""
        self.verdicts.append(replace(seen, file=self.file))

    def fact(self, name: str, value: str | None) -> None:
        """Something that the log says of its arm; it stands only where all that is said agrees."""
        if value:
            self.facts.setdefault(name, set()).add(value)

    def is_copy(self, path: Path, *identity: str) -> bool:
        """Whether the same bytes were read already as the same thing; if so it's counted."""
        if identity in self.digests:
            self.copies.append(path.name)
            return True
        self.digests[identity] = path.name
        return False


def run_report(path: Path, value: Mapping[str, Any], source: int, log: Log) -> None:
    """A run report: ids in lists, and totals that are compared with them. Raises InputError."""
    version = value.get("schema_version", 1)
    if isinstance(version, bool) or version not in (1, 2):
        raise InputError(path, f"schema_version is {str(version)[:40]}", "1 or 2")
    log.fact("harness", f"SWE-bench run report, schema {version}")
    known = {name for name, _, _ in RUN_LISTS}
    others = sorted(k for k in value if k.endswith("_ids") and k not in known)
    rules = (*RUN_LISTS, *((name, None, f"only in {name[:60]}, whose meaning isn't known") for name in others))
    lists = _ids(path, value, [name for name, _, _ in rules])
    _claims(path, value, lists, log.notes)
    log.planned.update(dict.fromkeys((*lists.get("submitted_ids", ()), *lists.get("incomplete_ids", ()))))
    _verdicts(lists, rules, log, source, path.name)


def result_lists(path: Path, value: Mapping[str, Any], source: int, log: Log) -> None:
    """results.json of a leaderboard submission: lists of ids; an id in none of them isn't known. Raises InputError."""
    if system := text_of(value.get("system")):
        log.models[system] = None
    lists = _ids(path, value, [name for name, _, _ in RESULT_LISTS])
    _verdicts(lists, RESULT_LISTS, log, source, None)


def _ids(path: Path, value: Mapping[str, Any], names: Iterable[str]) -> dict[str, list[str]]:
    found = {}
    for name in names:
        if name not in value:
            continue
        if not isinstance(value[name], list):
            raise InputError(f"{path}: {name}", "is no list", "a list of instance ids")
        found[name] = [item_id(f"{path}: {name}[{n}]", one) for n, one in enumerate(value[name])]
    return found


def _verdicts(
    lists: Mapping[str, list[str]],
    rules: Iterable[tuple[str, str | None, str]],
    log: Log,
    source: int,
    report: str | None,
) -> None:
    order = [*lists.get("submitted_ids", ()), *(item for ids in lists.values() for item in ids)]
    place = {item: n for n, item in enumerate(dict.fromkeys(order), 1)}
    said: dict[str, list[tuple[str, str | None, str]]] = {}
    for name, status, reason in rules:
        for item in lists.get(name, ()):
            said.setdefault(item, []).append((name, status, reason))
    for item, line in place.items():
        words = said[item]
        decisive = [w for w in words if w[1] and w[0] not in _WEAK] or [w for w in words if w[1]][:1] or words[:1]
        for _, status, reason in decisive:
            log.say(Seen(item, source, line, report=report, status=status, reason=reason))


def _claims(path: Path, value: Mapping[str, Any], lists: Mapping[str, list[str]], notes: Notes) -> None:
    held = {name.removesuffix("_ids"): len(set(ids)) for name, ids in lists.items()}
    named = {name: f"{name}_ids" for name in held}
    if "submitted_ids" in lists:
        held["total"] = len({*lists["submitted_ids"], *lists.get("incomplete_ids", ())})
        named["total"] = "submitted_ids with incomplete_ids"
    if "completed_ids" in lists and "resolved_ids" in lists and "unresolved_ids" in lists:
        both = len({*lists["resolved_ids"], *lists["unresolved_ids"]})
        if both != held["completed"]:
            found = f"completed_ids holds {held['completed']}, resolved_ids and unresolved_ids hold {both}"
            notes.add("total_disagrees", path.name, found)
    for name, count in held.items():
        claim = value.get(f"{name}_instances")
        if claim is None:
            continue
        if isinstance(claim, bool) or not isinstance(claim, int):
            raise InputError(f"{path}: {name}_instances", "is no whole number", "a count")
        if name == "total" and claim > count:  # the data set's size, of which a run may take a part
            notes.add("part_of_pack", path.name, f"{count} of the data set's {claim} instances")
        elif claim != count:
            said = f"{name}_instances says {str(claim)[:20]}, {named[name]} holds {count}"
            notes.add("total_disagrees", path.name, said)


_TESTS = ("FAIL_TO_PASS", "PASS_TO_PASS")


def verdict_of(where: object, value: Mapping[str, Any]) -> tuple[str | None, str]:
    """(status, reason) of one instance's report or details. Raises InputError."""
    resolved = flag(where, "resolved", value.get("resolved"))
    if resolved is None:
        return None, "`resolved` is null or absent"
    if resolved:
        return "passed", ""
    if flag(where, "patch_is_None", value.get("patch_is_None")):
        return "failed", "empty patch"
    if flag(where, "patch_successfully_applied", value.get("patch_successfully_applied")) is False:
        return "failed", "the patch didn't apply"
    return "failed", ""


def tests_disagree(value: Mapping[str, Any]) -> str | None:
    """How `resolved` differs from the tests that stand beside it; None where it doesn't, or where there are none."""
    tests = value.get("tests_status")
    parts = [tests.get(name) for name in _TESTS] if isinstance(tests, dict) else []
    if len(parts) < 2 or not all(isinstance(p, dict) and isinstance(p.get("failure"), list) for p in parts):
        return None
    failed = sum(len(p["failure"]) for p in parts if isinstance(p, dict))
    if value.get("resolved") is True and failed:
        return f"resolved, with {failed} tests that failed"
    ran = sum(len(p["success"]) for p in parts if isinstance(p, dict) and isinstance(p.get("success"), list))
    if value.get("resolved") is False and ran and not failed:
        return f"not resolved, with all of {ran} tests passed"
    return None


_MARK = re.compile(r"^(?:.* - )?((?:>>>>> |[\w.]*(?:Error|Exception|Timeout\w*)\b|Test timed out).*)$")


def log_error(text: str) -> tuple[str, str] | None:
    """(status, error) of an instance's run_instance.log that ended without a report; None where it names no error."""
    lines = [found[1] for line in text.splitlines() if (found := _MARK.match(line.strip()))]
    wrong = [line for line in lines if not line.startswith(">>>>> Applied Patch")]
    if not wrong:
        return None
    last = wrong[-1]
    if any("Patch Apply Failed" in line for line in wrong):
        return "failed", "the patch didn't apply"
    if any("timed out" in line.lower() for line in wrong):
        return "timeout", next(line for line in wrong if "timed out" in line.lower())
    return "aborted", last
