"""Canonical JSON, digests and exact numbers."""

from __future__ import annotations

import hashlib
import json
import struct
from decimal import Decimal
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stages.contract.digest import canonical, canonical_texts, digest, pretty, rational, rational_text

# RFC 8785, appendix B: the bits of a double and its one text.
RFC_NUMBERS = """
0000000000000000 0
8000000000000000 0
0000000000000001 5e-324
8000000000000001 -5e-324
7fefffffffffffff 1.7976931348623157e+308
ffefffffffffffff -1.7976931348623157e+308
4340000000000000 9007199254740992
c340000000000000 -9007199254740992
4430000000000000 295147905179352830000
44b52d02c7e14af5 9.999999999999997e+22
44b52d02c7e14af6 1e+23
44b52d02c7e14af7 1.0000000000000001e+23
444b1ae4d6e2ef4e 999999999999999700000
444b1ae4d6e2ef4f 999999999999999900000
444b1ae4d6e2ef50 1e+21
3eb0c6f7a0b5ed8c 9.999999999999997e-7
3eb0c6f7a0b5ed8d 0.000001
41b3de4355555553 333333333.3333332
41b3de4355555554 333333333.33333325
41b3de4355555555 333333333.3333333
41b3de4355555556 333333333.3333334
41b3de4355555557 333333333.33333343
becbf647612f3696 -0.0000033333333333333333
43143ff3c1cb0959 1424953923781206.2
"""


@pytest.mark.parametrize(("bits", "text"), [line.split() for line in RFC_NUMBERS.split("\n") if line])
def test_numbers_are_written_as_the_rfc_writes_them(bits: str, text: str) -> None:
    (value,) = struct.unpack(">d", bytes.fromhex(bits))
    assert canonical(value).decode() == text


def test_the_example_of_the_rfc_has_its_canonical_form() -> None:
    # RFC 8785, 3.2.2 and 3.2.3.
    given_text = (
        r'{"numbers": [333333333.33333329, 1E30, 4.50, 2e-3, 0.000000000000000000000000001],'
        r'"string": "\u20ac$\u000F\u000aA\u0027\u0042\u0022\u005c\\\"\/", "literals": [null, true, false]}'
    )
    expected = (
        '{"literals":[null,true,false],"numbers":[333333333.3333333,1e+30,4.5,0.002,1e-27],'
        '"string":"€$\\u000f\\nA\'B\\"\\\\\\\\\\"/"}'
    )
    assert canonical(json.loads(given_text)) == expected.encode()


def test_keys_are_sorted_by_utf_16_as_in_the_rfc() -> None:
    # RFC 8785, 3.2.3: by code points the emoji would come last.
    order = ["\r", "1", "\u0080", "ö", "€", "\U0001f600", "\ufb33"]
    made = json.loads(canonical(dict.fromkeys(sorted(order), 0)))
    assert list(made) == order


@pytest.mark.parametrize("value", [float("nan"), float("inf"), -float("inf"), 2**53, -(2**53), "\ud800", {1: 2}])
def test_what_has_no_canonical_form_is_refused(value: object) -> None:
    with pytest.raises(ValueError):
        canonical(value)
    with pytest.raises(ValueError):
        pretty({"a": [value]})


def test_a_digest_is_sha256_of_the_canonical_bytes() -> None:
    value = {"b": [1, 2.5, None], "a": "é"}
    assert digest(value) == hashlib.sha256('{"a":"é","b":[1,2.5,null]}'.encode()).hexdigest()
    assert digest({"a": "é", "b": [1, 2.5, None]}) == digest(value)


def test_pretty_json_ends_in_one_newline_and_reads_back() -> None:
    value = {"b": {"d": 1, "c": "é"}, "a": []}
    text = pretty(value).decode()
    assert text == '{\n  "a": [],\n  "b": {\n    "c": "é",\n    "d": 1\n  }\n}\n'
    assert json.loads(text) == value


@settings(deadline=None)
@given(st.fractions(-(10**12), 10**12, max_denominator=10**15))
def test_a_rational_comes_back_from_its_text(value: Fraction) -> None:
    assert rational(rational_text(value)) == value


@settings(deadline=None)
@given(st.integers(-(10**40) + 1, 10**40 - 1), st.integers(0, 40))
def test_a_decimal_of_forty_digits_comes_back_from_its_text(number: int, places: int) -> None:
    value = Fraction(number, 10**places)
    text = rational_text(value)
    assert rational(text) == value
    assert "/" not in text
    assert Fraction(text) == value


@settings(deadline=None)
@given(st.integers(-(10**40) + 1, 10**40 - 1), st.integers(1, 10**40))
def test_whatever_is_read_can_be_written_and_read_again(top: int, bottom: int) -> None:
    try:
        value = rational(f"{top}/{bottom}")
    except ValueError:
        assert bottom == 10**40  # 41 digits
    else:
        assert rational(rational_text(value)) == value == Fraction(top, bottom)


@settings(deadline=None)
@given(st.integers(0, 10**6), st.integers(0, 12), st.integers(0, 8))
def test_equal_numbers_have_one_text_whatever_their_spelling(number: int, places: int, zeros: int) -> None:
    plain = Decimal(number).scaleb(-places)
    spellings = [plain, f"{plain:f}", f"{plain:f}" + ("." if places == 0 else "") + "0" * zeros, f"{number}e-{places}"]
    assert len({rational_text(rational(spelling)) for spelling in spellings}) == 1


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0, "0"),
        ("-0", "0"),
        (100, "100"),
        ("0.050", "0.05"),
        ("1/3", "1/3"),
        ("2/4", "0.5"),
        (0.1, "0.1"),
        ("-7/4", "-1.75"),
    ],
)
def test_a_rational_has_this_text(value: object, text: str) -> None:
    assert rational_text(rational(value)) == text


def test_a_power_of_two_too_fine_for_a_decimal_is_a_ratio() -> None:
    assert rational_text(Fraction(1, 2**40)) == f"{Decimal(1) / Decimal(2**40):f}"
    assert rational_text(Fraction(1, 2**41)) == f"1/{2**41}"


@pytest.mark.parametrize(
    "value", [True, None, [], "", "x", "1/", "/2", "1//2", "1e41", "1e-41", "9" * 41, "0x1", "1 2"]
)
def test_what_is_no_exact_number_is_refused(value: object) -> None:
    with pytest.raises(ValueError):
        rational(value)


@given(st.recursive(st.text(st.characters(exclude_categories=["Cs"])) | st.integers(-(2**53) + 1, 2**53 - 1), st.lists))
def test_nested_lists_of_texts_have_one_canonical_form(value: Any) -> None:
    listed = value if isinstance(value, list) else [value]
    assert canonical_texts(listed) == canonical(listed)
