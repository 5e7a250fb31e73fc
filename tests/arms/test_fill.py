"""Placeholders of an arm's command."""

from stages.arms.installed import fill

VALUES = {"seed": "7", "statement": "say {seed}", "install": "/agent/x"}


def test_what_is_filled_in_is_never_read_again() -> None:
    assert fill("{statement}", VALUES) == "say {seed}"


def test_placeholders_inside_other_braces_are_filled() -> None:
    assert fill('{"a": {seed}, "b": "{install}/y"}', VALUES) == '{"a": 7, "b": "/agent/x/y"}'


def test_unknown_braces_stay_as_they_are() -> None:
    assert fill("{nothing} {", VALUES) == "{nothing} {"
