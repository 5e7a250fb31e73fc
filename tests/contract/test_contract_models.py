"""What people write is read as YAML 1.2 and refused where it isn't what the models say."""

from __future__ import annotations

import json
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stages.contract.arm import Arm
from stages.contract.digest import canonical
from stages.contract.errors import InputError, one_line
from stages.contract.protocol import Params
from stages.contract.task import Interface, Task
from stages.contract.text import parse_json
from stages.contract.types import check_glob, check_id, check_path, plain, validate
from stages.contract.yamlfile import parse_yaml
from tests.support import mini

# YAML 1.2, core schema (10.3.2); what YAML 1.1 takes for switches, octals, times and dates is text or decimal.
YAML = [
    ("yes", "yes"),
    ("off", "off"),
    ("0o17", 15),
    ("017", 17),
    ("0xff", 255),
    ("+12", 12),
    ("1_000", "1_000"),
    ("12:30:45", "12:30:45"),
    ("2026-01-01", "2026-01-01"),
    ("~", None),
    ("", None),
    ("True", True),
    ("tRUE", "tRUE"),
    ("1.50", Decimal("1.50")),
    (".5", Decimal("0.5")),
    ("1e3", Decimal("1000")),
    ("0.1000000000000000055511151231257827", Decimal("0.1000000000000000055511151231257827")),
    ("=", "="),
    ("'12'", "12"),
    ("a\r\n  b", "a b"),
]


@pytest.mark.parametrize(("text", "value"), YAML)
def test_yaml_is_read_by_the_core_schema_of_1_2(text: str, value: object) -> None:
    assert parse_yaml("f", f"key: {text}\r\n") == {"key": value}
    assert type(parse_yaml("f", f"key: {text}\n")["key"]) is type(value)


@settings(deadline=None)
@given(st.text(max_size=60) | st.text("&*!|>{}[],:-?#%@`'\" \n\tabc01.", max_size=60))
def test_whatever_the_text_yaml_gives_plain_data_or_one_line(text: str) -> None:
    try:
        said = json.dumps(parse_yaml("f", text), default=str)
    except InputError as error:
        said = str(error)
    assert "\n" not in said


@settings(deadline=None)
@given(st.text(max_size=60) | st.text('{}[],:"\\u0dD8eE+-.19 \n', max_size=60))
def test_whatever_the_text_json_gives_what_has_a_canonical_form_or_one_line(text: str) -> None:
    try:
        said = canonical(parse_json("f", text.encode("utf-8", "surrogatepass"))).decode()
    except InputError as error:
        said = str(error)
    assert "\n" not in said


@pytest.mark.parametrize(
    "text", ['"\\ud800"', '{"\\uDC00": 1}', "1e400", "9007199254740992", '{"a": 1, "a": 1}', "-Infinity"]
)
def test_json_that_readers_dont_agree_on_is_refused(text: str) -> None:
    with pytest.raises(InputError):
        parse_json("f", text.encode())


def test_json_keeps_what_readers_agree_on() -> None:
    assert parse_json("f", b'{"a": ["\\ud83d\\ude00", 9007199254740991, -0.5]}') == {
        "a": ["\U0001f600", 2**53 - 1, -0.5]
    }


SIGNATURES = [
    "()",
    "(a, b: int = 3, /, *, key: str = ')', **rest) -> dict[str, list[int]]",
    "async (a: int) -> bytes",
    "(self, *args: object)",
    "(value: 'Forward' = None) -> 'Forward'",
    "(f=lambda x: (x, x)) -> None",
]


@pytest.mark.parametrize("text", SIGNATURES)
def test_a_signature_that_is_frozen_is_one_that_the_ledger_reads(text: str) -> None:
    from stages.assumptions.signature import signature

    found = validate(Interface, {"module": "m", "function": "f", "signature": text}, "f")
    assert signature(found.signature) is not None


@pytest.mark.parametrize(
    "text",
    ["a", "(a", "(a))", "(1)", "(a=1, b)", "(a) ->", "(a) -> x: pass", "(a): pass; x: (1)", "(a)\n", "def f(a)", "asyn (a)", "async(a)", "(*, **a)", "(a, *, a)", "(a) -> int # note"],
)  # fmt: skip
def test_what_is_no_signature_isnt_frozen(text: str) -> None:
    with pytest.raises(InputError, match="f: signature"):
        validate(Interface, {"module": "m", "function": "f", "signature": text}, "f")


