"""Runs an oracle's pytest files against a tree, and says on an inherited pipe what it saw.

Executed as a file in a sandbox of its own. Standard input holds one JSON object (`nonce`, `tree`, `oracle`,
`target`, `lines`, `environment`, and for a tree that is asked over a socket `offers`, `seconds`, `carry`). What it
writes are lines. `!name` is an event, at once and unsigned, as is `!ran:` with what a patch did (see runtime.py).
All others are signed: a MAC keyed with the nonce, a blank, a JSON list that begins with a running number. The signer
lives in a generator's frame, which can't be reached without an audited step, and it refuses when any code but
pytest's own and this file's stands on the stack.
"""

from __future__ import annotations

import sys

if __name__ == "__main__":
    sys.path[:] = [path for path in sys.path if path.startswith((sys.prefix, sys.base_prefix, sys.exec_prefix, "/usr"))]

import _json
import builtins
import ctypes
import hashlib
import importlib
import importlib.util
import json
import os
import tempfile
from collections.abc import Callable, Generator
from importlib.machinery import PathFinder, SourceFileLoader
from pathlib import Path
from types import CodeType, ModuleType
from typing import Any

import _pytest.assertion.rewrite as rewriting
import pytest
from _pytest.config import default_plugins
from _pytest.outcomes import Skipped

# Plugins that write files, read settings, or cost time and do nothing for a verdict.
PR_SET_DUMPABLE = 4
LEFT_OUT = ("cacheprovider", "junitxml", "pastebin", "faulthandler", "doctest")


def sibling(name: str) -> ModuleType:
    """A module beside this file; the folder itself never gets on the path."""
    spec = importlib.util.spec_from_file_location(f"_driver_{name}", Path(__file__).with_name(f"{name}.py"))
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


guards, equality, audit, runtime, helpers = map(sibling, ("guards", "equality", "audit", "runtime", "helpers"))


def connected(asked: dict[str, Any], channel: int, emit: Callable[[str], object]) -> tuple[list[ModuleType], Any]:
    """Our modules for a tree that lies elsewhere, and pytest's plugin for its programs; imports of it are asked for."""
    codec, bridge, remote, fixture = map(sibling, ("codec", "bridge", "remote", "fixture"))
    line = bridge.Channel(
        codec,
        lambda made: remote.Builder(made, bridge.function),
        channel,
        emit,
        float(asked["seconds"]),
        asked["carry"],
    )
    taken = sys.stdlib_module_names | helpers.own(asked["oracle"]) | helpers.ASKED_FOR
    missing = [name for name in asked["offers"] if name not in taken and not PathFinder.find_spec(name)]
    sys.meta_path.append(bridge.Finder(line, missing))
    vars(equality)["inert"] = remote.RemoteType
    return [codec, bridge, remote, fixture], fixture.Programs(line)


def signer(
    nonce: bytes,
    fd: int,
    trusted: dict[int, CodeType],
    last: CodeType,
    own: list[ModuleType],
    standard: list[str],
    watcher: Watcher,
    tell: Callable[[str | None], str],
) -> Generator[None, tuple[Any, ...], None]:
    """Signs and writes what it is sent: (kind, text…). Locals can't be exchanged from outside.

    Its last words hold the digest of all events: whoever took the pipe's place can't keep any of them back.
    """
    write, quote, mac, getframe = os.write, _json.encode_basestring_ascii, hashlib.blake2b, sys._getframe
    broken, allowed = guards.broken, guards.replacements()
    held = [*guards.seal(standard), *guards.sealed_modules(own)]
    number, checking = 0, broken.__code__
    while True:
        sent = yield
        if number == 0:
            held += guards.sealed_object(watcher)
        frame: Any = getframe(0).f_back
        foreign = sent[0] == "end" and frame.f_code is not last
        while frame is not None and frame.f_code is not last:
            foreign = foreign or id(frame.f_code) not in trusted
            frame = frame.f_back
        if foreign or frame is None or broken.__code__ is not checking:
            tell("forged:call")
            continue
        for name in broken(held, allowed, sent[0] == "end" or sent[1:3] == ("canary", "call")):
            tell(f"patched:{name}")
        if sent[0] == "end":
            sent = (*sent, tell(None))
        body = f"[{number}," + ",".join(quote(str(word)) for word in sent) + "]"
        data = body.encode()
        rest = f"{mac(data, key=nonce, digest_size=16).hexdigest()} ".encode() + data + b"\n"
        while rest:
            rest = rest[write(fd, rest) :]
        number += 1


def teller(fd: int, kind: str = "") -> Generator[str, str | None, None]:
    """Writes each event that it is sent, once, with its kind before it; for None gives the digest of all of them."""
    write, digest = os.write, hashlib.blake2b
    said: set[str] = set()
    lines: list[bytes] = []
    answer = ""
    while True:
        event = yield answer
        answer = ""
        if event is None:
            answer = digest(b"".join(sorted(lines)), digest_size=16).hexdigest()
        elif event not in said and len(said) < 1000:
            said.add(event)
            line = f"!{kind}{event}"[:4000].replace("\n", "?").encode("ascii", "backslashreplace") + b"\n"
            lines.append(line)
            write(fd, line)


