"""What lines of a patch do while the oracle runs: by whom, how, and without a change for honest code."""

from __future__ import annotations

import json

import pytest

from stages.contract.ran import Ran, new_lines, ran_from
from stages.contract.trees import FILE, LINK, Entry
from stages.oracle import Observation, observe
from stages.oracle.report import MOST_RAN, read
from stages.sandbox import find

OLD = """\
import os


def setting(name):
    return os.environ.get(name)


def total(values):
    setting("FIXED")
    return 0
"""
NEW = """\
import asyncio
import importlib
import os
import socket
import subprocess
import tempfile

KEY = "".join(["TO", "KEN"])


def setting(name):
    return os.environ.get(name)


def total(values):
    setting("FIXED")
    os.getenv(KEY), os.environ.get("GET"), "IN" in os.environ, os.environb.get(b"BYTES")
    os.path.expandvars("$EXPANDED/x")
    dict(os.environ)
    {**os.environ}, os.environ.copy(), [key for key, value in os.environ.items()]
    os.path.expanduser("~")
    setting("ASKED")
    importlib.import_module("sch" + "ed")
    importlib.import_module("".join(["hel", "per"]))
    exec("import colorsys; os.getenv('TEXT')")
    talk = socket.socket()
    try:
        talk.connect(("127.0.0.1", 9))
    except OSError:
        pass
    asyncio.run(asyncio.sleep(0))
    open(tempfile.gettempdir() + "/left", "w").close()
    return sum(values)
"""
HELPER = "import os\n\nos.getenv('HELPER')\n"
HONEST = b"""\
import copy
import os
import subprocess
import sys
from collections.abc import MutableMapping
from unittest import mock

import pytest

from adding import total


def test_the_environment_is_still_the_environment(monkeypatch):
    monkeypatch.setenv("PUT", "1")
    assert (os.environ["PUT"], os.environb[b"PUT"], os.getenv("PUT"), os.getenvb(b"PUT")) == ("1", b"1", "1", b"1")
    assert isinstance(os.environ, MutableMapping) and isinstance(os.environ, os._Environ)
    assert (type(os.environ).__name__, type(os.environ).__module__) == ("_Environ", "os")
    assert repr(os.environ).startswith("environ({") and "PUT" in os.environ
    assert type(os.environ.copy()) is dict and os.environ.copy() == dict(os.environ) == {**os.environ}
    assert len(os.environ) == len(list(os.environ)) == len(os.environ.keys())
    assert type(copy.copy(os.environ)) is type(os.environ) and copy.copy(os.environ)["PUT"] == "1"
    assert os.environ | {"MORE": "2"} == {**os.environ, "MORE": "2"}
    told = subprocess.run([sys.executable, "-c", "import os; print(os.environ['PUT'])"], capture_output=True, text=True)
    assert told.stdout == "1\\n"
    with mock.patch.dict(os.environ, {"PUT": "3"}, clear=True):
        assert dict(os.environ) == {"PUT": "3"}
    assert os.environ.pop("PUT") == "1" and os.environ.setdefault("PUT", "4") == "4"
    del os.environ["PUT"]
    with pytest.raises(KeyError, match="PUT"):
        os.environ["PUT"]
    with pytest.raises(TypeError):
        os.environ[1]


def test_total():
    assert total([1, 2]) == 3
"""


def look(new: str, old: str | None = OLD, oracle: bytes = HONEST, **more: str) -> Observation:
    def entries(text: str | None) -> list[Entry]:
        rows = {"adding.py": text, "helper.py": HELPER, **more}
        return [Entry(path, FILE, row.encode()) for path, row in sorted(rows.items()) if row is not None]

    return observe(
        entries(new),
        [Entry("test_it.py", FILE, oracle)],
        kind="pytest",
        timeout_s=30,
        expected=None,
        isolation=find(),
        frozen=entries(old),
    )


@pytest.fixture(scope="module")
def seen() -> Observation:
    return look(NEW)


def test_honest_code_finds_its_environment_as_it_was(seen: Observation) -> None:
    assert (seen.verdict, seen.reason, seen.events) == ("pass", "2 tests passed", ()), seen.output


def test_each_deed_belongs_to_the_line_of_the_patch_that_did_it(seen: Observation) -> None:
    at = {line.strip(): number for number, line in enumerate(NEW.splitlines(), 1)}

    def ran(line: str, kind: str, symbol: str, how: str = "direct") -> Ran:
        (number,) = [number for text, number in at.items() if text.startswith(line)]
        return Ran("adding.py", number, kind, symbol, how)

    wanted = [
        *(ran("os.getenv(KEY)", "environment", key) for key in ("TOKEN", "GET", "IN", "BYTES")),
        ran("os.path.expandvars", "environment", "EXPANDED"),
        ran("dict(os", "env_escape", "os.environ"),
        ran("{**os", "env_escape", "os.environ"),
        ran("os.path.expanduser", "environment", "HOME", "via library posixpath"),
        ran('setting("ASKED")', "environment", "ASKED", "via adding.py of the tree"),
        ran('importlib.import_module("sch"', "import", "sched"),
        ran('importlib.import_module("".join', "import", "helper"),
        ran('importlib.import_module("".join', "environment", "HELPER", "via helper.py of the tree"),
        ran("exec(", "import", "colorsys"),
        ran("exec(", "environment", "TEXT"),
        ran("talk = socket", "socket", "socket.socket"),
        ran("talk.connect", "socket", "socket.connect"),
        ran("asyncio.run", "socket", "socket.socket", "via library asyncio"),
        ran("open(tempfile", "file_write", "/tmp"),
    ]
    assert set(seen.ran) >= set(wanted), set(wanted) - set(seen.ran)
    told = set(seen.ran) - set(wanted)
    assert all((one.kind == "import" and one.how == "direct") or one.how.startswith("via library") for one in told), (
        told
    )
    assert not any(one.symbol == "FIXED" for one in seen.ran), "an old line of the tree did that"


