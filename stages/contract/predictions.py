"""A file of predictions in SWE-bench's form, as an arm replays it: which patch is whose, by item and repeat."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from stages.contract import limits
from stages.contract.arm import Arm
from stages.contract.digest import sha256
from stages.contract.errors import InputError
from stages.contract.protocol import Params
from stages.contract.text import kind, parse_json, read_bytes

ARMS = ("candidate", "control")
WHAT = "a prediction with instance_id and model_patch"


@dataclass(frozen=True)
class Predictions:
    """What a file predicts. `patches`: (item id, repeat) to a diff; the repeat is None where the file numbers none."""

    path: str
    sha256: str
    patches: dict[tuple[str, int | None], bytes]

    @property
    def items(self) -> set[str]:
        return {item for item, _ in self.patches}

    def patch(self, item_id: str, repeat: int) -> bytes | None:
        """The diff of one trial, empty for an unchanged tree, or None where the file predicts nothing."""
        return self.patches.get((item_id, repeat), self.patches.get((item_id, None)))


def digested(root: Path, params: Params, items: Iterable[str]) -> Params:
    """The same parameters, with the digest of each arm's predictions. `items` are the pack's.

    Raises InputError where a file can't be read, isn't the pinned one, names no item of the pack, or doesn't say which
    repeat a patch is of, where there are several.
    """
    budget, known = params.protocol.trial_budget, set(items)
    filled: dict[str, Arm] = {}
    for name in ARMS:
        arm: Arm = getattr(params.arms, name)
        if not arm.replayed:
            continue
        found = read_predictions(root, arm)
        if not found.items & known:
            raise InputError(found.path, "names no item of the pack", "instance_ids that are items of the pack")
        for item, repeat in found.patches:
            if repeat is None and budget > 1:
                raise InputError(
                    f"{found.path}: {item}",
                    f"one patch, and trial_budget is {budget}: it would be its own repeat",
                    "a `repeat` from 0 with each prediction",
                    "or set protocol.trial_budget to 1",
                )
            if repeat is not None and repeat >= budget:
                raise InputError(
                    f"{found.path}: {item}", f"repeat {repeat}", f"0 to {budget - 1}, as protocol.trial_budget says"
                )
        filled[name] = arm.model_copy(update={"patches_sha256": found.sha256})
    return params.model_copy(update={"arms": params.arms.model_copy(update=filled)}) if filled else params


def read_predictions(root: Path, arm: Arm) -> Predictions:
    """The file of an arm of kind patches. Raises MissingInput or InputError, also where it isn't the digested one."""
    assert arm.patches is not None
    path = root / arm.patches
    if not path.resolve().is_relative_to(root.resolve()):
        raise InputError(arm.patches, "leads out of the study's folder", "a file inside it", "copy it there")
    data = read_bytes(path, limits.MAX_JSON_BYTES, "a file of predictions")
    held = sha256(data)
    if arm.patches_sha256 not in (None, held):
        raise InputError(
            arm.patches,
            f"sha256 {held[:16]}",
            f"{str(arm.patches_sha256)[:16]}, as it was fixed",
            "restore the file; another one is another study: freeze again, with a new version of the arm",
        )
    patches: dict[tuple[str, int | None], bytes] = {}
    models: set[str] = set()
    numbered: dict[str, bool] = {}
    for where, row in _rows(arm.patches, data):
        key, patch = _prediction(where, row)
        item, repeat = key
        if key in patches:
            raise InputError(where, f"{item} stands twice", "one prediction of each item, or of each of its repeats")
        if numbered.setdefault(item, repeat is not None) != (repeat is not None):
            raise InputError(where, f"{item} with and without a repeat", "all of its repeats numbered")
        patches[key] = patch
        model = row.get("model_name_or_path")
        models |= {model} if isinstance(model, str) else set()
        if len(models) > 1:
            raise InputError(where, f"predictions of {' and '.join(sorted(models))}", "one model", "split the file")
    if not patches:
        raise InputError(arm.patches, "holds no prediction", WHAT)
    return Predictions(arm.patches, held, patches)


_MOST = limits.MAX_TRIAL_BUDGET


def _rows(path: str, data: bytes) -> Iterator[tuple[str, dict[str, Any]]]:
    """(where, object) of each prediction."""
    if path.endswith(".jsonl"):
        for number, line in enumerate(data.split(b"\n"), 1):
            if line.strip():
                yield _object(f"{path}: line {number}", parse_json(f"{path}: line {number}", line))
        return
    if not path.endswith(".json"):
        raise InputError(path, "ends in neither .json nor .jsonl", "predictions as a JSON document, or as JSON lines")
    value = parse_json(path, data)
    if isinstance(value, list):
        for number, row in enumerate(value):
            yield _object(f"{path}: [{number}]", row)
    elif isinstance(value, dict):
        for item, row in value.items():
            where, made = _object(f"{path}: {item}", row)
            if made.setdefault("instance_id", item) != item:
                raise InputError(where, "stands under another instance_id than its own", "one id")
            yield where, made
    else:
        raise InputError(path, f"holds {kind(value)} at the top", "a list, or a mapping of instance_id to prediction")


def _object(where: str, value: Any) -> tuple[str, dict[str, Any]]:
    if not isinstance(value, dict):
        raise InputError(where, kind(value), WHAT)
    return where, value


def _prediction(where: str, row: dict[str, Any]) -> tuple[tuple[str, int | None], bytes]:
    item, repeat = row.get("instance_id"), row.get("repeat")
    if not isinstance(item, str) or not item or "model_patch" not in row:
        raise InputError(where, "has no instance_id or no model_patch", WHAT)
    if repeat is not None and (type(repeat) is not int or not 0 <= repeat < _MOST):
        raise InputError(f"{where}: repeat", f"found {repeat!r}"[:100], f"a whole number from 0 to {_MOST - 1}")
    patch = row["model_patch"]
    if patch is not None and not isinstance(patch, str):
        raise InputError(f"{where}: model_patch", f"found {kind(patch)}", "a diff as text, or null where there is none")
    return (item, repeat), (patch or "").encode()
