"""A task's frozen wheels as a folder that agents and oracles see read-only: installed offline, in a sandbox, once.

pip does the installing: it runs no code of a wheel, and inside it finds no network and nothing to write but the
folder itself.
"""

from __future__ import annotations

import os
import platform
import sys
import tempfile
import threading
from collections.abc import Iterable, Mapping
from pathlib import Path

from stages.contract import layout
from stages.contract.digest import digest, sha256
from stages.contract.errors import UsageError, one_line
from stages.contract.plan import PlanItem
from stages.contract.study import wheels_of
from stages.contract.trees import Entry
from stages.sandbox.bubble import Isolation
from stages.sandbox.launch import run
from stages.sandbox.walk import remove_tree

INSIDE = "/environment"
_DONE = ".weighbridge-installed"

_lock = threading.Lock()


def packages(environment: str) -> str:
    """Where the modules of an installed environment lie, as seen from where its folder is `environment`."""
    return f"{environment}/lib"


def environments(
    root: Path, items: Iterable[PlanItem], files: dict[tuple[str, str], list[Entry]], isolation: Isolation
) -> dict[str, Path]:
    """Item id to its installed environment, of the items that have one; `files` are the frozen ones."""
    store = layout.journal(root).resolve() / "environments"  # a shell elsewhere finds it too
    return {
        item.item_id: install(item.environment.python, wheels_of(item, files), store, isolation, f"task {item.item_id}")
        for item in items
        if item.environment is not None
    }


def install(python: str, wheels: Mapping[str, bytes], store: Path, isolation: Isolation, where: str) -> Path:
    """The folder of this environment below `store`, installed if it isn't there yet.

    `python` is the version that the task names, as `3.11`; `wheels` maps file names to bytes. Raises UsageError
    where this interpreter is another, or pip refuses: nothing was judged then.
    """
    here = ".".join(platform.python_version_tuple()[:2])
    if python != here:
        raise UsageError(
            f"{where}: environment.python",
            python,
            f"{here}, which this is",
            "run it with an interpreter of that version",
        )
    names = sorted(wheels)
    key = digest([sys.implementation.cache_tag, platform.machine(), [[name, sha256(wheels[name])] for name in names]])
    folder = store / key
    with _lock:
        if (folder / _DONE).exists():
            return folder
        store.mkdir(parents=True, exist_ok=True)
        made = Path(tempfile.mkdtemp(prefix="wb-", dir=store))
        try:
            _install(names, wheels, made, isolation, where)
            (made / _DONE).touch()
            try:
                os.rename(made, folder)
            except OSError:  # another process was first
                if not (folder / _DONE).exists():
                    raise
        finally:
            remove_tree(made)
    return folder


def _install(names: list[str], wheels: Mapping[str, bytes], made: Path, isolation: Isolation, where: str) -> None:
    (made / "lib").mkdir()
    if not names:
        return
    with tempfile.TemporaryDirectory(prefix="wb-") as given:
        for name in names:
            Path(given, name).write_bytes(wheels[name])
        inside = isolation.place(Path(given), "/wheels")
        done = run(
            [
                *(sys.executable, "-I", "-m", "pip", "--isolated", "--no-input", "--disable-pip-version-check"),
                *("install", "--quiet", "--no-index", "--no-deps", "--no-compile", "--no-cache-dir"),
                *("--target", f"{isolation.place(made, '/ws')}/lib"),
                *(f"{inside}/{name}" for name in names),
            ],
            isolation=isolation,
            workspace=made,
            read_only=[(Path(given), "/wheels")],
            env={"PIP_ROOT_USER_ACTION": "ignore", "PIP_NO_WARN_SCRIPT_LOCATION": "1"},
            timeout_s=300.0,
        )
    if done.launch_failed or done.exit_code != 0:
        said = done.launch_failed or done.stopped or done.stderr.decode(errors="replace").strip()
        raise UsageError(
            f"{where}: environment.wheels",
            one_line(said or "pip gave no reason", 300),
            "wheels that can be installed here",
            "name wheels for this interpreter and machine",
        )
