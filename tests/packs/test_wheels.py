"""Wheels are frozen with their pack, and an archive that could be more than it seems is refused."""

from __future__ import annotations

import stat
import zipfile
from pathlib import Path

import pytest
import yaml

from stages.contract import limits
from stages.contract.errors import InputError, MissingInput
from stages.contract.study import read_files, read_plan, wheels_of
from stages.packs import read_pack
from stages.packs.mutate_write import write_mutated
from tests.support.mini import make_study, stage, task
from tests.support.wheels import archive, wheel


def with_wheel(root: Path, items: list[str], name: str, content: bytes) -> Path:
    pack = root / "data/pack"
    (pack / "wheels").mkdir(exist_ok=True)
    (pack / "wheels" / name).write_bytes(content)
    for item in items:
        number = int(item[-1])
        made = task(item, ("left", "right")[number % 2], "m_" + item.replace("-", "_"))
        made["environment"] = {"python": "3.11", "wheels": [f"wheels/{name}"]}
        (pack / "tasks" / item / "task.yaml").write_text(yaml.safe_dump(made))
    return pack


def test_a_wheel_that_two_tasks_share_is_frozen_once_and_found_by_both(tmp_path: Path) -> None:
    root = make_study(tmp_path / "s", items=3, placebos=1)
    name, content = wheel("inner", {"inner.py": "x = 1\n"})
    with_wheel(root, ["item-0", "item-2"], name, content)
    stage(root, "freeze")
    plan = read_plan(root)
    files = read_files(root, plan)
    assert [key for key in files if key[1] == "wheel"] == [("item-0", "wheel")]
    items = {item.item_id: item for item in plan.items}
    assert [wheels_of(items[name], files) for name in ("item-0", "item-2")] == [{name: content}] * 2
    assert wheels_of(items["item-1"], files) == {}


def test_other_bytes_of_a_wheel_are_another_pack(tmp_path: Path) -> None:
    root = make_study(tmp_path / "s", items=2, placebos=1)
    digests = set()
    for text in ("x = 1\n", "x = 2\n"):
        with_wheel(root, ["item-0"], *wheel("inner", {"inner.py": text}))
        stage(root, "freeze")
        digests.add(read_plan(root).pack_sha256)
    assert len(digests) == 2


def link() -> bytes:
    import io

    stream = io.BytesIO(archive({"a-1.dist-info/RECORD": ""}))
    with zipfile.ZipFile(stream, "a") as made:
        info = zipfile.ZipInfo("way")
        info.external_attr = (stat.S_IFLNK | 0o777) << 16
        made.writestr(info, "/etc/passwd")
    return stream.getvalue()


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("inner.whl", b"", "a wheel's name"),
        ("a-1.0-py3-none-any.whl", b"not a zip", "zip archive"),
        ("a-1.0-py3-none-any.whl", archive({"a.py": ""}), "RECORD"),
        ("a-1.0-py3-none-any.whl", archive({"../a.py": "", "a-1.dist-info/RECORD": ""}), "leave its folder"),
        ("a-1.0-py3-none-any.whl", archive({"/a.py": "", "a-1.dist-info/RECORD": ""}), "leave its folder"),
        ("a-1.0-py3-none-any.whl", archive({"c:/a.py": "", "a-1.dist-info/RECORD": ""}), "leave its folder"),
        ("a-1.0-py3-none-any.whl", archive({"a.pth": "import os", "a-1.dist-info/RECORD": ""}), "execute"),
        ("a-1.0-py3-none-any.whl", archive({"sitecustomize/__init__.py": "", "a-1.dist-info/RECORD": ""}), "execute"),
        ("a-1.0-py3-none-any.whl", archive({"A.py": "", "a.py": "", "a-1.dist-info/RECORD": ""}), "twice"),
        ("a-1.0-py3-none-any.whl", archive({"big": "0" * (6 << 20), "a-1.dist-info/RECORD": ""}), "more than"),
        ("a-1.0-py3-none-any.whl", link(), "a link"),
    ],
    ids=["name", "zip", "record", "up", "absolute", "drive", "pth", "start", "twice", "bomb", "link"],
)
def test_a_wheel_that_is_more_than_it_seems_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, content: bytes, said: str
) -> None:
    monkeypatch.setattr(limits, "MAX_WHEEL_UNPACKED_BYTES", 5 << 20)
    pack = with_wheel(make_study(tmp_path / "s", items=2, placebos=1), ["item-0"], name, content)
    with pytest.raises(InputError, match=said):
        read_pack(pack)


@pytest.mark.parametrize(
    "environment",
    [
        {"python": "python3"},
        {"python": "3.11", "wheels": ["../a.whl"]},
        {"python": "3.11", "wheels": ["wheels/a.tar.gz"]},
        {"python": "3.11", "wheels": ["wheels/none-1.0-py3-none-any.whl"]},
        {"python": "3.11", "wheels": ["wheels/a-1-py3-none-any.whl", "wheels/a-1-py3-none-any.whl"]},
        {"wheels": []},
    ],
)
def test_an_environment_that_says_something_else_is_refused(tmp_path: Path, environment: dict[str, object]) -> None:
    pack = make_study(tmp_path / "s", items=2, placebos=1) / "data/pack"
    made = task("item-0", "left", "m_item_0") | {"environment": environment}
    (pack / "tasks/item-0/task.yaml").write_text(yaml.safe_dump(made))
    with pytest.raises((InputError, MissingInput), match=r"environment|wheel"):
        read_pack(pack)


def test_a_mutated_pack_takes_its_wheels_along_and_a_failed_one_leaves_no_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    name, content = wheel("inner", {"inner.py": "x = 1\n"})
    pack = with_wheel(make_study(tmp_path / "s", items=2, placebos=1), ["item-0"], name, content)
    task = pack / "tasks/item-0"
    with (task / "task.yaml").open("a") as stream:
        stream.write("mutation_budget: {rename_identifiers: true}\n")
    with (task / "workspace/m_item_0.py").open("a") as stream:
        stream.write("\n\ndef _helper() -> int:\n    return 1\n")
    write_mutated(pack, 7, tmp_path / "a/b/out")
    assert (tmp_path / "a/b/out/wheels" / name).read_bytes() == content

    def full(_: object, __: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("stages.packs.mutate_write._write_task", full)
    with pytest.raises(InputError, match="No space left"):
        write_mutated(pack, 7, tmp_path / "c/d/out")
    assert not (tmp_path / "c").exists()
