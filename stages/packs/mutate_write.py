"""A mutated pack as a folder of its own, which freeze reads like any other."""

from __future__ import annotations

import contextlib
import os
import shutil
import tempfile
from pathlib import Path
from typing import Any

from stages.contract.errors import InputError, UsageError
from stages.contract.trees import EXECUTABLE, LINK, Entry
from stages.contract.types import plain
from stages.contract.yamlfile import written
from stages.packs.mutate import Mutation, changed, mutate_pack
from stages.packs.mutate_survey import WHY
from stages.packs.read import FrozenItem, FrozenPack, read_pack


def write_mutated(source: Path, seed: int | None, out: Path | None) -> dict[str, Any]:
    """Mutate the pack in `source` into the new folder `out`; returns what was done, for people and programs.

    Raises UsageError for a seed or folder that can't be used, InputError for a pack that can't be mutated or that
    would stay as it is. Nothing is written then.
    """
    if seed is None or not 0 <= seed < 2**53:
        found = "missing" if seed is None else str(seed)
        raise UsageError("--seed", found, "a whole number from 0 to 2**53 - 1", "e.g. --seed 7")
    if out is None:
        raise UsageError("--out", "missing", "a folder that isn't there yet", f"e.g. --out {source.name}-{seed}")
    if os.path.lexists(out):
        raise UsageError(f"--out {out}", "is there already", "a new folder", "name another one, or delete it")
    if out.resolve().is_relative_to(source.resolve()):
        raise UsageError(f"--out {out}", "lies in the pack that is mutated", "a folder beside it", "name another one")
    made, done = mutate_pack(read_pack(source), seed)
    changed(done, seed)
    _write(made, source, out)
    return {
        "schema": "weighbridge.mutation/1",
        "seed": seed,
        "pack_id": made.pack.id,
        "revision": made.pack.revision,
        "ancestor_revision": made.pack.mutated.rev if made.pack.mutated else None,
        "out": str(out),
        "why": WHY,
        "tasks": [_shown(each, item) for each, item in zip(done, made.items, strict=True)],
    }


def lines(found: dict[str, Any]) -> list[str]:
    """What was done, a line per task, then what never changes."""
    shown: list[str] = []
    for task in found["tasks"]:
        if task["budget"] == 0:
            shown.append(f"{task['item_id']}: as it was (no mutation budget)")
            continue
        kept = [f"{len(names)} {why}" for why, names in sorted(task["kept"].items())]
        shown.append(f"{task['item_id']}: {len(task['renamed'])} renamed; kept: {', '.join(kept) or 'none'}")
    foreign = sum(len(task["not_python"]) for task in found["tasks"])
    shown.append(f"files that aren't Python are never changed (here {foreign}); names that stand in them stay")
    renamed = sum(len(task["renamed"]) for task in found["tasks"])
    shown.append(f"{found['out']}: {found['pack_id']} {found['revision']}, {renamed} identifiers renamed")
    return shown


def _shown(done: Mutation, item: FrozenItem) -> dict[str, Any]:
    kept: dict[str, list[str]] = {}
    for name, why in sorted(done.kept.items()):
        kept.setdefault(why, []).append(name)
    return {
        "item_id": done.item_id,
        "rev": item.task.rev,
        "budget": "all" if done.budget is None else done.budget,
        "renamed": done.renamed,
        "kept": kept,
        "not_python": done.foreign,
    }


def _write(pack: FrozenPack, source: Path, out: Path) -> None:
    """Write beside the folder, read it back, and only then give it its name. Raises InputError."""
    folder: Path | None = None
    missing = [each for each in out.parents if not os.path.lexists(each)]
    try:
        out.parent.mkdir(parents=True, exist_ok=True)
        folder = Path(tempfile.mkdtemp(prefix=f".{out.name[:40]}.", dir=out.parent))
        folder.chmod(0o755)
        (folder / "pack.yaml").write_bytes(written(_said(plain(pack.pack))))
        for name in ("README.md", "LICENSE"):
            if (source / name).is_file() and not (source / name).is_symlink():
                shutil.copyfile(source / name, folder / name)
        for item in pack.items:
            _write_task(item, folder / "tasks" / item.task.id)
            for wheel in item.wheels:
                _write_file(folder / "wheels", wheel)
        if read_pack(folder) != pack:
            raise InputError(source, "can't be written so that it reads the same", "a pack of plain files")
        os.rename(folder, out)
    except OSError as error:
        raise InputError(out, f"can't be written ({error.strerror})", "a place for a pack", "make room") from None
    finally:
        if folder is not None and folder.exists():
            shutil.rmtree(folder)
        if not out.exists():
            for each in missing:  # the innermost first
                with contextlib.suppress(OSError):
                    each.rmdir()


def _write_task(item: FrozenItem, folder: Path) -> None:
    task = item.task
    _write_file(folder, Entry("task.yaml", "100644", written(_said(plain(task)))))
    _write_file(folder, Entry(task.statement, "100644", item.statement))
    git = task.source.git is not None  # a task that stayed as it was still stands on its tag
    trees = {} if git else {task.source.path or "workspace": item.tree}
    trees |= {task.oracle.path: item.oracle, "solution": item.solution}
    trees |= {f"wrong/{name}": files for name, files in item.wrong.items()}
    for name, entries in trees.items():
        for entry in entries:
            _write_file(folder / name, entry)
        if name.startswith("wrong/"):
            (folder / name).mkdir(parents=True, exist_ok=True)


def _said(value: dict[str, Any]) -> dict[str, Any]:
    """A dump without what isn't said."""
    return {key: each for key, each in value.items() if each is not None}


def _write_file(folder: Path, entry: Entry) -> None:
    path = folder / entry.path
    path.parent.mkdir(parents=True, exist_ok=True)
    if entry.mode == LINK:
        path.symlink_to(os.fsdecode(entry.content))
        return
    path.write_bytes(entry.content)
    path.chmod(0o755 if entry.mode == EXECUTABLE else 0o644)
