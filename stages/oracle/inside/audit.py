"""An audit hook (PEP 578) that notes when code reaches for what isn't its own."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

_REACHING = {
    "gc.get_objects": "gc",
    "gc.get_referrers": "gc",
    "gc.get_referents": "gc",
    "sys._current_frames": "frames",
    "sys._current_exceptions": "frames",
    "sys.settrace": "trace",
    "sys.setprofile": "trace",
    "sys.addaudithook": "audit",
    "code.__new__": "code",
    # A child has no audit hook: it could read the oracle, or this process. Solutions whose reference starts one may.
    "subprocess.Popen": "child_process",
    "os.system": "child_process",
    "os.exec": "child_process",
    "os.posix_spawn": "child_process",
    "os.fork": "child_process",
    "os.forkpty": "child_process",
    "pty.spawn": "child_process",
}  # fmt: skip
_FRAMES = frozenset({"tb_frame", "gi_frame", "cr_frame", "ag_frame"})
_FUNCTION = frozenset({"__code__", "__defaults__", "__kwdefaults__"})
_PASSED_THROUGH = ("/inspect.py", "/traceback.py", "/ctypes/__init__.py")
_PROC = ("/mem", "/fd", "/maps", "/environ", "/cmdline", "/task")


def auditor(
    emit: Callable[[str], None],
    oracle: str,
    libraries: tuple[str, ...],
    getframe: Callable[[int], Any],
) -> Callable[[str, tuple[Any, ...]], None]:
    """An audit hook that notes when a tree's code reaches for frames, the collector or the oracle.

    A reach counts for the code that does it: through `inspect` it is the caller's, through a logger it isn't.
    """
    busy = [False]

    def origin(direct: bool) -> bool:
        """Whether the nearest frame outside the libraries (with `direct`: the nearest) is none of ours."""
        frame = getframe(2)
        while frame is not None:
            name = frame.f_code.co_filename
            if direct and name.endswith(_PASSED_THROUGH):
                frame = frame.f_back
                continue
            if not name.startswith(libraries) and not name.startswith("<frozen "):
                return not name.startswith(oracle)
            if direct:
                return False
            frame = frame.f_back
        return False

    def hook(event: str, args: tuple[Any, ...]) -> None:
        kind, direct = _REACHING.get(event), event == "code.__new__"
        if kind is None:
            if event == "sys._getframe":
                kind, direct = "frames", True
            elif event == "object.__getattr__":
                if args[1] not in _FRAMES:
                    return
                kind, direct = "frames", True
            elif event == "object.__setattr__":
                if args[1] not in _FUNCTION:
                    return
                kind, direct = "code", True
            elif event in ("open", "os.listdir", "os.scandir"):
                kind = wanted(args[0])
                if kind is None:
                    return
            elif event.startswith("ctypes."):
                kind, direct = "ctypes", True
            else:
                return
        if busy[0]:
            return
        busy[0] = True
        try:
            if origin(direct):
                emit(f"{kind}:{event}")
        finally:
            busy[0] = False

    def wanted(path: Any) -> str | None:
        if isinstance(path, bytes):
            path = os.fsdecode(path)
        if not isinstance(path, str):
            return None
        path = os.path.abspath(path)
        if path == oracle.rstrip("/") or path.startswith(oracle):
            return "oracle"
        if path.startswith("/proc/") and any(part in path for part in _PROC):
            return "process"
        return None

    return hook
