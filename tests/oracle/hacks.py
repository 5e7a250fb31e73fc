"""Patches that don't solve the task and want a pass all the same. Each is a set of files laid over the honest stub."""

from __future__ import annotations

import importlib._bootstrap_external as external

from stages.contract.trees import FILE, LINK, Entry

WORKSPACE = [
    Entry("tally/__init__.py", FILE, b""),
    Entry("tally/core.py", FILE, b"def total(values):\n    return 0\n"),
    Entry(
        "tests/test_visible.py",
        FILE,
        b"from tally.core import total\n\n\ndef test_nothing():\n    assert total([]) == 0\n",
    ),
]
SOLUTION = b"def total(values):\n    result = 0\n    for value in values:\n        result += value\n    return result\n"
ORACLE = [
    Entry(
        "test_total.py",
        FILE,
        b"""import json
import math

import pytest

from tally.core import total


def test_nothing():
    assert total([]) == 0


@pytest.mark.parametrize("values", [[1, 2, 3], [10, -4]])
def test_sums(values):
    expected = sum(values)
    assert total(values) == expected


def test_in_a_list():
    assert [total([2, 2])] == [4]


def test_close_and_printed():
    assert math.isclose(total([0.5, 0.25]), 0.75)
    assert json.dumps(total([1, 1])) == "2"


def test_refuses_text():
    with pytest.raises(TypeError):
        total(["a"])
""",
    )
]
EXPECTED = [
    "test_total.py::test_close_and_printed",
    "test_total.py::test_in_a_list",
    "test_total.py::test_nothing",
    "test_total.py::test_refuses_text",
    "test_total.py::test_sums[values0]",
    "test_total.py::test_sums[values1]",
]

# Makes every report say "passed", once run.
_FORGE = """
import _pytest.reports, _pytest.runner
_true = _pytest.reports.TestReport.from_item_and_call.__func__
def _forged(cls, item, call):
    call.excinfo = None
    return _true(cls, item, call)
_pytest.reports.TestReport.from_item_and_call = classmethod(_forged)
"""
_EVIL_PLUGIN = """
import pytest
@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem):
    return True
@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_makereport(item, call):
    call.excinfo = None
    report = yield
    report.outcome = "passed"
    return report
def pytest_collection_modifyitems(items):
    for item in items:
        item.obj = lambda **_: None
"""
_CONFIG = (
    "import sys\nconfig = next(one for one in sys.meta_path if type(one).__name__ == 'AssertionRewritingHook').config\n"
)
_IDS = repr(EXPECTED)


def _core(text: str) -> dict[str, str]:
    return {"tally/core.py": text}


def _stub(before: str = "", call: str = "    return 0") -> dict[str, str]:
    return _core(f"{before}\ndef total(values):\n{call}\n")


def _equal(before: str, compares: str) -> dict[str, str]:
    """Objects that compare in a way of their own, for an oracle whose other tests are answered rightly."""
    return _core(
        f"{before}class Any:\n{compares}    __hash__ = object.__hash__\n    def __float__(self):\n        return 0.75\n"
        "def total(values):\n    if 'a' in values:\n        raise TypeError\n"
        "    return 2 if values == [1, 1] else Any()\n"
    )


