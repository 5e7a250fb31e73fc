# wb-canary-dfdd015a
import pytest

from gatekeys.loader import load
from gatekeys.policy import Policy, Role, Rule


@pytest.mark.parametrize("lines", [
    ["r allow report.*", "r deny report.delete"],
    ["r deny report.delete", "r allow report.*"],
    ["r extends base", "r allow report.*", "base deny report.delete"],
    ["r extends base", "r deny report.delete", "base allow report.*"],
    ["r extends a", "a extends b", "a allow *", "b deny *.delete"],
])
def test_deny_wins_wherever_it_stands(lines):
    policy = load(lines)
    assert policy.is_allowed("r", "report.read") is True
    assert policy.is_allowed("r", "report.delete") is False


def test_what_no_rule_covers_is_not_allowed():
    policy = load(["r allow report.*", "r deny report.delete"])
    assert policy.is_allowed("r", "user.read") is False
    assert Policy({"empty": Role()}).is_allowed("empty", "report.read") is False


@pytest.mark.parametrize("pattern", ["report.read", "Report.Read", "REPORT.*", "*.READ"])
@pytest.mark.parametrize("action", ["report.read", "Report.Read", "REPORT.READ"])
def test_capitals_do_not_matter(pattern, action):
    policy = load([f"r allow {pattern}"])
    assert policy.is_allowed("r", action) is True
    assert policy.explain("r", action) == [Rule("allow", pattern)]


def test_capitals_do_not_matter_for_deny():
    policy = load(["r allow *", "r deny Report.Delete"])
    assert policy.is_allowed("r", "report.DELETE") is False
    assert policy.is_allowed("r", "report.write") is True


def test_role_names_are_taken_as_they_are():
    policy = load(["Reader allow report.read"])
    assert policy.is_allowed("Reader", "report.read")
    with pytest.raises(KeyError):
        policy.is_allowed("reader", "report.read")


def test_explain_keeps_order_and_spelling():
    policy = load(["r extends base", "base deny Report.*", "r allow report.READ", "r allow user.*"])
    assert policy.explain("r", "report.read") == [Rule("allow", "report.READ"), Rule("deny", "Report.*")]


def test_roles_that_extend_each_other():
    policy = load(["a extends b", "b extends a", "b allow x"])
    assert policy.is_allowed("a", "X") is True
    assert policy.is_allowed("a", "y") is False
