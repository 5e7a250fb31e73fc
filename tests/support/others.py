"""What another user of this machine can reach."""

from __future__ import annotations

import stat
from pathlib import Path


def others_may_read(path: Path) -> bool:
    """Whether an ordinary user can get to a folder: every folder on the way lets others pass."""
    return all(folder.stat().st_mode & stat.S_IXOTH for folder in [path.resolve(), *path.resolve().parents])
