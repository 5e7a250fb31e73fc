"""Notes what a patch really does while it runs: imports, reads of the environment, programs, sockets, files written.

Each deed belongs to the nearest frame that stands on a line of the patch. It is `direct` where nothing but the
usual face of the deed lies between (`os.getenv`, `importlib.import_module`, `subprocess.run`), and else `via`
the library, or the unpatched file of the tree, that the line called. What the oracle itself does is nobody's.

Self-contained, so that it can be run by its path in a sandbox. What it tells is unsigned: code in the same process
can forge it or keep it back, and no verdict hangs on it. A module that is loaded already isn't seen again.
"""

from __future__ import annotations

import os
import sys
from _json import encode_basestring_ascii as quote
from _thread import get_ident
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from types import FrameType
from typing import Any

MOST = 400  # records told
OFTEN = 1000  # times that the same is looked into, by whomever it is done: a loop isn't slowed for longer
LONGEST = 400  # characters of a word: longer symbols are cut, other records left out
MOST_BYTES = 3900  # of a record, since a line is bounded
DEEPEST = 400  # frames looked at

_LOADING = "importlib importlib.util importlib._bootstrap importlib._bootstrap_external _frozen_importlib pkgutil runpy"
_IMPORTLIB = frozenset(_LOADING.split())
_NET = """
    socket ssl http.client http.server urllib.request ftplib smtplib poplib imaplib socketserver xmlrpc.client
    xmlrpc.server multiprocessing.connection
"""
_FACES = {
    "import": frozenset(("_pytest.outcomes",)),
    "shell": frozenset(("subprocess", "os", "pty")),
    "socket": frozenset(_NET.split()),
    "file_write": frozenset(("io", "os", "pathlib", "pathlib._local", "codecs", "shutil", "tempfile")),
    "env_escape": frozenset(("_collections_abc", "collections.abc")),
}
_READERS = {"os": {"getenv", "getenvb", "setdefault", "copy", "__or__", "__ror__"}, "posixpath": {"expandvars"}}
_SOCKETS = frozenset((
    "socket.__new__", "socket.connect", "socket.bind", "socket.sendto", "socket.getaddrinfo", "socket.gethostbyname",
    "socket.gethostbyaddr", "urllib.Request", "http.client.connect", "ftplib.connect", "smtplib.connect",
    "poplib.connect", "imaplib.open",
))  # fmt: skip
_PROGRAM = {"os.system": 0, "os.exec": 0, "os.posix_spawn": 0, "os.spawn": 1, "pty.spawn": 0, "subprocess.Popen": 1}
_WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND
_HERE = str(Path(__file__).parent) + "/"


