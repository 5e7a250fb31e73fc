"""The command line itself: help, misuse, explanations, and our own bugs."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from stages import __version__
from stages.cli import app
from stages.contract.findings_of_read import FINDINGS_OF_READ
from stages.gate.reasons import PUBLISHED, REASONS, RULES
from tests.cli.refusals import Ended, spawn
from tests.packs.repositories import commit, git
from tests.support.mini import REPO

COMMANDS = [
    *(str(c.name or c.callback.__name__) for c in app.registered_commands if c.callback),
    *(
        f"{g.name} {c.name}"
        for g in app.registered_groups
        if g.typer_instance
        for c in g.typer_instance.registered_commands
    ),
]
HEAVY = ("pandas", "pyarrow", "scipy", "numpy", "git", "yaml", "dvc")


@pytest.mark.parametrize("command", COMMANDS)
def test_the_help_of_every_command_has_an_example_that_names_it(
    command: str, weighbridge: Callable[[str], Ended]
) -> None:
    ended = weighbridge(f"{command} --help")
    assert ended.code == 0
    assert ended.err == ""
    (example,) = [line.strip() for line in ended.out.splitlines() if line.strip().startswith("Example: ")]
    assert f"weighbridge {command}" in example


def test_help_names_every_command_and_imports_nothing_heavy(tmp_path: Path) -> None:
    code = (
        "import sys\nfrom stages.cli import main\nsys.argv = ['weighbridge', *sys.argv[1:]]\n"
        "try:\n    main()\nfinally:\n    print([m for m in sys.modules if m.split('.')[0] in "
        f"{HEAVY!r}], file=sys.stderr)\n"
    )
    for words in ([], ["freeze"], ["schema"], ["task", "tag"]):
        done = subprocess.run(
            [sys.executable, "-c", code, *words, "--help"],
            cwd=tmp_path,
            env={**os.environ, "PYTHONPATH": str(REPO)},
            capture_output=True,
            text=True,
            check=True,
        )
        assert done.stderr.splitlines()[-1] == "[]"
        if not words:
            assert all(command.split()[0] in done.stdout for command in COMMANDS)


def test_freezing_needs_no_pandas(frozen: Path) -> None:
    code = "import sys\nfrom pathlib import Path\nfrom stages.freeze import freeze\nfreeze(Path())\nprint('pandas' in sys.modules)"
    env = {**os.environ, "PYTHONPATH": str(REPO)}
    done = subprocess.run([sys.executable, "-c", code], cwd=frozen, env=env, capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"


@pytest.mark.parametrize(
    ("command", "word"),
    [
        ("frieze", "Did you mean 'freeze'?"),
        ("freeze --studdy x", "--study"),
        ("freeze more", "more"),
        ("show a", "arm"),
        ("show a candidate first", "repeat"),
        ("task frob", "frob"),
        ("schema", "name"),
        ("schema tusk", "did you mean task?"),
        ("explain placebo_pased", "nearest: placebo_passed"),
        ("self-check --isolation full", "auto, namespaces or none"),
    ],
)
def test_misuse_is_one_line_and_exit_2(command: str, word: str, weighbridge: Callable[[str], Ended]) -> None:
    ended = weighbridge(command)
    assert ended.code == 2
    assert ended.out == ""
    assert ended.err.startswith("weighbridge: ")
    assert ended.err.count("\n") == 1
    assert word in ended.err


@pytest.mark.parametrize("command", ["", "task"])
def test_no_command_prints_the_help_on_stderr(command: str, weighbridge: Callable[[str], Ended]) -> None:
    ended = weighbridge(command)
    assert (ended.code, ended.out) == (2, "")
    assert ended.err.startswith("Usage: weighbridge")


def test_the_version_is_printed(weighbridge: Callable[[str], Ended]) -> None:
    assert weighbridge("--version") == Ended(0, f"{__version__}\n", "")


def test_every_reason_and_rule_is_explained(weighbridge: Callable[[str], Ended]) -> None:
    listed = json.loads(weighbridge("explain --json").out)
    assert [e["id"] for e in listed] == [PUBLISHED, *REASONS, *RULES, *FINDINGS_OF_READ, "not_reached"]
    plain = weighbridge("explain").out
    for entry in listed:
        ended = weighbridge(f"explain {entry['id']}")
        assert ended.code == 0
        assert entry["says"] in ended.out
        assert entry["change"] in ended.out
        assert entry["says"] in plain
        assert json.loads(weighbridge(f"explain {entry['id']} --json").out) == entry


def test_every_schema_is_printed(weighbridge: Callable[[str], Ended]) -> None:
    for name in ("task", "pack", "params", "protocol", "arms", "stamp", "plan", "manifest", "decision"):
        assert json.loads(weighbridge(f"schema {name}").out)["$id"] == f"weighbridge.{name}/1"


def test_our_own_bug_is_exit_70_with_how_to_report_it(
    monkeypatch: pytest.MonkeyPatch, weighbridge: Callable[[str], Ended]
) -> None:
    def broken(_: Path) -> None:
        raise KeyError("a\nb")

    monkeypatch.setattr("stages.freeze.freeze", broken)
    ended = weighbridge("freeze")
    assert ended.code == 70
    first, second = ended.err.splitlines()
    assert first == "weighbridge: internal error, KeyError: 'a\\nb'; this is our bug"
    assert "report" in second
    assert "WEIGHBRIDGE_DEBUG=1" in second
    monkeypatch.setenv("WEIGHBRIDGE_DEBUG", "1")
    with pytest.raises(KeyError):
        weighbridge("freeze")


def test_an_interruption_is_said_and_is_exit_130(
    monkeypatch: pytest.MonkeyPatch, weighbridge: Callable[[str], Ended]
) -> None:
    def interrupted(_: Path) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("stages.freeze.freeze", interrupted)
    assert weighbridge("freeze") == Ended(130, "", "weighbridge: interrupted; finished trials are kept\n")


def test_under_dvc_an_error_says_how_the_outputs_come_back(
    frozen: Path, monkeypatch: pytest.MonkeyPatch, weighbridge: Callable[[str], Ended]
) -> None:
    (frozen / "params.yaml").unlink()
    monkeypatch.setenv("DVC_STAGE", "freeze")
    assert "dvc checkout" in weighbridge("freeze").err


@pytest.mark.parametrize("command", ["explain", "--version", "freeze --help"])
def test_a_reader_that_went_away_is_no_error(command: str, tmp_path: Path) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    done = subprocess.run(
        [sys.executable, "-m", "stages", *command.split()],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(REPO)},
        stdout=writing,
        stderr=subprocess.PIPE,
        check=False,
    )
    os.close(writing)
    assert (done.returncode, done.stderr) == (141, b"")


def test_another_folder_is_named_by_an_option(frozen: Path, tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    ended = spawn(tmp_path / "elsewhere", f"freeze -C {frozen}")
    assert ended.code == 0
    assert ended.err.startswith("frozen: slice ")
    assert not list((tmp_path / "elsewhere").iterdir())


def test_tasks_are_tagged_once_and_an_edit_without_a_new_revision_is_refused(
    frozen: Path, weighbridge: Callable[[str], Ended]
) -> None:
    git(frozen, "init", "--quiet")
    commit(frozen)
    made = weighbridge("task tag item-0 item-1")
    assert made.code == 0
    assert [line.split(" at ")[0] for line in made.out.splitlines()] == ["tasks/item-0/1", "tasks/item-1/1"]
    assert "stands already" in weighbridge("task tag item-0").out
    statement = frozen / "data/pack/tasks/item-0/statement.md"
    statement.write_text("Another statement.\n")
    uncommitted = weighbridge("task tag item-0")
    assert (uncommitted.code, uncommitted.out) == (2, "")
    assert "item-0: has changes that aren't committed" in uncommitted.err
    commit(frozen)
    edited = weighbridge("task tag")
    assert (edited.code, edited.out) == (2, "")
    assert "give the task a new rev" in edited.err
    assert git(frozen, "tag").split() == ["tasks/item-0/1", "tasks/item-1/1"]


def test_without_git_on_the_path_a_tag_is_refused_in_one_line(frozen: Path) -> None:
    ended = spawn(frozen, "task tag", PATH="/nowhere")
    assert ended.code == 2
    assert ended.err == "weighbridge: git: isn't installed; expected git on PATH, for tags and git sources\n"


def test_without_git_doctor_says_what_needs_it(frozen: Path) -> None:
    assert "advice           git isn't on PATH: install it" in spawn(frozen, "doctor", PATH="/nowhere").out


def test_the_help_of_explain_promises_a_change_of_reasons_only(weighbridge: Callable[[str], Ended]) -> None:
    assert "of a reason, what would have to change too" in " ".join(weighbridge("explain --help").out.split())
