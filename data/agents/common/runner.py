"""Runs of visible tests in a forked child, under limits of time and memory, with one JSON line per test."""

from __future__ import annotations

import gc
import importlib
import json
import os
import resource
import select
import signal
import sys
import time
import types
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from common import stand_in
from common.closeness import progress
from common.loader import MemoryFinder, compile_source, module_names, preload
from common.project import Project, Test

Codes = dict[str, types.CodeType | None]

CPU_S, WALL_S, MEMORY_BYTES = 0.2, 3.0, 1 << 30


@dataclass(frozen=True)
class Result:
    """How one test ended.

    `score` is 1.0 for a pass, `places` are the frames (path, line) of the workspace, outer first, and `lines`
    what was run, by path, if it was traced.
    """

    passed: bool
    score: float
    error: str = ""
    message: str = ""
    places: tuple[tuple[str, int], ...] = ()
    lines: Mapping[str, list[int]] = field(default_factory=dict)


class Runner:
    """Runs the visible tests of a project, with the code of some files replaced."""

    def __init__(self, project: Project) -> None:
        self.project = project
        self.tests = project.tests()
        self._names = module_names(project.files)
        self._codes: Codes = {}
        self.accept(project.files)
        code = [code for code in self._codes.values() if code is not None]
        preload((name for item in code for name in _imported(item)), self._names)
        stand_in.install()
        gc.freeze()

    def accept(self, changed: Mapping[str, bytes]) -> None:
        """Make new bytes of files part of every later run."""
        for path, data in changed.items():
            self._codes[path] = compile_source(self.project.root, path, data)

    def compiled(self, changed: Mapping[str, bytes]) -> Codes | None:
        """Return the codes of changed files; None where one of them doesn't compile."""
        codes = {path: compile_source(self.project.root, path, data) for path, data in changed.items()}
        return None if None in codes.values() else codes

    def run(self, order: Iterable[int], changed: Codes, base: list[Result] | None) -> list[Result]:
        """Return the results of the tests with these indices, in that order; fewer where a child was stopped.

        With `base`, a child stops at the first test that passed there and fails now, and before the first one
        that passed there if no failing one came nearer. Without, lines are traced.
        """
        codes = {**self._codes, **changed}
        order = list(order)
        reader, writer = os.pipe()
        child = os.fork()
        if child == 0:
            os.close(reader)
            with suppress(BaseException):
                _prepare(writer)
                for name in self._names:
                    sys.modules.pop(name, None)
                sys.meta_path.insert(0, MemoryFinder(self.project.root, self._names, codes))
                self._run_all(order, writer, base)
            os._exit(0)
        os.close(writer)
        found = _drain(reader, child)
        return [Result(**{**item, "places": tuple(map(tuple, item["places"]))}) for item in found]

    def _run_all(self, order: list[int], writer: int, base: list[Result] | None) -> None:
        gained = base is None
        for index in order:
            if base is not None and base[index].passed and not gained:
                return
            result = self._run_one(self.tests[index], traced=base is None)
            os.write(writer, json.dumps(result).encode() + b"\n")
            if base is not None:
                gained = gained or result["score"] > base[index].score
                if base[index].passed and not result["passed"]:
                    return

    def _run_one(self, test: Test, *, traced: bool) -> dict[str, Any]:
        lines: dict[str, set[int]] = {}
        if traced:
            sys.settrace(_tracer(f"{self.project.root}/", lines))
        try:
            name = next(name for name, path in self._names.items() if path == test.path)
            target: Any = importlib.import_module(name)
            *owner, function = test.name.split(".")
            getattr(getattr(target, owner[0])() if owner else target, function)()
        except stand_in.Skipped:
            pass
        except BaseException as error:
            sys.settrace(None)
            score = progress(self.project.sources[test.path], test, error.__traceback__)
            return _record(False, score, lines, error, f"{self.project.root}/")
        finally:
            sys.settrace(None)
        return _record(True, 1.0, lines, None, "")


def _record(
    passed: bool, score: float, lines: dict[str, set[int]], error: BaseException | None, root: str
) -> dict[str, Any]:
    places: list[tuple[str, int]] = []
    message = ""
    if error is not None:
        trace = error.__traceback__
        while trace is not None:
            path = trace.tb_frame.f_code.co_filename
            if path.startswith(root):
                places.append((path.removeprefix(root), trace.tb_lineno))
            trace = trace.tb_next
        with suppress(Exception):
            message = str(error)[:300]
    return {
        "passed": passed,
        "score": score,
        "error": type(error).__name__ if error is not None else "",
        "message": message,
        "places": places[-12:],
        "lines": {path: sorted(found) for path, found in lines.items()},
    }


def _tracer(root: str, lines: dict[str, set[int]]) -> Callable[..., Any]:
    def on_line(frame: types.FrameType, event: str, arg: object) -> Callable[..., Any]:
        del arg
        if event == "line":
            lines[frame.f_code.co_filename.removeprefix(root)].add(frame.f_lineno)
        return on_line

    def on_call(frame: types.FrameType, event: str, arg: object) -> Callable[..., Any] | None:
        del event, arg
        path = frame.f_code.co_filename
        if not path.startswith(root):
            return None
        lines.setdefault(path.removeprefix(root), set())
        return on_line

    return on_call


def _prepare(writer: int) -> None:
    """Give a child its own process group, no standard streams, and its limits."""
    os.setpgid(0, 0)
    null = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1, 2):
        if stream != writer:
            os.dup2(null, stream)
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    signal.signal(signal.SIGPROF, signal.SIG_DFL)
    signal.setitimer(signal.ITIMER_PROF, CPU_S)
    signal.setitimer(signal.ITIMER_REAL, WALL_S)


def _drain(reader: int, child: int) -> list[dict[str, Any]]:
    """Read a child to its end, kill what it left behind, and return its whole lines."""
    data = b""
    deadline = time.monotonic() + WALL_S + 1
    while time.monotonic() < deadline and select.select([reader], [], [], WALL_S + 1)[0]:
        chunk = os.read(reader, 1 << 16)
        if not chunk:
            break
        data += chunk
    os.close(reader)
    with suppress(OSError):
        os.killpg(child, signal.SIGKILL)
    os.waitpid(child, 0)
    found = []
    for line in data.split(b"\n")[:-1]:
        with suppress(ValueError):
            found.append(json.loads(line))
    return found


def _imported(code: types.CodeType) -> list[str]:
    """Return the names that a module's code, its functions included, may import."""
    nested = [name for item in code.co_consts if isinstance(item, types.CodeType) for name in _imported(item)]
    return [*code.co_names, *nested]