def watch(
    tree: str, lines: Mapping[str, Sequence[Sequence[int]]], emit: Callable[[str], object], oracle: str | None = None
) -> None:
    """From now on, `emit` is told once of each deed of the lines (path below `tree` to [first, last] of each run):
    a JSON list of path, line, kind, symbol and how. Frames of files below `oracle` end the search for the doer.
    """
    if not lines:
        return
    tree = tree.rstrip("/") + "/"
    watched = {tree + path: [(first, last) for first, last in runs] for path, runs in lines.items()}
    end = oracle.rstrip("/") + "/" if oracle else None
    told: set[tuple[str, int, str, str, str]] = set()
    looked: dict[tuple[str, str], int] = {}
    busy: set[int] = set()
    getframe: Callable[[int], FrameType] = sys._getframe

    def note(kind: str, symbol: str) -> None:
        me, times = get_ident(), looked.get((kind, symbol), 0)
        if me in busy or times >= OFTEN or len(told) >= MOST:
            return
        if len(looked) > 10 * OFTEN:
            looked.clear()
        looked[kind, symbol] = times + 1
        busy.add(me)
        try:
            found = doer(kind, getframe(1))
            if found is None:
                return
            path, line, between, how = found
            if kind == "import" and between:
                symbol = symbol.partition(".")[0]
                if symbol == between or {symbol, between} <= sys.stdlib_module_names:
                    return  # how a library is made is its own affair
            record = (plain(path), line, kind, plain(symbol)[:LONGEST], plain(how))
            words = [quote(word) for word in (record[0], *record[2:])]
            if record in told or not all(map(fits, (record[0], *record[2:]))) or sum(map(len, words)) > MOST_BYTES:
                return
            told.add(record)
            emit(f"[{words[0]},{line},{','.join(words[1:])}]")
        except (ValueError, TypeError, AttributeError, RecursionError):
            return  # another thread is telling, or a frame isn't what frames are
        finally:
            busy.discard(me)

    def doer(kind: str, frame: FrameType | None) -> tuple[str, int, str, str] | None:
        """(path, line, the library between, how) of the nearest line of the patch."""
        between, how = "", "direct"
        for _ in range(DEEPEST):
            if frame is None:
                return None
            name = frame.f_code.co_filename
            if name.startswith(tree):
                line = frame.f_lineno or 0
                if any(first <= line <= last for first, last in watched.get(name, ())):
                    return name[len(tree) :], line, between, how
                between, how = "", f"via {name[len(tree) :]} of the tree"
            elif end is not None and name.startswith(end):
                return None
            elif not name.startswith(_HERE):
                module = dict.get(frame.f_globals, "__name__")
                written = name.startswith("<") and not name.startswith("<frozen ")  # by exec, which is its caller's
                if type(module) is str and not written and not face(kind, module, frame.f_code.co_name):
                    between = module.partition(".")[0]
                    how = f"via library {between}"
            frame = frame.f_back
        return None

    def hook(event: str, args: tuple[Any, ...]) -> None:
        if event == "open":
            path, _, flags = args
            if type(flags) is int and flags & _WRITING and type(path) in (str, bytes):
                place = os.path.abspath(os.fsdecode(path))
                if not place.startswith((tree, "/dev/", "/proc/")):
                    note("file_write", "/" + place.split("/")[1])
        elif event in _PROGRAM:
            note("shell", program(args[_PROGRAM[event]], args) or event)
        elif event in _SOCKETS:
            note("socket", "socket.socket" if event == "socket.__new__" else event)

    class Finder:
        """Asked first where a module is, and never knows."""

        @staticmethod
        def find_spec(name: str, path: object = None, target: object = None) -> None:  # noqa: ARG004
            if type(name) is str:
                note("import", name)

    sys.meta_path.insert(0, Finder)
    for environ in (os.environ, getattr(os, "environb", None)):
        if environ is not None:
            _watch_environment(environ, note)
    sys.addaudithook(hook)


def _watch_environment(environ: Any, note: Callable[[str, str], None]) -> None:
    """Keep the object, as others hold it, and give it a class that notes keys that are read by name.

    A key that the mapping itself gave out, as in `dict(os.environ)`, isn't one.
    """
    given: dict[int, Any] = {}

    class _Environ(type(environ)):  # type: ignore[misc]
        def __getitem__(self, key: Any) -> Any:
            if type(key) in (str, bytes) and given.get(id(key)) is not key:
                note("environment", os.fsdecode(key))
            return super().__getitem__(key)

        def __iter__(self) -> Iterator[Any]:
            note("env_escape", "os.environ")
            if len(given) > 10_000:
                given.clear()
            for key in super().__iter__():
                given[id(key)] = key
                yield key

    _Environ.__module__, _Environ.__qualname__ = type(environ).__module__, type(environ).__qualname__
    environ.__class__ = _Environ


def plain(text: str) -> str:
    return text.encode("utf-8", "backslashreplace").decode()


def fits(text: str) -> bool:
    return 0 < len(text) <= LONGEST


def face(kind: str, module: str, function: str) -> bool:
    """Whether a function of the standard library is no more than how one does such a thing."""
    if module in _IMPORTLIB:
        return True
    if kind == "environment":
        return module in ("_collections_abc", "collections.abc") or function in _READERS.get(module, ())
    if kind == "env_escape" and module == "os":
        return function in _READERS["os"]
    return module in _FACES[kind]


def program(what: Any, args: tuple[Any, ...]) -> str:
    """The first word of a command, of a shell's the first word that it is given; empty if there is none."""
    if isinstance(what, list | tuple):
        words = [os.fsdecode(word) for word in what[:3] if isinstance(word, str | bytes | os.PathLike)]
        shell = len(words) == 3 and words[:2] == ["/bin/sh", "-c"]
        what = words[2] if shell else words[0] if words else args[0]
    if isinstance(what, str | bytes | os.PathLike):
        words = os.fsdecode(what).split()
        return "" if not words else "sys.executable" if words[0] == sys.executable else words[0]
    return ""
