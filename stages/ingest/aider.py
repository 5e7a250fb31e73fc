"""Results of aider's benchmark: `.aider.results.json` in the folder of each exercise.

One row per exercise and run; an item is `LANGUAGE/EXERCISE` where folders say the language (then it is the stratum),
else the exercise. The outcome is that of the last try: tries are not repeats but feedback within one trial, counted as
`attempts` and noted. Without any try there is no outcome, nor for an exercise whose folder has no results. An exception
of the harness is `aborted`, `lost` where declared. Tests that ran out of time failed their try; `reason` says how many,
and so of errors that aider printed and contexts that ran full. Each run folder is a repeat.

Wall time [s] is `duration`, cost in USD. No time of the trial stands in these logs, and no word of the session.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from stages.contract.digest import sha256
from stages.contract.errors import InputError
from stages.contract.text import kind
from stages.ingest.folders import entries, json_object, plain, present, walk
from stages.ingest.model import Format, Notes, Options, Reading
from stages.ingest.values import (
    Facts,
    Trials,
    amount,
    clean,
    count,
    infrastructure,
    label,
    name,
    stratum,
)

FILE = ".aider.results.json"
WHAT = "a folder of aider's benchmark, with .aider.results.json in each exercise"
MAX_BYTES = 16 * 1024 * 1024
_LAYOUT = ("exercises", "practice")  # LANGUAGE/exercises/practice/EXERCISE
_COUNTED = (
    ("num_error_outputs", "error outputs"),
    ("num_exhausted_context_windows", "full contexts"),
    ("num_malformed_responses", "malformed responses"),
)


def sniff(path: Path) -> bool:
    """Whether it is a results file, or a folder that has one at most five folders below."""
    if not path.is_dir():
        return path.name == FILE and path.is_file()
    try:
        folders = walk(path, 5, WHAT, Notes(), lambda one: not (one / FILE).exists())
        return any((one / FILE).is_file() for one, _ in zip(folders, range(2_000), strict=False))
    except (InputError, OSError):
        return False


def read(paths: Sequence[Path], options: Options, notes: Notes) -> Reading:
    """Rows of all exercises. Raises InputError naming the file."""
    trials, facts = Trials(), Facts()
    seen: set[tuple[str, str]] = set()
    tries: list[str] = []
    for source, path in enumerate(paths):
        present(path, WHAT)
        root = path if path.is_dir() else path.parent
        found = sorted(
            one
            for one in walk(root, 7 if path.is_dir() else 0, WHAT, notes, lambda one: not (one / FILE).exists())
            if plain(one / FILE)
        )
        if not found:
            raise InputError(path, "holds no results", WHAT)
        done = set(found)
        for folder in sorted({*found, *(_siblings(found) if path.is_dir() else ())}):
            item, language = _item(folder)
            run = _run(folder, root)
            if folder not in done:
                of = stratum(item, {}, None) if options.strata else language
                why = "no results: the exercise wasn't finished"
                trials.add(run, item_id=item, stratum=of, reason=why, source=source, line=trials.count + 1)
                trials.later("unfinished_run", "exercises without results", item)
                continue
            result, data = json_object(folder / FILE, MAX_BYTES, WHAT)
            if (item, sha256(data)) in seen and "exception" not in result:
                trials.later("nested_copies", "results that were read already", item)
                continue
            seen.add((item, sha256(data)))
            if _add(item, language, run, result, source, trials, facts, options) > 1:
                tries.append(item)
        trials.note(notes, path.name)
    if tries:
        said = f"{len(tries)} trials had several tries; the last one's outcome counts"
        notes.add("tries_collapsed", FILE, said, len(tries), tries)
    return Reading(trials.table(), facts=facts.made())


def _siblings(found: Sequence[Path]) -> list[Path]:
    """Exercises beside those that have results."""
    beside = {one.parent for one in found if one.parts[-3:-1] == _LAYOUT}
    held = (one for folder in sorted(beside) for one in entries(folder, WHAT) if one.name[0] != ".")
    return [one for one in held if one.is_dir() and not one.is_symlink()]


def _item(folder: Path) -> tuple[str, str | None]:
    """(id, language) of an exercise by where it stands."""
    parts = folder.absolute().parts
    if len(parts) > 3 and parts[-3:-1] == _LAYOUT:
        return name(folder, f"{parts[-4]}/{parts[-1]}", "the exercise"), parts[-4]
    return name(folder, parts[-1], "the exercise"), None


def _run(folder: Path, root: Path) -> Path:
    """The folder of the run that an exercise is of."""
    up = 4 if folder.absolute().parts[-3:-1] == _LAYOUT else 1
    return folder.absolute().parents[up - 1] if len(folder.absolute().parts) > up else root


def _add(
    item: str,
    language: str | None,
    run: Path,
    result: dict[str, Any],
    source: int,
    trials: Trials,
    facts: Facts,
    options: Options,
) -> int:
    """Add one exercise; returns how many tries it had."""
    where = f"{item}/{FILE}"
    said = label(where, result.get("testcase"), "testcase")
    if said is not None and said != item.rpartition("/")[2]:
        raise InputError(where, f"is the result of {said}", "that of the exercise in whose folder it stands")
    outcomes = result.get("tests_outcomes")
    if outcomes is not None and not (isinstance(outcomes, list) and all(isinstance(one, bool) for one in outcomes)):
        raise InputError(f"{where}: tests_outcomes", f"{outcomes!r:.60}", "a list of true and false")
    if outcomes is None and "exception" not in result:
        raise InputError(where, "no tests_outcomes and no exception", WHAT)
    status, reason = _outcome(where, result, outcomes or [], options)
    model = label(where, result.get("model"), "model")
    trials.add(
        run,
        item_id=item,
        stratum=language if options.strata is None else stratum(where, result, options.strata),
        status=status,
        reason=reason,
        attempts=len(outcomes) if outcomes else None,
        wall_s=amount(where, result.get("duration"), "duration"),
        cost_usd=amount(where, result.get("cost"), "cost"),
        input_tokens=count(where, result.get("prompt_tokens"), "prompt_tokens"),
        output_tokens=count(where, result.get("completion_tokens"), "completion_tokens"),
        requested_model=model,
        source=source,
        line=trials.count + 1,
    )
    edits = label(where, result.get("edit_format"), "edit_format")
    facts.add(
        None,
        name="aider" if model is None else f"aider {model}",
        version=label(where, result.get("commit_hash"), "commit_hash"),
        harness="aider benchmark",
        oracle="the exercises' tests",
        tools=edits and f"edit format {edits}",
        model=model,
    )
    return len(outcomes or [])


def _outcome(
    where: str, result: dict[str, Any], outcomes: list[bool], options: Options
) -> tuple[str | None, str | None]:
    """(status, reason) of an exercise."""
    if "exception" in result:
        text = result["exception"]
        if not isinstance(text, str):
            raise InputError(f"{where}: exception", kind(text), "text")
        reason = clean(text) or "an exception without a text"
        return ("lost" if infrastructure([text], options.infra_errors) else "aborted"), reason
    said = []
    if late := count(where, result.get("test_timeouts"), "test_timeouts"):
        said.append(f"tests ran out of time in {late} of {len(outcomes)} tries")
    said += [f"{n} {words}" for key, words in _COUNTED if (n := count(where, result.get(key), key))]
    if not outcomes:
        return None, "; ".join(["no try was tested", *said])
    return ("passed" if outcomes[-1] else "failed"), "; ".join(said) or None


FORMAT = Format("aider", sniff, read)
