"""Files of predictions: what is read, what is refused in one line, and what freeze makes of them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from stages.contract.arm import Arm, Arms
from stages.contract.digest import digest, sha256
from stages.contract.errors import InputError, MissingInput
from stages.contract.predictions import digested, read_predictions
from stages.contract.protocol import Params
from stages.contract.schemas import json_schema
from stages.contract.types import plain, validate
from tests.support.mini import params, write
from tests.support.replays import arm, jsonl, rows

COMMAND: dict[str, Any] = {"name": "a", "version": "1", "command": ["x"]}


def made(text: str, root: Path, name: str = "p.jsonl") -> Arm:
    write(root / name, text)
    return validate(Arm, arm("theirs", name), "params.yaml: arms.candidate")


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("p.jsonl", jsonl(rows([("a__b-1", "x"), ("c", None)]))),
        ("p.jsonl", "\r\n" + jsonl(rows([("a__b-1", "x"), ("c", "")])).replace("\n", "\r\n").strip()),
        ("deep/p.json", json.dumps(rows([("a__b-1", "x"), ("c", None)]), indent=2)),
        ("p.json", json.dumps({"a__b-1": {"model_patch": "x"}, "c": {"model_patch": "", "instance_id": "c"}})),
    ],
)
def test_every_form_gives_the_same_patches(tmp_path: Path, name: str, text: str) -> None:
    found = read_predictions(tmp_path, made(text, tmp_path, name))
    assert found.patches == {("a__b-1", None): b"x", ("c", None): b""}
    assert found.sha256 == sha256((tmp_path / name).read_bytes())
    assert [found.patch(item, 0) for item in ("a__b-1", "c", "d")] == [b"x", b"", None]


def test_numbered_repeats_are_apart(tmp_path: Path) -> None:
    found = read_predictions(tmp_path, made(jsonl(rows([("a", 0, "x"), ("a", 2, "y")])), tmp_path))
    assert [found.patch("a", n) for n in range(4)] == [b"x", None, b"y", None]


ONE = {"instance_id": "a", "model_patch": "x"}


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "p.jsonl: holds no prediction"),
        ("[]", "p.jsonl: line 1: a list"),
        ('{"instance_id": "a"', "p.jsonl: line 1: can't be read as JSON"),
        (jsonl([ONE, ONE]), "p.jsonl: line 2: a stands twice"),
        (jsonl([ONE, ONE | {"repeat": 1}]), "p.jsonl: line 2: a with and without a repeat"),
        (jsonl([ONE | {"repeat": -1}]), "p.jsonl: line 1: repeat: found -1"),
        (jsonl([ONE | {"repeat": True}]), "p.jsonl: line 1: repeat: found True"),
        (jsonl([ONE | {"repeat": 1.0}]), "p.jsonl: line 1: repeat: found 1.0"),
        (jsonl([ONE | {"model_patch": ["x"]}]), "p.jsonl: line 1: model_patch: found a list"),
        (jsonl([{"instance_id": "a"}]), "p.jsonl: line 1: has no instance_id or no model_patch"),
        (jsonl([ONE | {"instance_id": 7}]), "p.jsonl: line 1: has no instance_id or no model_patch"),
        (
            jsonl([ONE | {"model_name_or_path": "m"}, ONE | {"instance_id": "b", "model_name_or_path": "n"}]),
            "p.jsonl: line 2: predictions of m and n",
        ),
        ('{"instance_id": "a", "model_patch": "\\ud800"}', "p.jsonl: line 1: can't be read as JSON"),
    ],
)
def test_a_file_that_isnt_sound_is_refused_by_its_line(tmp_path: Path, text: str, says: str) -> None:
    with pytest.raises(InputError) as refused:
        read_predictions(tmp_path, made(text, tmp_path))
    assert str(refused.value).startswith(says)
    assert "\n" not in str(refused.value)


def test_a_document_of_another_shape_is_refused(tmp_path: Path) -> None:
    for text, says in (("7", "p.json: holds a number"), ('{"a": "x"}', "p.json: a: text"), ("{}", "p.json: holds no")):
        with pytest.raises(InputError, match=f"^{says}"):
            read_predictions(tmp_path, made(text, tmp_path, "p.json"))
    with pytest.raises(InputError, match=r"^p\.json: a: stands under another instance_id"):
        read_predictions(tmp_path, made(json.dumps({"a": ONE | {"instance_id": "b"}}), tmp_path, "p.json"))
    with pytest.raises(InputError, match=r"^p\.txt: ends in neither"):
        read_predictions(tmp_path, made(jsonl([ONE]), tmp_path, "p.txt"))


def test_a_file_outside_or_absent_is_refused(tmp_path: Path) -> None:
    study = tmp_path / "study"
    outside = made(jsonl([ONE]), tmp_path)
    study.mkdir()
    with pytest.raises(MissingInput, match="doesn't exist"):
        read_predictions(study, outside)
    (study / "p.jsonl").symlink_to(tmp_path / "p.jsonl")
    with pytest.raises(InputError, match=r"^p\.jsonl: leads out of the study's folder"):
        read_predictions(study, outside)


def study(root: Path, found: list[dict[str, Any]], budget: int, **more: str) -> Params:
    write(root / "p.jsonl", jsonl(found))
    said = params(protocol={"trial_budget": budget})
    said["arms"]["candidate"] = arm("theirs", "p.jsonl") | more
    return validate(Params, json.loads(json.dumps(said), parse_float=str), "params.yaml")


def test_the_digest_is_filled_in_and_names_another_study_for_other_bytes(tmp_path: Path) -> None:
    one = digested(tmp_path, study(tmp_path, [ONE], 1), ["a", "b"])
    assert one.arms.candidate.patches_sha256 == sha256((tmp_path / "p.jsonl").read_bytes())
    two = digested(tmp_path, study(tmp_path, [ONE | {"model_patch": "y"}], 1), ["a", "b"])
    assert digest(plain(one.arms)) != digest(plain(two.arms))
    assert plain(one.arms.candidate).keys() == {"name", "version", "kind", "patches", "patches_sha256"}


@pytest.mark.parametrize(
    ("found", "budget", "says"),
    [
        ([ONE], 2, "p.jsonl: a: one patch, and trial_budget is 2: it would be its own repeat"),
        ([ONE | {"repeat": 1}, ONE | {"repeat": 2}], 2, "p.jsonl: a: repeat 2; expected 0 to 1"),
        ([ONE | {"instance_id": "z"}], 1, "p.jsonl: names no item of the pack"),
    ],
)
def test_freeze_refuses_what_no_study_could_replay(
    tmp_path: Path, found: list[dict[str, Any]], budget: int, says: str
) -> None:
    with pytest.raises(InputError) as refused:
        digested(tmp_path, study(tmp_path, found, budget), ["a"])
    assert str(refused.value).startswith(says)


def test_a_pinned_digest_is_held(tmp_path: Path) -> None:
    pinned = study(tmp_path, [ONE], 1, patches_sha256="0" * 64)
    with pytest.raises(InputError, match=r"^p\.jsonl: sha256 .*; expected 0000000000000000, as it was fixed"):
        digested(tmp_path, pinned, ["a"])


@pytest.mark.parametrize(
    ("keys", "says"),
    [
        ({"kind": "patches", "patches": "p.jsonl", "command": ["x"]}, "no command with kind patches"),
        ({"kind": "patches", "patches": "p.jsonl", "model": "m"}, "no model with kind patches"),
        ({"kind": "patches", "patches": "p.jsonl", "paid": True}, "no paid with kind patches"),
        ({"kind": "patches"}, "arm.patches: missing"),
        ({"kind": "patches", "patches": "../p.jsonl"}, "arm.patches: found '../p.jsonl'"),
        ({"command": ["x"], "patches": "p.jsonl"}, "no patches with kind command"),
        ({"command": ["x"], "patches_sha256": "0" * 64}, "patches_sha256: only with kind patches"),
        ({}, "arm.command: missing"),
        ({"command": []}, "arm.command: found []; expected at least 1 word, the program"),
        ({"kind": "diffs", "command": ["x"]}, "arm.kind: found 'diffs'; expected 'command' or 'patches'"),
    ],
)
def test_keys_of_one_kind_dont_go_with_the_other(keys: dict[str, Any], says: str) -> None:
    with pytest.raises(InputError) as refused:
        validate(Arm, {"name": "a", "version": "1", **keys}, "arm")
    assert says in str(refused.value).replace("arm: ", "arm.")


def test_an_agent_may_not_be_installed_over_the_patches_of_the_other() -> None:
    for path in ("p", "p/q", "p/q/r.jsonl"):
        with pytest.raises(InputError, match="install_paths"):
            validate(Arms, {"candidate": COMMAND | {"install_paths": [path]}, "control": arm("b", "p/q/r.jsonl")}, "x")
    validate(Arms, {"candidate": COMMAND | {"install_paths": ["p/qq"]}, "control": arm("b", "p/q")}, "x")


def test_a_command_is_dumped_as_ever() -> None:
    dumped = plain(validate(Arm, COMMAND, "arm"))
    assert dumped == {
        **COMMAND,
        **{"kind": "command", "version_command": None, "install_paths": [], "env": [], "variables": {}},
        **{"model": None, "temperature": None, "seed": None, "session": None, "paid": False},
    }


def test_the_schema_asks_for_what_a_kind_needs() -> None:
    import jsonschema

    validator = jsonschema.Draft202012Validator(json_schema("arms"))
    good = {"candidate": COMMAND, "control": arm("b", "p.jsonl")}
    assert validator.is_valid(good)
    for broken in (
        {"name": "a", "version": "1"},
        arm("b", "p") | {"command": ["x"]},
        {"name": "a", "version": "1", "kind": "patches"},
    ):
        assert not validator.is_valid(good | {"candidate": broken})