@pytest.mark.parametrize("pattern", ["a.py", "src/**", "src/", "*/x-*.py", "**", "a?b[c]", ".github/x"])
def test_a_pattern_that_is_frozen_is_one_that_the_ledger_takes(pattern: str) -> None:
    from stages.assumptions import matches

    assert check_glob(pattern) == pattern
    matches([pattern], "src/x.py")


@settings(deadline=None)
@given(st.text("ab/.*\\ \n", max_size=8))
def test_whatever_the_pattern_freeze_refuses_what_the_ledger_would(pattern: str) -> None:
    from stages.assumptions import matches

    try:
        check_glob(pattern)
    except ValueError:
        return
    matches([pattern], "a/b")


@pytest.mark.parametrize(
    "value", ["", ".", "..", "-a", ".a", "a..b", "a.", "a.lock", "a/b", "a b", "é", "a\n", "x" * 101]
)
def test_an_id_that_is_no_safe_name_of_a_file_and_a_tag_is_refused(value: str) -> None:
    with pytest.raises(ValueError):
        check_id(value)


@pytest.mark.parametrize("value", ["a", "0", "a.b-c_d", "A" * 100])
def test_an_ordinary_id_is_taken(value: str) -> None:
    assert check_id(value) == value


@pytest.mark.parametrize("value", ["", "/a", "a/", "a//b", "../a", "a/..", "./a", "a\\b", "a\0", "a\u202eb", "x" * 241])
def test_a_path_that_may_leave_its_folder_or_hide_is_refused(value: str) -> None:
    with pytest.raises(ValueError):
        check_path(value)


def test_every_default_of_the_parameters_is_what_is_printed_on_the_label() -> None:
    arm = {"name": "a", "version": "1", "command": ["x"]}
    made = plain(validate(Params, {"arms": {"candidate": arm, "control": arm}}, "f"))["protocol"]
    wanted = {
        "alpha": "0.05",
        "min_detectable_effect": "0.05",
        "max_excluded_share": "0.05",
        "trial_budget": 3,
        "time_budget_s": 120,
        "min_kept_items": 20,
        "min_stratum_items": 5,
        "strata_weights": "equal",
    }
    assert {key: made[key] for key in wanted} == wanted


def test_parameters_written_out_read_back_as_the_same() -> None:
    value: dict[str, Any] = mini.params(protocol={"strata_weights": {"left": "1/3", "right": "2/3"}})
    made = validate(Params, value, "f")
    assert validate(Params, plain(made), "f") == made


def test_a_task_written_out_reads_back_as_the_same(tmp_path: Path) -> None:
    made = validate(Task, mini.task("item", "left", "m"), tmp_path)
    assert validate(Task, plain(made), tmp_path) == made


@pytest.mark.parametrize("text", ["a\nb", "\x1b[31m", "\u202e", "\udcff", "x" * 1000])
def test_hostile_text_is_one_printable_bounded_line(text: str) -> None:
    line = one_line(text)
    assert line.isprintable()
    assert 0 < len(line) <= 300


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"session": {"provider": "openai", "upstream": "https://h:99999/v1"}}, "a port from 1 to 65535"),
        ({"session": {"provider": "openai", "upstream": "https://u:hunter2@h/v1"}}, "…@h/v1"),
        ({"variables": {"TOKEN": "sk-proj-0123456789abcdef"}}, "no key in TOKEN"),
        ({"session": {"provider": "openai", "key_env": "KEY"}, "variables": {"KEY": "x"}}, "no key in KEY"),
    ],
)
def test_an_arm_freezes_no_key_and_no_impossible_address(change: dict[str, Any], words: str) -> None:
    with pytest.raises(InputError) as refused:
        validate(Arm, {"name": "a", "version": "1", "command": ["a"], **change}, "params.yaml")
    assert words in str(refused.value)
    assert "hunter2" not in str(refused.value)
    assert "0123456789abcdef" not in str(refused.value)
