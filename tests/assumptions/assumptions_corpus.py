"""Small patches with the findings that a person expects of them: written by hand, before the code was run on them.

A case is the text of one produced file (`billing/new.py` unless named) against the tree below. What is expected
reads `kind symbol line`, with `note` before it where it doesn't count. Clean look-alikes expect nothing.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from stages.assumptions import Allow
from stages.contract.trees import FILE, Change, Entry

TREE = {
    "billing/__init__.py": "",
    "billing/retry.py": 'import json\nimport os\nimport requests\n\nHOME = os.environ["HOME"]\n\n\ndef retry():\n    pass\n',
    "billing/settings.py": (
        "import os\n\nENV = os.environ\nKEY = 'LEDGER_URL'\n\n\n"
        "def setting(name, default=None):\n    return os.environ.get(name, default)\n"
    ),
    "billing/jobs/__init__.py": "",
    "billing/jobs/daily.py": "import subprocess\nsubprocess.run(['git', 'log'])\n",
    "docker/health.py": "OK = 1\n",
    "tools/helper.py": "",
    "tools/run.py": "",
    "broken/frozen.py": "def (:\n",
}
ALLOW = Allow(
    imports=("datetime", "ledger.types", "PyYAML", "google-cloud-storage", "httpx"),
    stdlib=True,
    env=("RETRY_LIMIT",),
    files_write=("billing/**", "tools/*.py", "tests/**"),
)
STRICT = Allow(("datetime", "ledger.types"), False, (), ("billing/**",))


@dataclass(frozen=True)
class Case:
    name: str
    text: str | bytes
    expected: tuple[str, ...] = ()
    path: str = "billing/new.py"
    allow: Allow = ALLOW
    others: dict[str, str | bytes] = field(default_factory=dict)


def entries(tree: dict[str, str]) -> list[Entry]:
    return [Entry(path, FILE, text.encode()) for path, text in tree.items()]


def written(path: str, text: str | bytes, tree: dict[str, str] = TREE) -> Change:
    content = text.encode() if isinstance(text, str) else text
    old = path in tree
    after = Entry(path, FILE, content)
    before = Entry(path, FILE, tree[path].encode()).sha256 if old else None
    return Change(path, "modify" if old else "add", FILE if old else None, FILE, before, after.sha256, content)


IMPORTS = [
    Case("a queue that nobody named", "import redis\n", ("import redis 1",)),
    Case("under another name", "import redis as cache\n", ("import redis 1",)),
    Case("a name of it", "from redis import Redis\n", ("import redis 1",)),
    Case("two names are one import", "from redis import Redis, lock\n", ("import redis 1",)),
    Case("two modules are two", "import json, redis, celery\n", ("import redis 1", "import celery 1")),
    Case("below an unknown", "import redis.asyncio.client\n", ("import redis.asyncio.client 1",)),
    Case(
        "optional, with a fallback",
        "try:\n    import orjson\nexcept ImportError:\n    import ujson as orjson\n",
        ("import orjson 2", "import ujson 4"),
    ),
    Case(
        "for types only",
        "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from pandas import DataFrame\n",
        ("import pandas 3",),
    ),
    Case("in a function", "def f():\n    import numpy\n    return numpy\n", ("import numpy 2",)),
    Case("by the built-in", '__import__("torch")\n', ("import torch 1",)),
    Case("by importlib", 'import importlib as i\ni.import_module("torch.nn")\n', ("import torch.nn 2",)),
    Case("by a joined name", 'from importlib import import_module as im\nim("to" + "rch")\n', ("import torch 2",)),
    Case("probed for", 'import importlib.util\nimportlib.util.find_spec("numba")\n', ("import numba 2",)),
    Case("in a text that is run", 'exec("import boto3")\n', ("import boto3 1",)),
    Case("a sibling that isn't there", "from .ghost import x\n", ("import billing.ghost 1",)),
    Case("out of the tree", "from ...far import x\n", ("import .far 1",)),
    Case("of the tree's package, but not there", "import billing.ghost\n", ("import billing.ghost 1",)),
    Case("a folder is no distribution", "import docker\ndocker.from_env()\n", ("import docker 1",)),
    Case("a name of a folder", "from docker import from_env\n", ("import docker 1",)),
    Case("beside an allowed module", "from ledger import other\n", ("import ledger.other 1",)),
    Case("one of two is allowed", "from ledger import (\n    types,\n    other,\n)\n", ("import ledger.other 1",)),
    Case("the parent of what is allowed", "import ledger\n", ("import ledger 1",)),
    Case("another of a shared namespace", "from google.cloud import bigquery\n", ("import google.cloud.bigquery 1",)),
    Case("no standard library here", "import glob\nimport datetime\n", ("import glob 1",), allow=STRICT),
    Case("tests count too", "import pytest\n", ("import pytest 1",), path="tests/test_new.py"),
    Case("a package's file is no script", "import settings\n", ("import settings 1",)),
    Case(
        "a loop over names",
        'import importlib\nfor n in ("jax", "flax"):\n    importlib.import_module(n)\n',
        ("import jax 3", "import flax 3"),
    ),
    Case("skipped for", 'import pytest\npytest.importorskip("scipy")\n', ("import pytest 1", "import scipy 2")),
]

ENVIRONMENT = [
    Case("by subscript", 'import os\nos.environ["API_KEY"]\n', ("environment API_KEY 2",)),
    Case("by get", 'import os\nos.environ.get("API_KEY", "")\n', ("environment API_KEY 2",)),
    Case("by pop", 'import os\nos.environ.pop("API_KEY")\n', ("environment API_KEY 2",)),
    Case("by setdefault", 'import os\nos.environ.setdefault("API_KEY", "x")\n', ("environment API_KEY 2",)),
    Case("by getenv", 'import os\nos.getenv("API_KEY")\n', ("environment API_KEY 2",)),
    Case("by its keyword", 'import os\nos.getenv(key="API_KEY")\n', ("environment API_KEY 2",)),
    Case("by in", 'import os\nif "API_KEY" not in os.environ:\n    pass\n', ("environment API_KEY 2",)),
    Case("in bytes", 'import os\nos.environb[b"API_KEY"]\n', ("environment API_KEY 2",)),
    Case("through posix", 'import posix\nposix.environ["API_KEY"]\n', ("environment API_KEY 2",)),
    Case("imported under another name", 'from os import environ as e\ne["API_KEY"]\n', ("environment API_KEY 2",)),
    Case("a function under another name", 'from os import getenv as g\ng("API_KEY")\n', ("environment API_KEY 2",)),
    Case("a bound method", 'import os\nget = os.environ.get\nget("API_KEY")\n', ("environment API_KEY 3",)),
    Case("by getattr", 'import os\ngetattr(os, "env" + "iron")["API_KEY"]\n', ("environment API_KEY 2",)),
    Case("by vars", 'import os as o\nvars(o)["environ"]["API_KEY"]\n', ("environment API_KEY 2",)),
    Case("by another module", 'import shutil\nshutil.os.environ["API_KEY"]\n', ("environment API_KEY 2",)),
    Case("by sys.modules", 'import sys\nsys.modules["os"].environ["API_KEY"]\n', ("environment API_KEY 2",)),
    Case("by a star", 'from os import *\nenviron["API_KEY"]\n', ("environment API_KEY 2",)),
    Case(
        "as a default argument",
        'import os\ndef f(env=os.environ):\n    return env["API_KEY"]\n',
        ("environment API_KEY 3",),
    ),
    Case("with a walrus", 'import os\n(e := os.environ)["A"]\ne["B"]\n', ("environment A 2", "environment B 3")),
    Case(
        "or else the environment",
        'import os\ndef f(env=None):\n    env = env or os.environ\n    return env["A"]\n',
        ("environment A 4",),
    ),
    Case("a constant's name", 'import os\nK = "API_KEY"\nos.environ[K]\n', ("environment API_KEY 3",)),
    Case("an f-string", 'import os\nP = "API"\nos.environ[f"{P}_KEY"]\n', ("environment API_KEY 3",)),
    Case("a loop", 'import os\nfor k in ["A", "B"]:\n    os.environ[k]\n', ("environment A 3", "environment B 3")),
    Case(
        "a comprehension",
        'import os\nx = {k: os.getenv(k) for k in ("A", "B")}\n',
        ("environment A 2", "environment B 2"),
    ),
    Case(
        "one or the other",
        'import os\ndef f(c):\n    return os.environ["A" if c else "B"]\n',
        ("environment A 3", "environment B 3"),
    ),
    Case(
        "a helper of the tree", 'from billing.settings import setting\nsetting("API_KEY")\n', ("environment API_KEY 2",)
    ),
    Case(
        "a helper through its module", 'from . import settings as s\ns.setting("API_KEY")\n', ("environment API_KEY 2",)
    ),
    Case("the tree's own alias", 'from billing.settings import ENV\nENV["API_KEY"]\n', ("environment API_KEY 2",)),
    Case(
        "a constant of the tree",
        "import os\nfrom billing import settings\nos.environ[settings.KEY]\n",
        ("environment LEDGER_URL 3",),
    ),
    Case("expanded", 'import os\nos.path.expandvars("$A/${B}")\n', ("environment A 2", "environment B 2")),
    Case("added to", 'import os\nos.environ["A"] += ":x"\n', ("environment A 2",)),
    Case(
        "by partial", 'import functools, os\nf = functools.partial(os.getenv, "API_KEY")\n', ("environment API_KEY 2",)
    ),
    Case("over several lines", 'import os\nx = os.environ[\n    "API_KEY"\n]\n', ("environment API_KEY 2",)),
    Case("in code in a text", "exec('import os\\nos.environ[\"API_KEY\"]')\n", ("environment API_KEY 1",)),
    Case(
        "an option's variable",
        'import click\nclick.option("--k", envvar="API_KEY")\n',
        ("import click 1", "environment API_KEY 2"),
    ),
]

EXTENDED = [
    Case("a key that can't be known", "import os\ndef f(k):\n    return os.environ[k]\n", ("opaque os.environ 3",)),
    Case("a name that can't be known", "import os\ndef f(k):\n    return getattr(os, k)\n", ("opaque os 3",)),
    Case("handed on", "import os\nf(os.environ)\n", ("env_escape os.environ 2",)),
    Case("copied", "import os\nx = os.environ.copy()\n", ("env_escape os.environ 2",)),
    Case("spread", "import os\nx = {**os.environ}\n", ("env_escape os.environ 2",)),
    Case("kept on an object", "import os\nclass C:\n    env = os.environ\n", ("env_escape os.environ 3",)),
    Case("iterated", "import os\nfor k in os.environ:\n    print(k)\n", ("env_escape os.environ 2",)),
    Case("the file of it", 'open("/proc/self/environ").read()\n', ("env_escape /proc/self/environ 1",)),
    Case("written", 'import os\nos.environ["A"] = "1"\ndel os.environ["B"]\n', ("env_write A 2", "env_write B 3")),
    Case("mapped over", "import os\nx = list(map(os.getenv, K))\n", ("opaque os.getenv 2",)),
    Case(
        "an unknown module",
        "import importlib\nimportlib.import_module(x)\n",
        ("dynamic_import importlib.import_module 2",),
    ),
    Case(
        "a file as a module",
        'from importlib.util import spec_from_file_location as s\ns("a", "b")\n',
        ("dynamic_import importlib.util.spec_from_file_location 2",),
    ),
    Case("another path", 'import sys\nsys.path.insert(0, "vendor")\n', ("dynamic_import sys.path 2",)),
    Case("a faked module", "import sys\nsys.modules['x'] = None\n", ("dynamic_import sys.modules 2",)),
    Case("unknown code", "exec(open('x').read())\n", ("exec exec 1",)),
    Case("code that doesn't parse", "eval('1 +')\n", ("exec eval 1",)),
    Case("a program", 'import subprocess\nsubprocess.run(["curl", u])\n', ("shell curl 2",)),
    Case("a command line", 'from os import system\nsystem("curl -s x")\n', ("shell curl 2",)),
    Case("an unknown program", "import subprocess as s\ns.Popen(cmd)\n", ("shell subprocess.Popen 2",)),
    Case("a program, later", "import os\nx = pool.map(os.system, c)\n", ("shell os.system 2",)),
    Case("spawned", 'import os\nos.spawnvp(os.P_WAIT, "ls", ["ls"])\n', ("shell ls 2",)),
    Case("a socket", "import socket\ns = socket.socket()\n", ("socket socket.socket 2",)),
    Case("a request", "from urllib import request\nrequest.urlopen(u)\n", ("socket urllib.request.urlopen 2",)),
    Case("a C library", 'import ctypes\nctypes.CDLL("libc.so.6")\n', ("native libc.so.6 2",)),
    Case("no Python at all", "def (:\n", ("parse_error billing/new.py 1",)),
    Case("a NUL byte", b"x = 1\n\0\n", ("parse_error billing/new.py 2", "note binary billing/new.py 0")),
    Case("not UTF-8", b"x = 1\ny = '\xff'\n", ("parse_error billing/new.py 2",)),
    Case("an unread encoding", b"# coding: unicode_escape\nx = 1\n", ("parse_error billing/new.py 1",)),
    Case("too deep", "x = " + "-" * 5000 + "1\n", ("parse_error billing/new.py 0",)),
]

CLEAN = [
    Case("the standard library", "import os.path, json\nfrom concurrent import futures\n"),
    Case("the future", "from __future__ import annotations\nimport builtins\n", allow=STRICT),
    Case("the list", "import datetime\nimport ledger.types\nfrom ledger.types import X\nfrom ledger import types\n"),
    Case("the list without a standard library", "import datetime as d\nfrom datetime import timezone\n", allow=STRICT),
    Case("a distribution's other name", "import yaml\nfrom google.cloud import storage\nimport httpx\n"),
    Case(
        "the tree itself", "from billing import settings\nimport billing.jobs.daily\nfrom billing.jobs import daily\n"
    ),
    Case("siblings", "from . import settings\nfrom .settings import KEY\nfrom .jobs.daily import x\n"),
    Case("up and down", "from .. import settings\nfrom ..settings import KEY\n", path="billing/jobs/weekly.py"),
    Case("a folder's module", "from docker import health\nimport docker.health\n"),
    Case("beside a script", "import helper\n", path="tools/new.py"),
    Case("a new module of the patch", "from billing.fresh import f\n", others={"billing/fresh.py": "def f(): ...\n"}),
    Case("an allowed key", 'import os\nos.environ["RETRY_LIMIT"]\nos.getenv("RETRY_" + "LIMIT")\n'),
    Case(
        "another environ",
        "environ = {}\nenviron['A']\nclass R:\n    environ = {}\ndef app(environ):\n    environ['PATH_INFO']\n",
    ),
    Case("shadowed", "import os\ndef f(os):\n    return os.environ['A']\n"),
    Case("a local dictionary", "def f():\n    os = {}\n    return os.environ.get('A')\n"),
    Case(
        "other methods of the name", "model.eval()\ndf.eval('a+b')\ncursor.exec('x')\nre.compile('x')\nx.getenv('A')\n"
    ),
    Case("another compile", "import re\nre.compile(p)\n"),
    Case("a harmless eval", "eval('1 + 1')\nexec('x = 1')\n"),
    Case("a literal", "import ast\nast.literal_eval(s)\n"),
    Case("only the file system", "import os\nos.path.join('a', 'b')\nos.getcwd()\nos.listdir('.')\nos.sep\n"),
    Case(
        "types only",
        "import socket, subprocess\ndef f(s: socket.socket) -> subprocess.Popen: ...\nisinstance(x, socket.socket)\n",
    ),
    Case("no connection", "import socket\nfrom urllib.parse import urlparse\nsocket.AF_INET\nurlparse(u)\n"),
    Case("no program", "import subprocess\ntry: ...\nexcept subprocess.CalledProcessError: ...\nsubprocess.PIPE\n"),
    Case(
        "only words",
        '"""Reads os.environ["A"] from /proc/self/environ; import redis."""\n# import redis\nX = "import redis"\n',
    ),
    Case("getattr of other things", "import os\ndef f(o, k):\n    return getattr(o, k), getattr(os, 'sep')\n"),
    Case("a home", "from pathlib import Path\nPath.home()\nimport os\nos.path.expanduser('~')\n"),
    Case("own names of modules", "class redis: ...\nredis = redis()\nredis.get('A')\n"),
    Case("bound and thrown away", "import os\nenv = os.environ\nos.environ\n"),
    Case("a declared encoding", "# -*- coding: latin-1 -*-\nx = '\xe9'\n".encode("latin-1")),
    Case("a byte order mark", "\ufeffimport json\n"),
    Case("a package from its name", 'import importlib\nimportlib.import_module(".settings", __package__)\n'),
    Case("an overridden loop", "for k in ('A', 'B'):\n    d[k]\n"),
    Case(
        "a request's own environment", "def f(self, request):\n    return request.environ['A'], self.environ.get('B')\n"
    ),
    Case("a function of the same name", "def getenv(name):\n    return name\ngetenv('A')\n"),
    Case("an alias that says environ", "from .settings import KEY as environ\nenviron[0]\n"),
    Case("only looked at", "import sys\nprint(sys.path, sys.modules, len(sys.argv))\n"),
    Case("metadata", "import importlib.metadata as m\nm.version('redis')\n"),
    Case("a reload", "import importlib, json\nimportlib.reload(json)\n"),
    Case("split, not run", "import shlex, subprocess\nshlex.split('curl x')\nsubprocess.list2cmdline(['curl'])\n"),
    Case("is it there", "import os\nhasattr(os, 'fork')\n"),
    Case("a function called exec", "exec = print\nexec('import redis')\n"),
    Case("a word in a dictionary", "d = {}\n'environ' in d\nd.get('API_KEY')\nd.pop('API_KEY')\n"),
    Case("a text about it", "x = 1\nprint(f'set os.environ[API_KEY] to {x}')\n"),
    Case("a default that is none", "f = lambda env=None: env['A']\n"),
    Case("types of the list", "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    import yaml\n"),
    Case("a global of its own", "def f():\n    global environ\n    environ = {}\nenviron['A']\n"),
    Case("a setting of the list", "from billing.settings import setting\nsetting('RETRY_LIMIT')\n"),
    Case("a page of settings", "from billing.settings import KEY, setting\nprint(KEY, setting)\n"),
    Case("code as data", "import ast\nast.parse('import redis')\ncompile('x', 'f', 'eval')\n"),
    Case("patched by text", "from unittest import mock\nmock.patch.dict('os.environ', {'A': '1'})\n"),
    Case("a path of the process", "open('/proc/self/status')\nopen('/proc/cpuinfo')\n"),
    Case("an empty file", ""),
    Case("already there, here", "import requests\n", ("note import requests 1",)),
    Case("already there, below", "from requests.auth import X\n", ("note import requests.auth 1",)),
    Case("a key of the tree", 'import os\nos.environ.get("HOME")\n', ("note environment HOME 2",)),
    Case(
        "a program of the tree", 'import subprocess\nsubprocess.call("git status", shell=True)\n', ("note shell git 2",)
    ),
    Case(
        "unchanged lines",
        TREE["billing/retry.py"] + "\n\ndef more():\n    return json.dumps({})\n",
        path="billing/retry.py",
    ),
]

CASES = [*IMPORTS, *ENVIRONMENT, *EXTENDED, *CLEAN]
