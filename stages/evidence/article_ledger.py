"""The object of the assumption-ledger article for one patch: its field names, and ours under `extended`.

The article's scorer takes the produced Python file; a unified diff is taken as well. Where it differs from the article:
dotted entries of the allow list mean a module and what lies below it; `os.getenv` and other spellings are environment
reads too; rates are None where no line was generated; writes outside of the list count, as its text says, but for a
lone Python file, of which nobody knows where it was written.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

from stages.assumptions import Allow, Interface, Ledger, article_object, examine, matches
from stages.contract import limits
from stages.contract.digest import sha256
from stages.contract.errors import InputError
from stages.contract.task import check_signature
from stages.contract.text import kind, read_bytes, read_json
from stages.contract.trees import FILE, Change
from stages.contract.types import check_glob
from stages.contract.yamlfile import read_yaml
from stages.ingest.diffs import FileDiff, Hunk
from stages.ingest.patch_ledger import PatchLedger, patch_ledger

_PYTHON = (".py", ".pyi", ".pyw")
_NO_ORACLE = "the oracle wasn't run here"
_NO_PLACE = "a lone file doesn't say where it was written"
_LONGEST = 1000


def ledger_object(task_path: Path, patch_path: Path, oracle_pass: bool | None = None) -> dict[str, Any]:
    """The article's object. `oracle_pass` is what the caller knows of the oracle; unknown is null.

    The task: YAML or JSON with `id`, `rev`, `prompt_sha256`, `allow` {imports, env, files_write?, stdlib?} and
    `interface`?; its other keys are passed over, since articles' tasks and ours differ there. Raises InputError.
    """
    task = read_json(task_path) if task_path.suffix == ".json" else read_yaml(task_path)
    name, rev = (_text(task_path, key, task.get(key)) for key in ("id", "rev"))
    prompt = None if task.get("prompt_sha256") is None else _text(task_path, "prompt_sha256", task["prompt_sha256"])
    allow, interface = _allow(task_path, task.get("allow")), _interface(task_path, task.get("interface"))
    data = read_bytes(patch_path, limits.PATCH_BYTES, "a unified diff or a Python file")
    lone = patch_path.suffix in _PYTHON
    if lone:
        place = _place(patch_path, allow, interface)
        found = patch_ledger([_written(place, data)], replace(allow, files_write=("**",)))
        ledger = _with_drift(found.ledger, place, data, interface)
    else:
        found = patch_ledger(data, allow, patch_path)
        ledger = found.ledger
    said = article_object(name, rev, "", sha256(data), bool(oracle_pass), ledger)
    said["prompt_sha256"] = prompt
    if oracle_pass is None:
        said["oracle_pass"] = None
    said["extended"] |= _more(found, oracle_pass, lone)
    return said


def _more(found: PatchLedger, oracle_pass: bool | None, lone: bool) -> dict[str, Any]:
    more: dict[str, Any] = {
        "unread_lines": found.unread_lines,
        "machinery_only": found.machinery_only,
        "weakened_assertions": found.weakened_assertions,
    }
    if oracle_pass is None:
        more["oracle_pass_why"] = _NO_ORACLE
    if lone:
        more |= {"unauthorised_files": None, "unauthorised_files_why": _NO_PLACE}
    return more


def _written(path: str, data: bytes) -> FileDiff:
    """A whole file as the diff that adds it."""
    lines = data.split(b"\n")
    bare = lines[-1] != b""
    hunk = Hunk(0, 1, [("+", line) for line in (lines if bare else lines[:-1])], "+" * bare)
    return FileDiff(None, path, "add", mode_after=FILE, binary=b"\0" in data[:8000], hunks=[hunk])


def _place(path: Path, allow: Allow, interface: Interface | None) -> str:
    """Where a lone file belongs: the longest end of its path that the task lets be written, or its module's place."""
    parts = [part for part in path.parts if part not in ("/", "..", ".")]
    ends = ["/".join(parts[i:]) for i in range(len(parts))]
    module = interface.module.replace(".", "/") + ".py" if interface is not None and interface.module else path.name
    return next((end for end in ends if matches(allow.files_write, end)), module)


def _with_drift(ledger: Ledger, path: str, data: bytes, interface: Interface | None) -> Ledger:
    """The ledger with the drift of the pinned definition, where the file is the module that has it."""
    if interface is None or path != f"{(interface.module or '').replace('.', '/')}.py":
        return ledger
    change = Change(path, "add", None, FILE, None, None, data)
    seen = examine((), [change], Allow((), True, (), ("**",)), interface)
    drift = [finding for finding in seen.findings if finding.counted == "drift"]
    both = sorted({*ledger.findings, *drift}, key=lambda f: f.key)
    return Ledger(tuple(both), ledger.generated_lines, seen.interface_checked)


def _allow(path: Path, value: Any) -> Allow:
    if not isinstance(value, dict):
        raise InputError(f"{path}: allow", kind(value), "a mapping with imports and env")
    lists = {key: _texts(f"{path}: allow.{key}", value.get(key)) for key in ("imports", "env")}
    writes = _texts(f"{path}: allow.files_write", value.get("files_write", ["**"]))
    _checked(f"{path}: allow.files_write", check_glob, *writes)
    stdlib = value.get("stdlib", False)
    if not isinstance(stdlib, bool):
        raise InputError(f"{path}: allow.stdlib", kind(stdlib), "true or false")
    return Allow(lists["imports"], stdlib, lists["env"], writes)


def _interface(path: Path, value: Any) -> Interface | None:
    if value is None:
        return None
    if not isinstance(value, dict):
        raise InputError(f"{path}: interface", kind(value), "a mapping with module, function and signature")
    parts = [_text(path, f"interface.{key}", value.get(key)) for key in ("module", "function", "signature")]
    if not all(name.isidentifier() for part in parts[:2] for name in part.split(".")):
        raise InputError(f"{path}: interface", f"{parts[0]}, {parts[1]}", "dotted names of a module and a function")
    _checked(f"{path}: interface.signature", check_signature, parts[2])
    return Interface(*parts)


def _checked(where: str, check: Callable[[str], str], *values: str) -> None:
    for value in values:
        try:
            check(value)
        except ValueError as error:
            raise InputError(where, f"found {value!r}", str(error)) from None


def _text(path: Path, key: str, value: Any) -> str:
    if not isinstance(value, str) or not value.strip() or not value.isprintable() or len(value) > _LONGEST:
        shown = kind(value) if value is None or isinstance(value, dict | list) else repr(value)
        raise InputError(f"{path}: {key}", f"found {shown}", f"one line of 1 to {_LONGEST} characters", "quote it")
    return value


def _texts(where: str, value: Any) -> tuple[str, ...]:
    if not isinstance(value, list) or not all(isinstance(one, str) and one and one.isprintable() for one in value):
        raise InputError(where, kind(value), "a list of names")
    return tuple(value)
