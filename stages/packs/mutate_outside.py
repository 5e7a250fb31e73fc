"""What isn't a pack's to rename: names that objects from outside carry.

The table beside this module holds every attribute that the modules below, their classes and their instances have in
the Python versions that we run on, so that what is renamed depends on no interpreter. A task that imports anything
else from outside keeps all members of its classes.
"""

from __future__ import annotations

import builtins
import sys
from functools import cache
from pathlib import Path


def _set(text: str) -> frozenset[str]:
    return frozenset(text.split())


TABLE = Path(__file__).with_name("outside_names.txt")
MODULES = _set(
    """
    __future__ _pytest._code _pytest.capture _pytest.legacypath _pytest.logging _pytest.monkeypatch abc argparse
    array base64 bisect builtins calendar collections collections.abc concurrent.futures concurrent.futures.process
    concurrent.futures.thread contextlib contextvars copy csv dataclasses datetime decimal difflib enum errno
    fnmatch fractions functools glob graphlib gzip hashlib heapq hmac html io itertools json json.decoder
    json.encoder logging math numbers operator os os.path pathlib posixpath pprint pytest queue random re secrets
    shutil stat statistics string struct subprocess sys tempfile textwrap threading time tomllib traceback types
    typing unicodedata urllib.parse uuid warnings weakref zlib zoneinfo
    """
)

BASES = _set(
    """
    object Exception BaseException ArithmeticError AssertionError AttributeError BufferError EOFError FloatingPointError
    ImportError IndexError KeyError LookupError NameError NotImplementedError OSError OverflowError PermissionError
    RuntimeError StopIteration TimeoutError TypeError UnicodeError ValueError Warning UserWarning ZeroDivisionError
    dict list set frozenset tuple str bytes int float ABC Protocol Generic NamedTuple
    """
)
"""Outside bases that look up no member by a computed name; what they hold is in the table."""

PLAIN_BASES = frozenset({"object", "ABC", "Protocol", "Generic", "NamedTuple"})
"""Bases whose constructors take no keyword of their own."""

DECORATORS = _set(
    """
    abstractmethod asynccontextmanager cache cached_property classmethod contextmanager dataclass final lru_cache
    overload override property runtime_checkable singledispatch staticmethod total_ordering wraps
    """
)
"""Outside decorators that look at no name of what they decorate."""

EVERYTHING = frozenset({"eval", "exec", "compile", "locals", "__import__", "f_locals", "_getframe", "import_module"})
"""Ways to reach any name, local ones too, by text."""

HIDDEN = frozenset({"f_locals", "_getframe", "import_module"})
"""Those of them that are members."""

BY_NAME = _set(
    """
    getattr setattr hasattr delattr attrgetter methodcaller __getattribute__ __setattr__ __delattr__
    """
)
"""Functions that reach a member by text, which may be computed."""

HOOKS = frozenset({"__getattr__", "__getattribute__", "__setattr__", "__delattr__", "__dir__"})
"""Methods by which a class answers for members that nobody wrote."""

BUILTINS = frozenset(dir(builtins)) | {"PythonFinalizationError"}
"""Names that are there without an import, whatever else may bind them. The last came with Python 3.13."""

STANDARD = frozenset(sys.stdlib_module_names)
"""Modules that come before a pack's own of the same name."""

MEMBERS = _set(
    """
    vars dir globals asdict fields getmembers signature get_type_hints make_dataclass getsource __dict__ __name__
    __qualname__ __annotations__ __dataclass_fields__ __members__ _asdict _fields inspect importlib pickle shelve
    marshal copyreg runpy gc pydoc
    """
)
"""Ways to list names of members and definitions, or to make data of them."""


@cache
def outside_names() -> frozenset[str]:
    """Attributes that an object from outside may have."""
    return _set(TABLE.read_text(encoding="ascii"))
