import pytest

from gatekeys.loader import load
from gatekeys.policy import Rule


def test_deny_wins_over_allow():
    policy = load(["editor allow report.*", "editor deny report.delete"])
    assert not policy.is_allowed("editor", "report.delete")


def test_capitals_in_the_action_do_not_matter():
    policy = load(["reader allow report.read"])
    assert policy.explain("reader", "Report.Read") == [Rule("allow", "report.read")]
    assert policy.is_allowed("reader", "Report.Read")


def test_pattern_covers_actions():
    policy = load(["editor allow report.*"])
    assert policy.is_allowed("editor", "report.write")


def test_rules_are_inherited():
    policy = load(["editor extends reader", "reader allow report.read"])
    assert policy.is_allowed("editor", "report.read")
    assert policy.explain("editor", "report.read") == [Rule("allow", "report.read")]


def test_denied_only():
    assert not load(["guest deny *"]).is_allowed("guest", "report.read")


def test_unknown_role():
    with pytest.raises(KeyError):
        load([]).is_allowed("nobody", "report.read")