class Watcher:
    """The pytest plugin: passes on what was collected and how each phase of each test ended."""

    send: Callable[[tuple[Any, ...]], None]

    def __init__(
        self,
        emit: Callable[[str], object],
        trusted: dict[int, CodeType],
        oracle: str,
        canary: str,
        others: Callable[[bool], list[str]],
    ) -> None:
        self.emit, self.trusted, self.oracle, self.canary, self.others = emit, trusted, oracle, canary, others
        self.complete = True
        self.running: pytest.Item | None = None
        self.written: set[CodeType] = set()
        self.modules: dict[str, tuple[ModuleType, Any]] = {}
        self.parameters: dict[str, bytes | None] = {}
        self.callers: dict[str, tuple[Any, ...]] = {}

    def name(self, item: pytest.Item) -> str:
        return "canary" if str(item.path) == self.canary else item.nodeid

    def pytest_sessionstart(self, session: pytest.Session) -> None:
        """Compile the oracle ourselves, before the tree's code runs: these are the tests that may be run."""
        self.callers.update(guards.callers(session.config.hook))
        for path in [*Path(self.oracle).rglob("*.py"), Path(self.canary)]:
            try:
                _, code = rewriting._rewrite_test(path, session.config)
            except (SyntaxError, ValueError, OSError):
                continue
            self.written.update(guards.codes(code))

    @pytest.hookimpl(trylast=True)
    def pytest_collection_finish(self, session: pytest.Session) -> None:
        for item in session.items:
            module = getattr(item, "module", None)
            if module is not None:
                self.modules[module.__name__] = (module, guards.frozen_values(module))
            self.parameters[item.nodeid] = guards.parameters(item)
            self.send(("collected", self.name(item)))
        self.foreign_modules(self.complete)
        self.send(("collection", len(session.items)))

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        if report.failed:
            self.complete = False
            self.send(("uncollected", report.nodeid, str(report.longrepr)[-600:]))

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_call(self, item: pytest.Item) -> Generator[None, None, None]:
        self.running = item
        try:
            return (yield)
        finally:
            self.running = None

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_makereport(
        self, item: pytest.Item, call: pytest.CallInfo[None]
    ) -> Generator[None, pytest.TestReport, pytest.TestReport]:
        error = call.excinfo
        report = yield
        if error is not None and error.errisinstance(Skipped):
            outcome = "skipped"
        elif hasattr(report, "wasxfail"):
            outcome = "xpassed" if error is None else "xfailed"
        else:
            outcome = "passed" if error is None and report.outcome == "passed" else "failed"
        if self.running is item:  # a subtest, while foreign code runs: it can spoil its test and nothing else
            if outcome != "passed":
                self.emit(f"subtest:{outcome}:{self.name(item)}")
            return report
        self.own(item)
        if call.when == "setup" and self.parameters.get(item.nodeid) != guards.parameters(item):
            self.emit(f"oracle_data:{item.nodeid}")
        if call.when == "teardown":
            self.unchanged(item)
        self.send(("report", self.name(item), call.when, outcome))
        return report

    def foreign_modules(self, collected: bool) -> None:
        for name in self.others(collected):
            self.emit(f"foreign_module:{name}")

    def own(self, item: pytest.Item) -> None:
        """Test, fixtures and hooks are pytest's, ours, or written in the oracle's own files."""

        def known(function: Any) -> bool:
            code = guards.code_of(function)
            return id(code) in self.trusted or code in self.written

        if guards.code_of(getattr(item, "function", None)) not in self.written or guards.overridden(item):
            self.emit(f"foreign_test:{self.name(item)}")
        for name, definition in guards.fixtures(item):
            if not known(definition.func):
                self.emit(f"foreign_fixture:{name}")
        self.foreign_modules(False)
        callers = guards.callers(item.config.hook)
        for name, caller in callers.items():
            if self.callers.get(name, caller)[:2] != caller[:2] or not all(map(known, caller[2:])):
                self.emit(f"foreign_hook:{name}")

    def unchanged(self, item: pytest.Item) -> None:
        module, before = self.modules.get(getattr(getattr(item, "module", None), "__name__", ""), (None, {}))
        if module is not None:
            after = guards.frozen_values(module)
            for name in before.keys() | after.keys():
                old, new = before.get(name), after.get(name)
                if old is None and "." in name and not guards.covers(module, name):
                    continue  # an attribute that a test's own class got meanwhile
                if old != new:
                    kind = (
                        "oracle_data" if old is not None and new is not None and old[0] == new[0] else "oracle_changed"
                    )
                    self.emit(f"{kind}:{module.__name__}.{name}")


