"""The static ledger of a patch against no more than parsing it: the same files, by turns, in one run."""

from __future__ import annotations

import ast
import gc
import os
import platform
import statistics
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

from stages.assumptions import Allow, Ledger, examine
from stages.contract.trees import FILE, Change, Entry

MODULES = """
    argparse ast asyncio/base_events.py calendar cmd codecs collections/__init__.py configparser csv dataclasses
    datetime difflib email/message.py enum fractions ftplib functools gettext gzip heapq http/client.py inspect
    ipaddress json/decoder.py locale logging/__init__.py mailbox mimetypes netrc optparse os pathlib pickle plistlib
    platform random shlex shutil smtplib socket statistics string subprocess sysconfig tarfile tempfile textwrap
    threading traceback typing unittest/mock.py urllib/request.py uuid webbrowser zipfile
"""
FEW = 8
ROUNDS = 5
NOTHING = Allow((), True, (), ("**",))


def sources(few: bool = False) -> list[Entry]:
    """Modules of this interpreter's standard library, as files of a tree; those that it hasn't are left out."""
    folder = Path(os.__file__).parent
    names = [name if name.endswith(".py") else f"{name}.py" for name in MODULES.split()]
    paths = [name for name in names if (folder / name).is_file()]
    return [Entry(f"lib/{path}", FILE, (folder / path).read_bytes()) for path in (paths[:FEW] if few else paths)]


def added(entry: Entry) -> Change:
    return Change(entry.path, "add", None, FILE, None, entry.sha256, entry.content)


def ledgers(files: list[Entry]) -> list[Ledger]:
    """One patch for each file."""
    return [examine([], [added(file)], NOTHING, None) for file in files]


def parsed(files: list[Entry]) -> int:
    """Nodes of all trees: what the least of analyses does."""
    count = 0
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for file in files:
            count += sum(1 for _ in ast.walk(ast.parse(file.content)))
    return count


def timed(work: Callable[[list[Entry]], object], files: list[Entry]) -> float:
    """CPU time [s], without what others left to be collected."""
    gc.collect()
    start = time.process_time()
    work(files)
    return time.process_time() - start


def measure(quick: bool) -> dict[str, Any]:
    """Times [s] of both by turns, the ratio of each round, and the lines that were read."""
    files = sources(quick)
    found = ledgers(files[:2])  # what is imported at first use
    parsed(files[:2])
    rounds = []
    for number in range(2 if quick else ROUNDS):
        order = (parsed, ledgers) if number % 2 else (ledgers, parsed)
        rounds.append({work.__name__: timed(work, files) for work in order})
    found = ledgers(files)
    return {
        "files": len(files),
        "lines": sum(one.generated_lines for one in found),
        "findings": sum(len(one.findings) for one in found),
        "ledger_s": statistics.median(one["ledgers"] for one in rounds),
        "parse_s": statistics.median(one["parsed"] for one in rounds),
        "ratios": [one["ledgers"] / one["parsed"] for one in rounds],
        "python": platform.python_version(),
        "cores": os.cpu_count(),
        "load": os.getloadavg()[0],
    }


def markdown(found: dict[str, Any]) -> str:
    """One row, and how it came about."""
    ratio, least, most = statistics.median(found["ratios"]), min(found["ratios"]), max(found["ratios"])
    return "\n".join([
        "| files | lines | `ast.parse` and a walk | static ledger | ratio |",
        "| ---: | ---: | ---: | ---: | ---: |",
        f"| {found['files']} | {found['lines']:,} | {found['parse_s']:.2f} s | {found['ledger_s']:.2f} s "
        f"| {ratio:.2f} ({least:.2f} to {most:.2f}) |",
        "",
        f"CPU time, median of {len(found['ratios'])} rounds by turns in one process; each file of Python "
        f"{found['python']}'s library is a patch of its own ({found['findings']:,} findings); {found['cores']} cores, "
        f"load {found['load']:.1f}.",
    ])  # fmt: skip
