"""Finds the files of a SWE-bench log, tells them apart by what they hold, and reads each into one Log."""

from __future__ import annotations

import hashlib
import os
import re
import stat
from collections.abc import Iterator
from pathlib import Path

from stages.contract.errors import InputError, MissingInput
from stages.contract.limits import MAX_JSON_BYTES, PATCH_BYTES
from stages.contract.text import read_bytes
from stages.ingest.lines import check_file, json_lines, parse_lenient, peek
from stages.ingest.swebench_log import Log, Seen, log_error, result_lists, run_report
from stages.ingest.swebench_said import instances, listed, prediction
from stages.ingest.swebench_text import first_line, item_id

WHAT = "predictions, a run report, report.json, results.json, eval_results.json or a run's folder of SWE-bench"
INSTANCE_FILES = ("report.json", "patch.diff", "run_instance.log")
MAX_DEPTH, MAX_ENTRIES, LOG_BYTES = 12, 1_000_000, 65_536

_KEY = rb'(?<!\\)"(?:model_patch|modelPatch|total_instances|resolved_ids|resolvedIds|patch_successfully_applied)"\s*:'
_MAP = rb'\A\s*\{\s*"(?=[^"\\]*__)[^"\\]{3,240}"\s*:\s*(?:true|false|null|\{[^{}]*"resolved"\s*:)'
_HEAD = re.compile(_KEY + rb'|(?<!\\)"(?:no_generation|no_logs|resolved)"\s*:\s*\[|' + _MAP)


def is_ours(path: Path) -> bool:
    """Whether the first 64 KiB of a .json or .jsonl file look like a file of SWE-bench."""
    return path.suffix in (".json", ".jsonl") and bool(_HEAD.search(peek(path)))


def is_instance(path: Path) -> bool:
    """Whether a folder is that of one instance: it holds patch.diff, run_instance.log, or its own report.json."""
    if any((path / name).is_file() for name in ("patch.diff", "run_instance.log")):
        return True
    return f'"{path.name}"'.encode("utf-8", "replace") in peek(path / "report.json")


def walk(root: Path, depth: int = 0, seen: list[int] | None = None) -> Iterator[Path]:
    """Folders of instances and files that look like ours, sorted by name. Links, and trees too deep or large, are
    refused with InputError."""
    seen = [0] if seen is None else seen
    if depth > MAX_DEPTH:
        raise InputError(root, f"lies deeper than {MAX_DEPTH} folders", WHAT, "give the run's own folder")
    if is_instance(root):
        yield root
        return
    try:
        entries = sorted(os.scandir(root), key=lambda entry: entry.name)
    except OSError as error:
        raise InputError(root, f"can't be read ({error.strerror})", WHAT) from None
    seen[0] += len(entries)
    if seen[0] > MAX_ENTRIES:
        raise InputError(root, f"holds more than {MAX_ENTRIES:,} files", WHAT, "give the run's own folder")
    for entry in entries:
        path = Path(entry.path)
        if entry.name.startswith("."):
            continue
        if entry.is_symlink():
            if path.is_dir() or path.suffix in (".json", ".jsonl"):
                raise InputError(path, "is a link", "files and folders of the log itself", "give what it points to")
        elif entry.is_dir():
            yield from walk(path, depth + 1, seen)
        elif entry.is_file() and is_ours(path):
            yield path


def is_folder(path: Path, what: str) -> bool:
    """Whether a path that was given is a folder. Raises MissingInput or InputError where there is nothing to read."""
    try:
        return stat.S_ISDIR(path.stat().st_mode)
    except FileNotFoundError:
        raise MissingInput(path, "doesn't exist", what) from None
    except (OSError, ValueError) as error:
        raise InputError(path, f"can't be read ({getattr(error, 'strerror', error)})", what) from None


def read_path(path: Path, source: int, log: Log) -> None:
    """One path that was given, a file or a folder. Raises InputError or MissingInput."""
    if not is_folder(path, WHAT):
        read_file(path, source, log)
        return
    found = False
    for one in walk(path):
        found = True
        if one.is_dir():
            read_instance(one, source, log)
        else:
            read_file(one, source, log)
    if not found:
        raise InputError(path, "holds nothing of SWE-bench", WHAT)


def run_of(path: Path) -> tuple[str | None, str | None]:
    """(run, model) by the folders below `run_evaluation`, as the harness names them."""
    parts = Path(os.path.abspath(path)).parts
    if "run_evaluation" not in parts:
        return None, None
    after = parts[len(parts) - parts[::-1].index("run_evaluation") :]
    return (after[0], after[1]) if len(after) > 2 else (None, None)


