"""Names that objects from outside a pack may carry, collected from this interpreter.

`python -m tests.packs.outside` adds what this interpreter and pytest know to the table that mutation reads.
"""

from __future__ import annotations

import ast
import importlib
import inspect
import keyword
import types

from stages.packs.mutate_outside import MODULES, TABLE

_UNNAMED = (
    types.GeneratorType,
    types.CoroutineType,
    types.AsyncGeneratorType,
    types.FunctionType,
    types.MethodType,
    types.CodeType,
    types.FrameType,
    types.TracebackType,
)


def names_here() -> set[str]:
    """Every attribute of the modules, of the classes in them, and of their instances as their sources set them."""
    found = {*keyword.kwlist, *keyword.softkwlist}
    for kind in _UNNAMED:
        found |= set(dir(kind))
    for name in sorted(MODULES):
        module = importlib.import_module(name)
        found |= set(dir(module))
        for value in vars(module).values():
            if isinstance(value, type):
                found |= set(dir(value))
        try:
            tree = ast.parse(inspect.getsource(module))
        except (OSError, TypeError):  # built in
            continue
        found |= {n.attr for n in ast.walk(tree) if isinstance(n, ast.Attribute) and isinstance(n.ctx, ast.Store)}
    return {name for name in found if not name.startswith("__") and name.isascii()}


if __name__ == "__main__":
    known = set(TABLE.read_text(encoding="ascii").split()) if TABLE.exists() else set()
    TABLE.write_text("".join(f"{name}\n" for name in sorted(known | names_here())), encoding="ascii")