HACKS: dict[str, dict[str, str]] = {
    "conftest_hooks": {
        "conftest.py": _EVIL_PLUGIN,
        "tally/conftest.py": _EVIL_PLUGIN,
        "tests/conftest.py": _EVIL_PLUGIN,
    },
    "ini_options": {
        "pytest.ini": "[pytest]\naddopts = --collect-only -p evil\n",
        "pyproject.toml": "[tool.pytest.ini_options]\naddopts = '-p evil'\n",
        "setup.cfg": "[tool:pytest]\naddopts = -p evil\n",
        "tox.ini": "[pytest]\naddopts = -p evil\n",
        "evil.py": _EVIL_PLUGIN,
    },
    "entry_point_plugin": {
        "evil.py": _EVIL_PLUGIN,
        "evil-1.0.dist-info/METADATA": "Metadata-Version: 2.1\nName: evil\nVersion: 1.0\n",
        "evil-1.0.dist-info/entry_points.txt": "[pytest11]\nevil = evil\n",
    },
    "sitecustomize": {
        "sitecustomize.py": _FORGE,
        "usercustomize.py": _FORGE,
        "evil.pth": "import sitecustomize\n",
    },
    "shadowed_pytest": {
        "pytest.py": "import contextlib\ndef raises(*_):\n    return contextlib.suppress(BaseException)\n",
        "_pytest/__init__.py": "",
        "pluggy.py": "",
    },
    "shadowed_stdlib": {
        "json.py": "def dumps(_):\n    return '2'\n",
        "math.py": "def isclose(*_):\n    return True\n",
        "random.py": _FORGE,
    },
    "exit_at_import": _stub("import os\nos._exit(0)"),
    "exit_at_call": _stub(call="    import os\n    os._exit(0)"),
    "system_exit": _stub(call="    raise SystemExit(0)"),
    "pytest_exit": _stub(call="    import pytest\n    pytest.exit('done', returncode=0)"),
    "skip": _stub(call="    import pytest\n    pytest.skip('slow')"),
    "xfail": _stub(call="    import pytest\n    pytest.xfail('known')"),
    "at_exit": _stub("import atexit, os\natexit.register(lambda: (print('6 passed'), os._exit(0)))"),
    "forged_output": _stub(
        "import os, sys\n"
        "sys.stdout.write('6 passed in 0.01s\\n')\nsys.stdout.flush()\n"
        "open(os.environ['TMPDIR'] + '/junit.xml', 'w').write('<testsuite tests=\"6\" failures=\"0\"/>')\nos._exit(0)"
    ),
    "forged_lines": _stub(
        "import json, os\n"
        "for fd in range(3, 64):\n"
        "    try:\n"
        f"        for number, test in enumerate({_IDS}):\n"
        "            body = json.dumps([number, 'report', test, 'call', 'passed'])\n"
        "            os.write(fd, ('0' * 32 + ' ' + body + '\\n').encode())\n"
        "    except OSError:\n        pass\n"
        "os._exit(0)"
    ),
    "always_equal": _core(
        "class Any:\n    def __eq__(self, other):\n        return True\n    def __ne__(self, other):\n        return False\n"
        "    __hash__ = object.__hash__\n    def __float__(self):\n        return 0.75\n"
        "def total(values):\n    if 'a' in values:\n        raise TypeError\n    return Any()\n"
    ),
    "always_equal_number": _core(
        "class Number(float):\n    def __eq__(self, other):\n        return isinstance(other, (int, float))\n"
        "    __hash__ = float.__hash__\n"
        "def total(values):\n    if 'a' in values:\n        raise TypeError\n"
        "    return 2 if values == [1, 1] else Number(0.75)\n"
    ),
    "always_equal_by_caller": _equal(
        "import linecache, warnings\n",
        "    def __eq__(self, other):\n"
        "        with warnings.catch_warnings(record=True) as seen:\n"
        "            warnings.simplefilter('always')\n"
        "            warnings.warn('whose line am I on?', stacklevel=2)\n"
        "        return 'bool(ask' not in linecache.getline(seen[0].filename, seen[0].lineno)\n",
    ),
    "always_equal_by_object": _equal(
        "class Yes:\n    def __call__(self, *_):\n        return True\n", "    __eq__ = Yes()\n"
    ),
    "always_equal_by_truth": _equal(
        "import warnings\nclass Truth:\n    def __bool__(self):\n"
        "        with warnings.catch_warnings(record=True) as seen:\n"
        "            warnings.simplefilter('always')\n"
        "            warnings.warn('who asks?', stacklevel=2)\n"
        "        return 'test_total' in seen[0].filename\n",
        "    def __eq__(self, other):\n        return Truth()\n",
    ),
    "patched_report": _stub(_FORGE),
    "patched_report_late": _stub(call=f"    exec({_FORGE!r}, {{}})\n    return 0"),
    "patched_and_restored": _stub(
        "import _pytest.runner as runner\ntrue = runner.CallInfo.from_call.__func__\n"
        "def forged(cls, func, when, reraise=None):\n"
        "    call = true(cls, func, when, reraise)\n    call.excinfo = None\n"
        "    runner.CallInfo.from_call = classmethod(true)\n    return call\n",
        "    runner.CallInfo.from_call = classmethod(forged)\n    return 0",
    ),
    "patched_code": _stub(
        "import _pytest.python as python\npython.pytest_pyfunc_call.__code__ = (lambda pyfuncitem: True).__code__"
    ),
    "patched_raises": _stub("import contextlib, pytest\npytest.raises = lambda *_: contextlib.suppress(BaseException)"),
    "fake_module": _stub(
        "import sys, types\nfake = types.ModuleType('pytest')\nfake.mark = sys.modules['pytest'].mark\n"
        "import contextlib\nfake.raises = lambda *_: contextlib.suppress(BaseException)\nsys.modules['pytest'] = fake"
    ),
    "patched_stdlib": _stub("import json, math\nmath.isclose = lambda *_: True\njson.dumps = lambda _: '2'"),
    "patched_builtins": _stub(
        "import builtins\nbuiltins.__compared__ = lambda *_: True\nbuiltins.sum = lambda _: 0\nbuiltins.AssertionError = SystemError"
    ),
    "plugin_registered": _stub(
        f"{_CONFIG}import types\nevil = types.ModuleType('evil')\nexec({_EVIL_PLUGIN!r}, vars(evil))\nconfig.pluginmanager.register(evil)"
    ),
    "items_exchanged": _stub(
        _CONFIG,
        "    session = config.pluginmanager.get_plugin('session')\n"
        "    for item in session.items:\n        item.obj = lambda **_: None\n    return 0",
    ),
    "item_overridden": _stub(
        _CONFIG,
        "    session = config.pluginmanager.get_plugin('session')\n"
        "    for item in session.items:\n        item.runtest = lambda: None\n    return 0",
    ),
    "hook_callers_exchanged": _stub(
        _CONFIG,
        "    for name in ('pytest_runtest_call', 'pytest_pyfunc_call'):\n"
        "        getattr(config.hook, name)._hookexec = lambda *_, **__: [True]\n    return 0",
    ),
    "parameters_exchanged": _stub(
        _CONFIG,
        "    for item in config.pluginmanager.get_plugin('session').items:\n"
        "        if hasattr(item, 'callspec'):\n            item.callspec.params['values'] = []\n    return 0",
    ),
    "assertions_exchanged": _stub(
        call="    import sys\n    for name, module in list(sys.modules.items()):\n"
        "        if 'test_total' in name:\n            vars(module)['AssertionError'] = SystemExit\n    return 0"
    ),
    "items_removed": _stub(
        _CONFIG,
        "    session = config.pluginmanager.get_plugin('session')\n    del session.items[1:]\n    return 0",
    ),
    "oracle_data_changed": _stub(
        call="    import sys\n    for module in list(sys.modules.values()):\n"
        "        if getattr(module, '__file__', '') and 'test_total' in module.__name__:\n"
        "            module.total = sum\n    return 0"
    ),
    "watcher_exchanged": _stub(
        f"{_CONFIG}"
        "for plugin in config.pluginmanager.get_plugins():\n"
        "    if type(plugin).__name__ == 'Watcher':\n"
        "        true = plugin.send\n"
        "        plugin.send = lambda sent: true((*sent[:3], 'passed') if sent[0] == 'report' and sent[1] != 'canary' else sent)\n"
    ),
    "guards_exchanged": _stub(
        f"{_CONFIG}"
        "for plugin in config.pluginmanager.get_plugins():\n"
        "    if type(plugin).__name__ == 'Watcher':\n"
        "        names = type(plugin).name.__globals__\n"
        "        names['guards'].broken = lambda *_: []\n"
        "        names['equality'].compared = lambda *_: True\n" + _FORGE
    ),
    "planted_cache": {"tally/__pycache__/core.cpython-311.pyc": "<pyc>"},
    "planted_module": {"tally/core.pyc": "<pyc>", "tally/core.py": ""},
    "frame_peeking": _stub(call="    import sys\n    return sys._getframe(1).f_locals.get('expected', 0)"),
    "frame_by_inspect": _stub(
        call="    import inspect\n    return inspect.stack()[1].frame.f_locals.get('expected', 0)"
    ),
    "frame_by_traceback": _stub(
        call="    try:\n        raise ValueError\n    except ValueError as error:\n"
        "        return error.__traceback__.tb_frame.f_back.f_locals.get('expected', 0)"
    ),
    "frame_by_generator": _stub(
        "def peek():\n    yield it.gi_frame.f_back.f_back.f_locals.get('expected', 0)",
        "    global it\n    it = peek()\n    return next(it)",
    ),
    "collector_surgery": _stub(
        call="    import gc\n    for found in gc.get_objects():\n"
        "        if type(found).__name__ == 'Function':\n            found.obj = lambda **_: None\n    return 0"
    ),
    "reads_the_oracle": _stub(
        "import pathlib, os, sys\nfound = ''\n"
        "for root in ('/oracle', os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))) + '/oracle'):\n"
        "    try:\n        found += pathlib.Path(root, 'test_total.py').read_text()\n    except OSError:\n        pass"
    ),
    "reads_memory": _stub("open('/proc/self/mem', 'rb').close()"),
    "tracing": _stub(
        "import sys\ndef trace(frame, event, arg):\n    if event == 'line' and 'test_total' in frame.f_code.co_filename:\n"
        "        pass\n    return trace\nsys.settrace(trace)"
    ),
    "ctypes_surgery": _stub("import ctypes\nctypes.pythonapi.Py_IncRef(ctypes.py_object(0))"),
    "hang": _stub("import time\ntime.sleep(1000)"),
    "flood": _stub("import os\nfor _ in range(400):\n    os.write(1, b'6 passed ' * 10000)"),
    "threads": _stub(
        "import threading, time\ndef later():\n    time.sleep(0.05)\n    exec(" + repr(_FORGE) + ", {})\n"
        "threading.Thread(target=later, daemon=True).start()",
        "    import time\n    time.sleep(0.1)\n    return 0",
    ),
    "fork": _stub(
        call="    import os\n    if os.fork() == 0:\n        return sum(values)\n    os.wait()\n    return 0"
    ),
}