def test_what_the_oracle_does_is_nobodys_and_nothing_new_is_nothing_watched() -> None:
    asks = b"import os\nfrom adding import total\n\n\ndef test_it():\n    assert total(Asks()) == 0\n\n\n"
    asks += b"class Asks:\n    def __iter__(self):\n        os.getenv('ORACLES')\n        return iter([])\n"
    new = OLD.replace("return 0", "return sum(values)")
    assert [one.symbol for one in look(new, oracle=asks).ran] == []
    assert look(OLD, oracle=b"from adding import total\n\n\ndef test_it():\n    total([])\n").ran == ()


PROGRAMS = """\
import os, subprocess, sys

def total(values):
    subprocess.run(["no-such-program", "x"], check=False) if False else None
    for command in (["true"], "false; true"):
        subprocess.run(command, shell=isinstance(command, str), check=False)
    subprocess.run([sys.executable, "-c", ""], check=False)
    os.system("true now")
    return 3
"""


def test_programs_are_told_by_their_name_and_do_to_the_verdict_what_they_did() -> None:
    oracle = b"from adding import total\n\n\ndef test_it():\n    assert total([]) == 3\n"
    seen = look(PROGRAMS, oracle=oracle)
    assert (seen.verdict, seen.reason.partition(":")[0]) == ("broken", "child_process")
    programs = {(one.line, one.symbol, one.how) for one in seen.ran if one.kind == "shell"}
    assert programs == {
        (6, "true", "direct"),
        (6, "false;", "direct"),
        (7, "sys.executable", "direct"),
        (8, "true", "direct"),
    }


def test_a_verdict_doesnt_hang_on_what_is_told_but_a_record_that_is_none_is_an_event() -> None:
    good = ["a.py", 3, "environment", "KEY", "direct"]
    lines = [b"!ran:" + json.dumps(good).encode()] * 2
    assert (read(b"\n".join([*lines, b""]), b"n").ran, read(b"\n".join([*lines, b""]), b"n").events) == (
        {Ran("a.py", 3, "environment", "KEY", "direct")},
        set(),
    )
    for bad in (b"!ran:", b"!ran:[]", b"!ran:{", b"!ran:" + b"[" * 5000, b'!ran:["a.py",true,"import","x","direct"]'):
        report = read(bad + b"\n", b"n")
        assert (report.ran, report.events) == (set(), {"forged:ran"})
    many = b"".join(b"!ran:" + json.dumps([*good[:3], f"K{n}", "direct"]).encode() + b"\n" for n in range(3000))
    assert len(read(many, b"n").ran) == MOST_RAN


@pytest.mark.parametrize(
    "words",
    [
        None,
        ["a.py", 0, "k", "s", "h"],
        ["a.py", 2**31, "k", "s", "h"],
        ["", 1, "k", "s", "h"],
        ["a.py", 1, "k", "s" * 401, "h"],
        ["a.py", 1, "k", "\ud800", "h"],
        ["a.py", 1, "k", "s"],
        ["a.py", "1", "k", "s", "h"],
    ],
)
def test_a_record_is_five_words_of_modest_size(words: object) -> None:
    assert ran_from(words) is None


FLOOD = """\
import os

def total(values):
    os.getenv("x" * 100_000), os.getenv("\\udc80"), os.getenv("\\U0001f600" * 300), os.getenv("")
    for number in range(3000):
        os.getenv(f"K{number}")
    import sys; sys._getframe()
    return 3
"""


def test_a_patch_that_does_much_hides_nothing_that_is_held_against_it() -> None:
    seen = look(FLOOD, oracle=b"from adding import total\n\n\ndef test_it():\n    assert total([]) == 3\n")
    assert (seen.verdict, seen.events) == ("tamper", ("frames:sys._getframe",))
    assert len(seen.ran) == 400
    assert {"x" * 400, "\\udc80", "\U0001f600" * 300} <= {one.symbol for one in seen.ran}


def test_only_sources_are_watched_and_of_a_new_link_every_line() -> None:
    frozen = [Entry("a.py", FILE, b"one\ntwo\nthree\n"), Entry("b.py", FILE, b"same\n")]
    tree = [
        Entry("a.py", FILE, b"one\nTWO\nmore\nthree\nfour\n"),
        Entry("b.py", FILE, b"same\n"),
        Entry("c.py", LINK, b"a.py"),
        Entry("data.json", FILE, b"{}\n"),
        Entry("run", FILE, b"#!/usr/bin/python3\n"),
        Entry("null.py", FILE, b"\0"),
    ]
    assert new_lines(frozen, tree) == {"a.py": [[2, 3], [5, 5]], "c.py": [[1, 2**31]], "run": [[1, 1]]}
