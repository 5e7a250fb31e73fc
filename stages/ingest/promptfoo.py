"""Promptfoo's results: the JSON that `-o results.json` writes (versions 2 and 3), or its rows as JSON lines.

Both arms are in one log: an arm is a provider by its label, with `#N` for its prompt where a provider has several.
`success` decides. `failureReason` 2, or an error without grading, is `aborted`; `timeout` where the error says that
time ran out, `lost` where declared; a test that the evaluation's end cut off has no outcome. An item is a test's
description, with a digest where several tests share one; its digest is that of its variables and assertions, its
stratum `metadata.stratum` of the test, or what `--strata` names. Rows of one test and provider are its repeats.
`response.cached` marks an answer that repeats another trial.

Wall time [s] is `latencyMs`. Nothing in these logs speaks of the session, nor of when a trial began.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from stages.contract.digest import file_sha256
from stages.contract.errors import InputError
from stages.contract.limits import MAX_JSON_BYTES
from stages.contract.text import kind
from stages.ingest.folders import json_object, json_rows
from stages.ingest.lines import check_file, finite, peek
from stages.ingest.model import Format, Notes, Options, Reading
from stages.ingest.promptfoo_tests import Test, Tests, check_cells, check_totals
from stages.ingest.values import (
    Facts,
    Trials,
    amount,
    clean,
    count,
    field_of,
    identity,
    infrastructure,
    label,
    mapping,
    name,
)

WHAT = "results of promptfoo, as JSON or JSON lines"
_KEYS = (b'"provider"', b'"vars"', b'"success"')
_TIME = re.compile(r"\btimed? ?out\b|\btimeout\b", re.IGNORECASE)
_CUT_OFF = re.compile(r"exceeded max duration|\bcancell?ed\b|\baborted by\b", re.IGNORECASE)


def sniff(path: Path) -> bool:
    """Whether a file's beginning has the keys of promptfoo's results."""
    head = peek(path, 1024 * 1024) if path.suffix in (".json", ".jsonl") else b""
    return all(key in head for key in _KEYS) and (b'"testCase"' in head or b'"gradingResult"' in head)


def read(paths: Sequence[Path], options: Options, notes: Notes) -> Reading:
    """Rows of all logs, of all providers. Raises InputError naming file and row."""
    tests = Tests()
    facts = Facts()
    seen: set[str] = set()
    held: list[tuple[Test, dict[str, Any]]] = []
    for source, path in enumerate(paths):
        check_file(path, WHAT)
        digest = file_sha256(path)
        if digest in seen:
            notes.add("nested_copies", path.name, "the same bytes were read already")
            continue
        seen.add(digest)
        before = len(held)
        about: dict[str, Any] = {}
        for number, row in _rows(path, about, notes):
            where = f"{path.name}: row {number}"
            test = tests.add(where, row, source, options)
            held.append((test, _values(where, row, source, number, options)))
            _say(where, row, test, about, facts)
        if len(held) == before:
            raise InputError(path, "no row", WHAT)
        own = held[before:]
        check_totals(path.name, about, own, notes)
        check_cells(path.name, [test for test, _ in own], notes)
    trials = Trials()
    for test, values in held:
        trials.add(test.key, item_id=tests.item(test), arm=tests.arm(test), item_digest=test.digest, **values)
    trials.note(notes, "rows")
    said = facts.made()
    return Reading(trials.table(), facts={arm: said[provider] for arm, provider in tests.arms().items()})


def _rows(path: Path, about: dict[str, Any], notes: Notes) -> Iterator[tuple[int, dict[str, Any]]]:
    """(number, row) of a log; `about` gets what a JSON log says of its evaluation."""
    if path.suffix == ".jsonl":
        yield from json_rows(path, WHAT, notes)
        return
    top, _ = json_object(path, MAX_JSON_BYTES, WHAT)
    summary = top.get("results")
    if isinstance(summary, dict):
        about |= {key: summary.get(key) for key in ("stats", "prompts", "table")}
        about |= {"config": top.get("config"), "metadata": top.get("metadata"), "evalId": top.get("evalId")}
        summary = summary.get("results")
    if not isinstance(summary, list):
        raise InputError(path, f"its results are {kind(summary)}", "a list of rows", "give what `-o` wrote")
    for number, row in enumerate(summary, 1):
        if not isinstance(row, dict):
            raise InputError(f"{path.name}: row {number}", f"is {kind(row)}", "an object")
        yield number, row


def _values(where: str, row: dict[str, Any], source: int, number: int, options: Options) -> dict[str, Any]:
    """What a row says of its trial."""
    response = mapping(where, row.get("response"), "response")
    cached = response.get("cached")
    if cached is not None and not isinstance(cached, bool):
        raise InputError(where, f"cached is {kind(cached)}", "true or false")
    status, reason = _outcome(where, row, options)
    tokens = mapping(where, row.get("tokenUsage") or response.get("tokenUsage"), "tokenUsage")
    latency = amount(where, row.get("latencyMs"), "latencyMs")
    case = mapping(where, row.get("testCase"), "testCase")
    metadata = mapping(where, case.get("metadata"), "metadata") or mapping(where, row.get("metadata"), "metadata")
    wanted = options.strata or "stratum"
    label_of = metadata.get(wanted) if metadata.get(wanted) is not None else field_of(row, wanted)
    provider = row.get("provider")
    return {
        "stratum": None if label_of is None else name(where, label_of, wanted),
        "trial": identity(where, row.get("id"), "id"),
        "status": status,
        "reason": reason,
        "cached": cached is True,
        "score": finite(row.get("score")),
        "wall_s": None if latency is None else latency / 1000,
        "requested_model": label(where, provider.get("id") if isinstance(provider, dict) else provider, "provider"),
        "input_tokens": count(where, tokens.get("prompt"), "tokenUsage.prompt"),
        "output_tokens": count(where, tokens.get("completion"), "tokenUsage.completion"),
        "cost_usd": amount(where, row.get("cost"), "cost"),
        "source": source,
        "line": number,
    }


def _outcome(where: str, row: dict[str, Any], options: Options) -> tuple[str | None, str | None]:
    """(status, reason) of a row."""
    success, why, error = row.get("success"), row.get("failureReason"), row.get("error")
    if success is not None and not isinstance(success, bool):
        raise InputError(where, f"success is {kind(success)}", "true or false")
    if why is not None and (isinstance(why, bool) or why not in (0, 1, 2)):
        raise InputError(where, f"failureReason is {why!r:.40}", "0, 1 or 2")
    if error is not None and not isinstance(error, str):
        raise InputError(where, f"error is {kind(error)}", "text")
    if success is True and why in (1, 2):
        raise InputError(where, f"success with failureReason {why}", "one or the other")
    if why == 2 or (why is None and error and not row.get("gradingResult")):
        reason = clean(error or "") or "an error without a text"
        if infrastructure([error], options.infra_errors):
            return "lost", reason
        if _CUT_OFF.search(reason):
            return None, f"cut off: {reason}"[:200]
        return ("timeout" if _TIME.search(reason) else "aborted"), reason
    if success is None:
        return None, "no success"
    return ("passed" if success else "failed"), None


def _say(where: str, row: dict[str, Any], test: Test, about: dict[str, Any], facts: Facts) -> None:
    """Keep what a row and its log say of its provider."""
    provider = row.get("provider")
    config = mapping(where, provider.get("config"), "config") if isinstance(provider, dict) else {}
    temperature = finite(config.get("temperature"))
    version = field_of(about, "metadata.promptfooVersion")
    budget = finite(field_of(about, "config.evaluateOptions.timeoutMs"))
    run = about.get("evalId")
    facts.add(
        test.provider,
        name=test.provider,
        harness=f"promptfoo {clean(version)}" if isinstance(version, str) else "promptfoo",
        oracle="promptfoo assertions",
        time_budget=None if budget is None else f"{budget / 1000:g} s",
        model=label(where, provider.get("id") if isinstance(provider, dict) else provider, "provider"),
        temperature=None if temperature is None else f"{temperature:g}",
        run=f"{clean(run)} {test.provider}" if isinstance(run, str) else None,  # one run holds both arms
    )


FORMAT = Format("promptfoo", sniff, read, both_arms=True)