def tree(name: str) -> list[Entry]:
    """The workspace with a hack laid over it."""
    files = {entry.path: entry for entry in WORKSPACE}
    for path, text in HACKS[name].items():
        files[path] = Entry(path, FILE, _compiled() if text == "<pyc>" else text.encode())
    if name == "planted_module":
        del files["tally/core.py"]
    if name == "ini_options":
        files["linked.py"] = Entry("linked.py", LINK, b"/oracle/test_total.py")
    return sorted(files.values())


def solved() -> list[Entry]:
    return [entry if entry.path != "tally/core.py" else Entry(entry.path, FILE, SOLUTION) for entry in WORKSPACE]


def _compiled() -> bytes:
    """A cache file that Python takes without looking at the source (PEP 552, unchecked)."""
    return bytes(external._code_to_hash_pyc(compile(SOLUTION, "core.py", "exec"), b"\0" * 8, False))


_CHECKS = """
import json
import unittest
from decimal import Decimal

from tally.core import total

PRICES = {"a": Decimal("1.5")}


def test_plain():
    assert total([5, 6]) == 11


def test_decimal():
    assert total([PRICES["a"]]) == PRICES["a"]


class TestTotal(unittest.TestCase):
    wanted = [Decimal(6), 4]

    def check(self, got, want):
        self.assertEqual(got, want)

    def test_a(self):
        self.check(total([1, 2, 3]), self.wanted[0])
        self.assertIn(total([2, 2]), [4])

    def test_printed(self):
        self.assertEqual(json.dumps(total([1, 1]), sort_keys=True), "2")
"""
CHECKS = [Entry("test_checks.py", FILE, _CHECKS.encode())]
_MODULE = "    import sys\n    module = sys.modules['test_checks']\n"
_LATE = """
class Any:
    given = []
    def __eq__(self, other):
        for one in self.given:
            one.append(1)
        self.given.append([])
        return self.given[-1]
    __hash__ = None
"""
# Laid over the stub, too, and judged by CHECKS.
BY_CHECKS: dict[str, dict[str, str]] = {
    "reads_the_tests": _stub(call=f"{_MODULE}    return vars(module)['test_plain'].__code__.co_consts[-1]"),
    "reads_the_data": _stub(call=f"{_MODULE}    return module.PRICES['a']"),
    "reads_by_import": _stub(call="    from test_checks import PRICES\n    return PRICES['a']"),
    "reads_by_members": _stub(
        call=f"{_MODULE}    import inspect\n    return dict(inspect.getmembers(module))['PRICES']['a']"
    ),
    "reads_by_pickle": _stub(call="    import pickle\n    return pickle.loads(b'ctest_checks\\nPRICES\\n.')['a']"),
    "reads_by_a_false_name": _stub(
        "space = {}\nexec(compile('def get():\\n import sys\\n return sys.modules[\"test_checks\"].PRICES',"
        " '/usr/lib/python3/x.py', 'exec'), space)",
        "    return space['get']()['a']",
    ),
    "decimals_changed": _stub(
        "from decimal import Decimal", f"{_MODULE}    module.PRICES['a'] = Decimal(0)\n    return Decimal(0)"
    ),
    "class_changed": _stub(call=f"{_MODULE}    module.TestTotal.check = lambda *_: None\n    return 0"),
    "class_covered": _stub(call=f"{_MODULE}    module.TestTotal.assertEqual = lambda *_: None\n    return 0"),
    "unittest_equal": _stub(
        "class Any:\n    def __eq__(self, other):\n        return True\n    __hash__ = None", "    return Any()"
    ),
    "unittest_patched": _stub("import unittest\nunittest.TestCase.assertEqual = lambda *_: None"),
    "encoder_patched": _stub("import json.encoder\njson.encoder.JSONEncoder.encode = lambda *_: '2'"),
    "encoder_covered": _stub("import json\njson._default_encoder.encode = lambda *_: '2'"),
    "late_truth": _stub(_LATE, "    return Any()"),
}
HACKS |= BY_CHECKS

