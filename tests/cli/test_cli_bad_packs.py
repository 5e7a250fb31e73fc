"""What can be wrong with a pack, its tasks and their folders."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.cli.refusals import Case, Damage, parametrised, put, task, text

TASKS = "data/pack/tasks"
ONE = f"{TASKS}/item-0"
WORK = f"{ONE}/workspace"
WORKFILE = f"{WORK}/m_item_0.py"


def _set(section: str, **values: Any) -> Damage:
    return task(lambda value: value[section].update(values))


def _top(**values: Any) -> Damage:
    return task(lambda value: value.update(values))


def _link(name: str, target: str) -> Damage:
    def damage(root: Path) -> None:
        path = root / name
        if path.is_dir():
            shutil.rmtree(path)
        path.unlink(missing_ok=True)
        path.symlink_to(target)

    return damage


def _remove(name: str) -> Damage:
    return lambda root: shutil.rmtree(root / name) if (root / name).is_dir() else (root / name).unlink()


def _move(old: str, new: str) -> Damage:
    return lambda root: (root / TASKS / old).rename(root / TASKS / new)


def _copy(old: str, new: str) -> Damage:
    def damage(root: Path) -> None:
        shutil.copytree(root / TASKS / old, root / TASKS / new)
        text(f"{TASKS}/{new}/task.yaml", f"id: {old}", f"id: {new}")(root)

    return damage


def _only(prefix: str) -> Damage:
    def damage(root: Path) -> None:
        for path in (root / TASKS).iterdir():
            if not path.name.startswith(prefix):
                shutil.rmtree(path)

    return damage


TASK_KEYS = [
    Case(
        "a misspelt key", _top(stratom="left"), (f"{ONE}/task.yaml: stratom", "did you mean 'stratum'?"), process=True
    ),
    Case("a misspelt inner key", _set("oracle", timeout=3), ("oracle.timeout", "did you mean 'timeout_s'?")),
    Case("no allowlist", task(lambda value: value.pop("allow")), (f"{ONE}/task.yaml: allow", "missing")),
    Case("nothing may be written", _set("allow", files_write=[]), ("allow.files_write", "at least 1")),
    Case("a path upwards", _set("allow", files_write=["../x"]), ("allow.files_write.0", "'../x'"), process=True),
    Case("an absolute path", _set("allow", files_write=["a.py", "/etc/x"]), ("allow.files_write.1", "'/etc/x'")),
    Case("a backslash", _set("allow", files_write=["a\\b"]), ("allow.files_write.0", "backslashes")),
    Case("an empty pattern", _set("allow", files_write=[""]), ("allow.files_write.0", "''")),
    Case("a pattern with an empty part", _set("allow", files_write=["a//b"]), ("allow.files_write.0", "'a//b'")),
    Case("a pattern of here", _set("allow", files_write=["./a.py"]), ("allow.files_write.0", "'./a.py'")),
    Case("a pattern of the root", _set("allow", files_write=["/"]), ("allow.files_write.0", "'/'")),
    Case("an unsafe id", _top(id="a/../b"), (f"{ONE}/task.yaml: id", "'a/../b'", "an id")),
    Case("an id of a lock", _top(id="item-0.lock"), (f"{ONE}/task.yaml: id", "an id")),
    Case("a number for a revision", _top(rev=1), (f"{ONE}/task.yaml: rev", "found 1", "string")),
    Case("a statement elsewhere", _top(statement="../item-1/statement.md"), ("task.yaml: statement", "'..'")),
    Case("a pin that is no digest", _top(prompt_sha256="abc"), ("task.yaml: prompt_sha256", "64 lowercase hex")),
    Case("a pin of other text", _top(prompt_sha256="0" * 64), ("task.yaml: prompt_sha256", "pins 0000", "pin it anew")),
    Case("a signature without brackets", _set("interface", signature="a, b"), ("interface.signature", "'a, b'")),
    Case("a signature that is none", _set("interface", signature="(a b)"), ("interface.signature", "such as")),
    Case("a signature with a body", _set("interface", signature="(a) -> int: x = lambda"), ("interface.signature",)),
    Case("a signature with a name twice", _set("interface", signature="(a, a)"), ("interface.signature", "'(a, a)'")),
    Case("a deep signature", _set("interface", signature=f"(a={'-' * 1900}1)"), ("interface.signature",)),
    Case("brackets without end", _set("interface", signature=f"({'(' * 1900})"), ("interface.signature",)),
    Case("a module in two lines", _set("interface", module="a\nb"), ("interface.module", "one line")),
    Case("an open oracle", _set("oracle", hidden=False), ("tasks/item-0/task.yaml: oracle.hidden", "tutorial")),
    Case(
        "a command behind a boundary",
        _set("oracle", kind="command", command=["x"], boundary="process"),
        ("task.yaml: oracle", "boundary 'process'"),
    ),
    Case("a command without its kind", _set("oracle", command=["x"]), ("task.yaml: oracle", "kind 'command'")),
    Case("a time-out of a day", _set("oracle", timeout_s=86400), ("oracle.timeout_s", "3600")),
    Case("an oracle in the workspace", _set("oracle", path="workspace/tests"), ("oracle.path (workspace/tests)",)),
    Case("a workspace in the oracle", _top(source={"path": "oracle"}), ("source.path (oracle)", "their own")),
    Case("a statement in the solution", _top(statement="solution/m_item_0.py"), ("statement (solution/",)),
    Case(
        "an environment",
        _top(environment={"python": "3.11.7"}),
        ("task.yaml: environment.python: found '3.11.7'; expected a version such as '3.11'",),
    ),
    Case(
        "a version for an environment",
        _top(environment="3.11"),
        ("task.yaml: environment: found '3.11'; expected a mapping with python, wheels",),
    ),
    Case(
        "a wheel elsewhere",
        _top(environment={"python": "3.11", "wheels": ["a.whl"]}),
        ("environment.wheels.0", "'wheels/NAME.whl'"),
    ),
    Case("reworded prompts", _top(mutation_budget={"reword_prompt": True}), ("mutation_budget.reword_prompt", "built")),
    Case("a canary of a letter", _top(canaries=["a"]), ("canaries.0", "at least 8")),
]

FOLDERS = [
    Case("no pack", _remove("data/pack"), ("data/pack", "is no folder", "set pack.path"), process=True),
    Case("no pack.yaml", _remove("data/pack/pack.yaml"), ("data/pack/pack.yaml", "doesn't exist")),
    Case("no tasks", _only("nothing"), (TASKS, "holds no task")),
    Case("no folder of tasks", _remove(TASKS), (TASKS, "isn't there")),
    Case("only placebos", _only("placebo"), ("tasks", "only placebos")),
    Case("a stray file", put("data/pack/notes.txt", ""), ("data/pack/notes.txt", "unknown in a pack")),
    Case("a file among tasks", put(f"{TASKS}/notes.txt", ""), (f"{TASKS}/notes.txt", "is no task folder")),
    Case("a stray file in a task", put(f"{ONE}/notes.txt", ""), (f"{ONE}/notes.txt", "unknown in a task folder")),
    Case("a link for the tasks", _link(TASKS, "/tmp"), (TASKS, "is a link")),
    Case("a link among tasks", _link(f"{TASKS}/item-9", "item-0"), (f"{TASKS}/item-9", "is no task folder")),
    Case("an id that isn't the folder's", _move("item-0", "item-9"), ("item-9/task.yaml: id", "found item-0")),
    Case("ids that differ by case", _copy("item-0", "Item-0"), ("/item-0", "the id of Item-0, but for case")),
    Case("no statement", _remove(f"{ONE}/statement.md"), (f"{ONE}/statement.md", "doesn't exist")),
    Case("an empty statement", put(f"{ONE}/statement.md", " \n"), (f"{ONE}/statement.md", "is empty")),
    Case("a huge statement", put(f"{ONE}/statement.md", "x" * 70_000), ("statement.md", "larger than 65,536 bytes")),
    Case("a statement in Latin-1", put(f"{ONE}/statement.md", b"caf\xe9"), ("statement.md", "byte 3 isn't UTF-8")),
    Case("a link for a statement", _link(f"{ONE}/statement.md", "/etc/passwd"), ("statement.md", "is a link")),
    Case("no oracle", _remove(f"{ONE}/oracle"), (f"{ONE}/oracle", "no oracle there"), process=True),
    Case("an empty oracle", _remove(f"{ONE}/oracle/test_oracle.py"), (f"{ONE}/oracle", "no oracle there")),
    Case("a link for an oracle", _link(f"{ONE}/oracle", "workspace"), (f"{ONE}/oracle", "is a link")),
    Case("no workspace", _remove(WORK), (WORK, "isn't there")),
    Case("a file for a workspace", lambda root: (_remove(WORK)(root), put(WORK, "x")(root)), (WORK, "is no folder")),
    Case("a placebo with a solution", put(f"{TASKS}/placebo-0/solution/x.py", ""), ("placebo-0/solution", "a placebo")),
    Case("a wrong solution of no id", put(f"{ONE}/wrong/a b/x.py", ""), (f"{ONE}/wrong/a b", "an id")),
    Case("a file for a wrong solution", put(f"{ONE}/wrong/x.py", ""), (f"{ONE}/wrong/x.py", "is no folder")),
    Case(
        "a folder for an output",
        lambda root: (_remove(p := "data/frozen/plan.json")(root), (root / p).mkdir()),
        ("data/frozen/plan.json", "can't be written", "a folder is in its place"),
    ),
]

FILES = [
    *(
        Case(f"a cache {name}", put(f"{WORK}/{name}", ""), (f"{WORK}/{name}", "a cache, editor or version-control file"))
        for name in (
            *("__pycache__/m.cpython-311.pyc", "m.pyc", ".pytest_cache/x", ".mypy_cache/x", "node_modules/a/x.js"),
            *(".venv/bin/python", "a.egg-info/PKG-INFO", ".coverage", ".ipynb_checkpoints/a.ipynb", "sub/.git/config"),
            *(".GIT/config", ".m.py.swp", "m.py~", "#m.py#", ".DS_Store", ".idea/x", ".vscode/x", "m.py.orig"),
        )
    ),
    Case("a cache in an oracle", put(f"{ONE}/oracle/__pycache__/x.pyc", ""), (f"{ONE}/oracle/__pycache__/x.pyc",)),
    Case("a cache in a solution", put(f"{ONE}/solution/x.pyc", ""), (f"{ONE}/solution/x.pyc", "*.pyc")),
    Case("a pipe", lambda root: os.mkfifo(root / WORK / "pipe"), (f"{WORK}/pipe", "is a special file")),
    Case("a dangling link", _link(f"{WORK}/link", "nowhere"), (f"{WORK}/link", "nowhere, which isn't there")),
    Case("a link to itself", _link(f"{WORK}/link", "link"), (f"{WORK}/link", "which isn't there")),
    Case("an escaping link", _link(f"{WORK}/link", "../oracle"), (f"{WORK}/link", "a link to ../oracle", "stays inside")),
    Case("an absolute link", _link(f"{WORK}/link", "/etc/passwd"), (f"{WORK}/link", "a link to /etc/passwd")),
    Case("a link by a detour", _link(f"{WORK}/link", "tests/../../oracle"), (f"{WORK}/link", "stays inside")),
    Case("a link through a link", lambda root: (_link(f"{WORK}/tests/up", "..")(root), _link(f"{WORK}/link", "tests/up/../oracle")(root)), (f"{WORK}/link", "stays inside")),
    Case("names that differ by case", put(f"{WORK}/M_item_0.py", ""), ("by case or accents only",)),
    Case("folders that differ by case", put(f"{WORK}/Tests/x.py", ""), ("tests", "by case or accents only")),
    Case("names that differ by accents", lambda root: (put(f"{WORK}/caf\u00e9", "")(root), put(f"{WORK}/cafe\u0301", "")(root)), ("by case or accents only",)),
    Case("a name with a line end", put(f"{WORK}/a\nb", ""), (f"{WORK}/a\\nb", "rename it")),
    Case("a name with a backslash", put(f"{WORK}/a\\b", ""), (f"{WORK}/a\\b", "backslashes")),
    Case("a name that isn't UTF-8", lambda root: (Path(os.fsdecode(os.fsencode(root / WORK) + b"/\xff")).touch()), (f"{WORK}/\\udcff", "isn't UTF-8")),
    Case("a long name", put(f"{WORK}/{'a/' * 120}x", ""), (WORK, "can't be frozen")),
    Case("a large file", lambda root: os.truncate(root / WORKFILE, 9_000_000), (WORKFILE, "9,000,000 bytes")),
    Case("large files", lambda root: [put(f"{WORK}/{n}", b"\0" * 8_000_000)(root) for n in range(9)], (WORK, "67,108,864")),
]  # fmt: skip


@parametrised(TASK_KEYS)
def test_a_task_that_says_what_cant_hold_is_refused_in_one_line(case: Case, refuse: Callable[[Case], None]) -> None:
    refuse(case)


@parametrised(FOLDERS)
def test_a_pack_with_parts_missing_or_out_of_place_is_refused_in_one_line(
    case: Case, refuse: Callable[[Case], None]
) -> None:
    refuse(case)


@parametrised(FILES)
def test_files_that_must_not_be_frozen_are_refused_in_one_line(case: Case, refuse: Callable[[Case], None]) -> None:
    refuse(case)
