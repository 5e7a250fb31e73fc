"""Bad input through the real command line: one line, exit 2, nothing written."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import yaml

from stages import cli
from tests.support.sample import sampled

Damage = Callable[[Path], object]


@dataclass(frozen=True)
class Case:
    """A frozen study is damaged, a command called; its line must hold every one of `words`."""

    name: str
    damage: Damage
    words: tuple[str, ...]
    command: str = "freeze"
    process: bool = False  # by a subprocess instead of in this one


def parametrised(cases: list[Case]) -> pytest.MarkDecorator:
    """The cases under their names."""
    return pytest.mark.parametrize("case", sampled(cases, 2, (case.name.replace(" ", "-") for case in cases)))


def snapshot(root: Path) -> dict[str, tuple[int, int, bytes | str]]:
    """Every file, link and folder below a folder with mode, time of change, and content."""
    found: dict[str, tuple[int, int, bytes | str]] = {}
    for folder, folders, files in os.walk(root):
        for name in folders + files:
            path = Path(folder, name)
            status = path.lstat()
            held: bytes | str = os.readlink(path) if path.is_symlink() else path.read_bytes() if path.is_file() else ""
            found[str(path.relative_to(root))] = (status.st_mode, 0 if path.is_dir() else status.st_mtime_ns, held)
    return found


@dataclass(frozen=True)
class Ended:
    code: int
    out: str
    err: str


def call(monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str], root: Path, command: str) -> Ended:
    """A command in this process, called from the study's folder."""
    capfd.readouterr()
    monkeypatch.chdir(root)
    monkeypatch.setattr(sys, "argv", ["weighbridge", *command.split()])
    with pytest.raises(SystemExit) as ended:
        cli.main()
    seen = capfd.readouterr()
    assert isinstance(ended.value.code, int)
    return Ended(ended.value.code, seen.out, seen.err)


def spawn(root: Path, command: str, **env: str) -> Ended:
    """A command in a process of its own."""
    done = subprocess.run(
        [sys.executable, "-m", "stages", *command.split()],
        cwd=root,
        env={**os.environ, "PYTHONPATH": str(Path(cli.__file__).parents[1]), **env},
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    return Ended(done.returncode, done.stdout, done.stderr)


def assert_refused(root: Path, case: Case, run: Callable[[str], Ended]) -> None:
    """The case's command says one line with every word, ends with 2, and leaves each file as it was."""
    case.damage(root)
    before = snapshot(root)
    ended = run(case.command)
    assert ended.err.startswith("weighbridge: "), ended.err
    assert ended.err.count("\n") == 1, ended.err
    assert ended.code == 2, ended.err
    for word in case.words:
        assert word in ended.err, f"{word!r} isn't in {ended.err}"
    assert len(ended.err) < 1600
    assert ended.out == ""
    assert snapshot(root) == before


def params(change: Callable[[dict[str, Any]], object]) -> Damage:
    """Parameters as data, changed and written again."""

    def damage(root: Path) -> None:
        value = yaml.safe_load((root / "params.yaml").read_text())
        change(value)
        (root / "params.yaml").write_text(yaml.safe_dump(value, sort_keys=False))

    return damage


def protocol(**values: Any) -> Damage:
    """Keys of the protocol set."""
    return params(lambda value: value["protocol"].update(values))


def candidate(**values: Any) -> Damage:
    """Keys of the candidate set."""
    return params(lambda value: value["arms"]["candidate"].update(values))


def task(change: Callable[[dict[str, Any]], object], item: str = "item-0") -> Damage:
    """A task as data, changed and written again."""

    def damage(root: Path) -> None:
        path = root / "data/pack/tasks" / item / "task.yaml"
        value = yaml.safe_load(path.read_text())
        change(value)
        path.write_text(yaml.safe_dump(value, sort_keys=False))

    return damage


def text(name: str, old: str, new: str) -> Damage:
    """One replacement in a file of the study."""

    def damage(root: Path) -> None:
        path = root / name
        before = path.read_text()
        assert old in before
        path.write_text(before.replace(old, new, 1))

    return damage


def put(name: str, data: bytes | str) -> Damage:
    """A file of the study with this content."""

    def damage(root: Path) -> None:
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data.encode() if isinstance(data, str) else data)

    return damage