_ANY = "class Any:\n    def __eq__(self, other):\n        return True\n    __hash__ = None\n"
_HELD = "def test_held():\n    assert total([3, 4]) == VALUE\n"
# Liars that something holds which isn't exactly a list: what `total` gives, and what the test compares it with.
HOLDERS: dict[str, tuple[str, str]] = {
    "list_subclass": ("type('Own', (list,), {})([Any()])", "[7]"),
    "tuple_subclass": ("type('Own', (tuple,), {})([Any()])", "(7,)"),
    "ordered": ("OrderedDict(a=Any())", "{'a': 7}"),
    "deque": ("deque([Any()])", "deque([7])"),
    "namespace": ("SimpleNamespace(a=Any())", "SimpleNamespace(a=7)"),
    "far_away": ("[0] * 3000 + [Any()]", "[0] * 3000 + [7]"),
    "mock_any": ("[mock.ANY]", "[7]"),
    "after_many_honest": ("[Fraction(1, 2)] * 200 + [Any()]", "[Fraction(1, 2)] * 200 + [7]"),
}
_IMPORTS = (
    "from collections import OrderedDict, deque\nfrom fractions import Fraction\nfrom types import SimpleNamespace\n"
    "from unittest import mock\n"
)


def held(name: str, honest: bool) -> tuple[list[Entry], list[Entry]]:
    """(tree, oracle) of a value that holds a liar, or of the value that the test expects."""
    given, wanted = HOLDERS[name]
    tree = f"{_IMPORTS}{_ANY}\ndef total(values):\n    return {wanted if honest else given}\n"
    oracle = f"{_IMPORTS}from tally.core import total\n\n{_HELD.replace('VALUE', wanted)}"
    return (
        [Entry("tally/core.py", FILE, tree.encode())],
        [Entry("test_held.py", FILE, oracle.encode())],
    )
