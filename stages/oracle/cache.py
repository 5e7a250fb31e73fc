"""Compiled pytest and standard library, made by a run of ours, so that verdicts don't compile them anew.

Sandboxes see the folder read-only. It holds nothing of a tree, since no tree's code is run when it is made.
"""

from __future__ import annotations

import atexit
import os
import subprocess
import sys
import tempfile
import threading
from pathlib import Path

from stages.sandbox import remove_tree

INSIDE = "/compiled"

_lock = threading.Lock()
_made: dict[int, Path] = {}


def compiled() -> Path:
    """The folder, made at first use and removed when this process ends."""
    with _lock:
        if os.getpid() not in _made:
            folder = Path(tempfile.mkdtemp(prefix="wb-"))
            _made[os.getpid()] = folder
            atexit.register(_remove, os.getpid(), folder)
            _fill(folder)
        return _made[os.getpid()]


def _fill(folder: Path) -> None:
    """Let a throwaway test be run by the same interpreter with this folder as its cache."""
    test = folder / "test_nothing.py"
    test.write_text("def test_passes():\n    pass\n\n\ndef test_fails():\n    assert [1] == [2]\n")
    subprocess.run(
        [
            *(
                sys.executable,
                "-I",
                "-X",
                f"pycache_prefix={folder}",
                "-m",
                "pytest",
                "-p",
                "no:cacheprovider",
                "-q",
            ),
            *("-c", os.devnull, f"--rootdir={folder}", str(test)),
        ],
        cwd=folder,
        env={"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", "PATH": os.defpath},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        check=False,
    )
    test.unlink()


def _remove(owner: int, folder: Path) -> None:
    if os.getpid() == owner:
        remove_tree(folder)
