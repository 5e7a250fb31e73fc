"""Copies of what a study is frozen and run from: tasks, runners, exclusion events."""

from __future__ import annotations

import os
import shutil
from collections.abc import Collection
from pathlib import Path

from stages.arms.installed import install_folders
from stages.contract import layout
from stages.contract.errors import InputError
from stages.contract.files import replace_bytes
from stages.contract.protocol import Params
from stages.contract.types import plain
from stages.contract.yamlfile import written
from stages.gate import read_events
from stages.gate.events import HEADER
from stages.packs import FrozenItem, FrozenPack
from stages.sandbox import remove_tree


def copy_study(root: Path, params: Params, pack: FrozenPack, items: Collection[str], target: Path) -> None:
    """Put these items of the pack, the runners of `params` and the events below `target`; all of it, or nothing.

    Raises InputError where something can't be copied.
    """
    made = target.with_name(f".{target.name}.tmp")
    try:
        if made.exists():
            remove_tree(made)
        made.mkdir(parents=True)
        _copy_runners(root, params, made)
        _copy_pack(root / params.pack.path, [i for i in pack.items if i.task.id in items], made / params.pack.path)
        lines = [line for line, event in read_events(root) if event.item_id in items]
        replace_bytes(made / layout.EVENTS, "".join(f"{line}\n" for line in [HEADER, *lines]).encode())
        os.replace(made, target)
    except OSError as error:
        why = error.strerror or error
        raise InputError(target, f"can't be made ({why})", "a place for copies of pack and runners") from None


def _copy_runners(root: Path, params: Params, made: Path) -> None:
    """Links stay links; an install path that is one itself is followed, as it is for the arms."""
    wanted: dict[str, Path] = {}
    for name, arm in (("candidate", params.arms.candidate), ("control", params.arms.control)):
        found = install_folders(root, arm, f"arms.{name}")
        wanted |= dict(zip(arm.install_paths, (path for path, _ in found), strict=True))
    for name, path in sorted(wanted.items()):  # a folder before what lies in it
        target = made / name
        if os.path.lexists(target):
            continue
        target.parent.mkdir(parents=True, exist_ok=True)
        if path.is_file():
            shutil.copy2(path, target)
        else:
            shutil.copytree(path, target, symlinks=True, ignore=shutil.ignore_patterns("__pycache__"))


def _copy_pack(source: Path, items: list[FrozenItem], made: Path) -> None:
    """Task folders as they lie, but for git sources by a relative address, which counts from the task's folder."""
    made.mkdir(parents=True)
    shutil.copy2(source / "pack.yaml", made / "pack.yaml")
    for item in items:
        folder, target = source / "tasks" / item.task.id, made / "tasks" / item.task.id
        shutil.copytree(folder, target, symlinks=True)
        address = item.task.source.git
        if address and not Path(address).is_absolute() and (folder / address).exists():
            found = item.task.source.model_copy(update={"git": str((folder / address).resolve())})
            task = item.task.model_copy(update={"source": found})
            replace_bytes(target / "task.yaml", written(plain(task)))