def stood_in(
    loader: Any,
    oracle: str,
    stand_in: Callable[[ModuleType], ModuleType],
    loaded: dict[str, tuple[ModuleType, str]],
    genuine: dict[str, ModuleType],
    libraries: tuple[str, ...],
) -> None:
    """Let a loader put the oracle's modules where only pytest and the oracle find them, and note what it loaded."""
    original = loader.exec_module

    def exec_module(self: Any, module: ModuleType) -> None:
        if str(module.__file__).startswith(oracle):
            sys.modules[module.__name__] = stand_in(module)
            loaded[module.__name__] = (sys.modules[module.__name__], str(module.__file__))
        elif module.__name__ in helpers.ASKED_FOR and str(module.__file__).startswith(libraries):
            genuine[module.__name__] = module
        original(self, module)

    loader.exec_module = exec_module


def plant_canary() -> Path:
    """A test that must fail, under a name that nobody can know."""
    word, folder = os.urandom(8).hex(), Path(tempfile.mkdtemp())
    path = folder / f"test_{word}.py"
    number = int.from_bytes(os.urandom(6), "big")
    path.write_text(f"def test_{word}():\n    assert {number} == {number + 1 + os.urandom(1)[0]}\n")
    return path


def main(asked: dict[str, Any], fd: int, channel: int | None) -> None:
    oracle = asked["oracle"].rstrip("/") + "/"
    if asked["environment"]:  # pytest is loaded; what else is installed here is none of the task's business
        sys.path[:] = [path for path in sys.path if not path.endswith(("site-packages", "dist-packages"))]
        sys.path.append(asked["environment"])
    canary = plant_canary()
    getframe, told, ran = sys._getframe, teller(fd), teller(fd, "ran:")
    next(told)
    next(ran)  # apart, so that what a patch does can't crowd out what is held against it
    emit: Callable[[str], object] = told.send

    original = rewriting.rewrite_asserts

    def rewrite_asserts(module: Any, source: bytes, *rest: Any) -> None:
        equality.Rewriter().visit(module)
        original(module, source, *rest)

    vars(rewriting)["rewrite_asserts"] = rewrite_asserts
    vars(equality)["emit"] = emit
    setattr(builtins, equality.NAME, equality.compared)
    more, programs = ([], None) if channel is None else connected(asked, channel, emit)
    own = [sys.modules["__main__"], guards, equality, audit, runtime, helpers, *more]
    sys.modules["__main__"] = ModuleType("__main__")

    for name in default_plugins:
        if name not in LEFT_OUT:
            importlib.import_module(f"_pytest.{name}")
    trusted = guards.trusted_codes(own)
    standard = guards.import_standard(path.read_text(errors="replace") for path in Path(oracle).rglob("*.py"))
    if "unittest" in standard or "unittest.case" in sys.modules:
        equality.guard(importlib.import_module("unittest.case").TestCase)
        standard.append("unittest")
    sys.pycache_prefix = os.devnull + "/none"  # what lies in the tree's caches is never loaded
    ours = {sys.base_prefix + "/", sys.prefix + "/", "/usr/", str(Path(__file__).parent) + "/"}
    libraries = tuple(ours | ({asked["environment"] + "/"} if asked["environment"] else set()))
    loaded: dict[str, tuple[ModuleType, str]] = {}
    genuine = {name: sys.modules[name] for name in helpers.ASKED_FOR if name in sys.modules}
    if channel is None:
        stand_in = audit.stand_ins(emit, oracle, libraries, getframe)
        for loader in (rewriting.AssertionRewritingHook, SourceFileLoader):
            stood_in(loader, oracle, stand_in, loaded, genuine, libraries)
    watcher = Watcher(emit, trusted, oracle, str(canary), helpers.watch(oracle, loaded, genuine))
    line = signer(bytes.fromhex(asked.pop("nonce")), fd, trusted, main.__code__, own, standard, watcher, told.send)
    next(line)
    watcher.send = line.send
    line.send(("start",))
    # A child of the tree's may not read this process: its memory holds the nonce.
    ctypes.CDLL(None).prctl(PR_SET_DUMPABLE, 0, 0, 0, 0)
    if channel is None:
        runtime.watch(asked["tree"], asked["lines"], ran.send, oracle)
    sys.addaudithook(audit.auditor(emit, oracle, libraries, getframe))
    if channel is None:
        sys.path.append(asked["tree"])
    status = pytest.main(
        [
            *(word for name in LEFT_OUT for word in ("-p", f"no:{name}")),
            *("-c", os.devnull, f"--rootdir={oracle}", f"--confcutdir={oracle}", "--import-mode=importlib"),
            *("-o", "addopts=", "--strict-markers", "-s", "-q", "--tb=short", "--color=no"),
            os.path.join(oracle, asked["target"]),
            str(canary),
        ],
        plugins=[watcher] if programs is None else [watcher, programs],
    )
    line.send(("end", int(status)))


if __name__ == "__main__":
    result = int(os.environ.pop("WEIGHBRIDGE_RESULT_FD"))
    os.set_inheritable(result, False)
    socket = os.environ.pop("WEIGHBRIDGE_CHANNEL_FD", None)
    given = json.loads(sys.stdin.buffer.read())
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    try:
        main(given, result, None if socket is None else int(socket))
    finally:
        sys.stdout.flush()
        os._exit(0)  # nothing that was left for the end of the process is run
