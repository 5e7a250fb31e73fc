"""Files of predictions for the mini study, and a mini study whose arms replay them."""

from __future__ import annotations

import base64
import json
import zlib
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import yaml

from stages.contract.trees import FILE, Entry
from tests.support.mini import make_study, params, write

THEIRS, OURS = "predictions/theirs.jsonl", "predictions/ours.json"


def diff(item: str, body: str = "a + b") -> str:
    """A diff as git writes it, by which `add` of an item of the mini study returns something else."""
    name = "m_" + item.replace("-", "_") + ".py"
    return (
        f"diff --git a/{name} b/{name}\n--- a/{name}\n+++ b/{name}\n@@ -1,2 +1,2 @@\n"
        f" def add(a: int, b: int) -> int:\n-    return a - b\n+    return {body}\n"
    )


def new_file(path: str, text: str, mode: str = "100644") -> str:
    """A diff that adds a file of one line, which has no line end where it is a link."""
    bare = "\\ No newline at end of file\n" if mode == "120000" else ""
    return f"diff --git a/{path} b/{path}\nnew file mode {mode}\n--- /dev/null\n+++ b/{path}\n@@ -0,0 +1 @@\n+{text}\n{bare}"


def binary(path: str, content: bytes) -> str:
    """A diff that adds a binary file, packed as git packs it."""
    packed = zlib.compress(content, 9)
    lines = []
    for start in range(0, len(packed), 52):
        part = packed[start : start + 52]
        length = chr(ord("A") + len(part) - 1) if len(part) <= 26 else chr(ord("a") + len(part) - 27)
        lines.append(length + base64.b85encode(part, pad=True).decode() + "\n")
    blob = Entry(path, FILE, content).git_blob
    head = f"diff --git a/{path} b/{path}\nnew file mode 100644\nindex {'0' * 40}..{blob}\nGIT binary patch\n"
    return f"{head}literal {len(content)}\n{''.join(lines)}\nliteral 0\nHcmV?d00001\n\n"


def rows(patches: Iterable[tuple[Any, ...]]) -> list[dict[str, Any]]:
    """Predictions of (item, patch) or (item, repeat, patch)."""
    return [
        {"instance_id": one[0], "model_patch": one[-1], **({"repeat": one[1]} if len(one) == 3 else {})}
        for one in patches
    ]


def jsonl(found: Iterable[dict[str, Any]]) -> str:
    return "".join(json.dumps(row) + "\n" for row in found)


def arm(name: str, path: str) -> dict[str, str]:
    return {"name": name, "version": "2026-01", "kind": "patches", "patches": path}


def make_replay(
    root: Path, candidate: str, control: str | None, items: int = 4, placebos: int = 2, **protocol: Any
) -> Path:
    """A study whose candidate replays JSON lines, and its control a JSON document; None: an agent that runs."""
    made = params(protocol={"trial_budget": 1, **protocol}, oracle={"boundary": "inprocess", "recheck": 0})
    make_study(root, items=items, placebos=placebos)
    made["arms"]["candidate"] = arm("theirs", THEIRS)
    write(root / THEIRS, candidate)
    if control is not None:
        made["arms"] |= {"control": arm("ours", OURS), "order": "sequential"}
        write(root / OURS, control)
    write(root / "params.yaml", yaml.safe_dump(made, sort_keys=False))
    return root