def _member(path: Path, limit: int, what: str) -> bytes:
    if path.is_symlink():
        raise InputError(path, "is a link", what, "give what it points to")
    return read_bytes(path, limit, what)


def read_instance(path: Path, source: int, log: Log) -> None:
    """The folder of one instance: its report, the patch that was judged, and the error where there is no report."""
    log.file = str(path)
    item = item_id(path, path.name)
    run, model = run_of(path)
    line = len(log.verdicts) + 1
    held = {name: (path / name) for name in INSTANCE_FILES if (path / name).is_file() or (path / name).is_symlink()}
    patch = _member(held["patch.diff"], PATCH_BYTES, "a diff") if "patch.diff" in held else None
    report = _member(held["report.json"], MAX_JSON_BYTES, "a report") if "report.json" in held else None
    digest = hashlib.sha256(b"%d:" % len(report or b"") + (report or b"") + (patch or b"")).hexdigest()
    if log.is_copy(path, "instance", run or "", model or "", item, digest):
        return
    if model:
        log.models[model] = None
    if patch is not None and log.judged.setdefault((run, item), patch) != patch:
        raise InputError(path, "was judged with another patch elsewhere in the same run", "one run", "give one run")
    if report is not None:
        value = parse_lenient(held["report.json"], report)
        if not isinstance(value, dict) or list(value) != [item]:
            raise InputError(held["report.json"], "isn't about the instance of its folder", f"one key, {item}")
        instances(held["report.json"], value, source, log, run, line)
        return
    status: str | None = None
    reason = "no report.json"
    if "run_instance.log" in held and (found := log_error(_tail(held["run_instance.log"]))):
        status, reason = found[0], first_line(found[1])
    log.say(Seen(item, source, line, run, None, status, reason))


def _tail(path: Path) -> str:
    if path.is_symlink():
        raise InputError(path, "is a link", "a log", "give what it points to")
    try:
        with path.open("rb") as stream:
            size = stream.seek(0, os.SEEK_END)
            stream.seek(max(0, size - LOG_BYTES))
            return stream.read(LOG_BYTES).decode("utf-8", "replace")
    except OSError as error:
        raise InputError(path, f"can't be read ({error.strerror})", "a log") from None


def file_digest(path: Path) -> str:
    """sha256 of a regular file that isn't empty. Raises InputError."""
    made = hashlib.sha256()
    check_file(path, WHAT)
    try:
        with path.open("rb") as stream:
            while chunk := stream.read(1 << 20):
                made.update(chunk)
    except OSError as error:
        raise InputError(path, f"can't be read ({error.strerror})", WHAT) from None
    return made.hexdigest()


def read_file(path: Path, source: int, log: Log) -> None:
    """One file, told by its ending and by what it holds. Raises InputError."""
    log.file = str(path)
    run, model = run_of(path) if path.name == "report.json" else (None, None)
    if path.suffix == ".jsonl":
        if log.is_copy(path, "lines", file_digest(path)):
            return
        for number, row in json_lines(path, "a prediction of SWE-bench", log.notes):
            prediction(f"{path}: line {number}", row, source, number, log)
        return
    if path.suffix != ".json":
        raise InputError(path, "ends in neither .json nor .jsonl", WHAT)
    data = read_bytes(path, MAX_JSON_BYTES, WHAT)
    if not data.strip():
        raise InputError(path, "is empty", WHAT)
    if log.is_copy(path, "file", run or "", model or "", hashlib.sha256(data).hexdigest()):
        return
    value = parse_lenient(path, data)
    if model:
        log.models[model] = None
    if isinstance(value, list):
        listed(path, value, source, log)
    elif not isinstance(value, dict):
        raise InputError(path, "holds neither an object nor a list", WHAT)
    elif "resolved_ids" in value or "total_instances" in value:
        run_report(path, value, source, log)
    elif any(isinstance(value.get(k), list) for k in ("resolved", "resolvedIds")):
        result_lists(path, value, source, log)
    elif value and all(isinstance(v, dict) and ("model_patch" in v or "modelPatch" in v) for v in value.values()):
        for n, (key, row) in enumerate(value.items(), 1):
            if row.setdefault("instance_id", key) != key:
                raise InputError(f"{path}: {key}", "stands under another instance_id than its own", "one id")
            prediction(f"{path}: {key}", row, source, n, log)
    else:
        instances(path, value, source, log, run, 1)
