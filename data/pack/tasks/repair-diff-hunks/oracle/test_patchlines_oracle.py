# wb-canary-1c85994c
import pytest

from patchlines.hunks import group_hunks
from patchlines.patch import patch, render
from patchlines.script import edit_script

OLD = [f"line {number}" for number in range(1, 41)]


def changed(*numbers):
    return [text + "!" if index + 1 in numbers else text for index, text in enumerate(OLD)]


def headers(new, context):
    return [hunk.header for hunk in group_hunks(edit_script(OLD, new), context)]


@pytest.mark.parametrize("context, second, expected", [
    (3, 17, ["@@ -7,14 +7,14 @@"]),
    (3, 18, ["@@ -7,7 +7,7 @@", "@@ -15,7 +15,7 @@"]),
    (2, 15, ["@@ -8,10 +8,10 @@"]),
    (2, 16, ["@@ -8,5 +8,5 @@", "@@ -14,5 +14,5 @@"]),
    (1, 13, ["@@ -9,6 +9,6 @@"]),
    (1, 14, ["@@ -9,3 +9,3 @@", "@@ -13,3 +13,3 @@"]),
])
def test_joined_up_to_twice_the_context(context, second, expected):
    assert headers(changed(10, second), context) == expected


def test_chain_of_changes_is_one_hunk():
    assert headers(changed(5, 9, 14, 20, 26), 3) == ["@@ -2,28 +2,28 @@"]
    assert headers(changed(5, 9, 14, 20, 30), 3) == ["@@ -2,22 +2,22 @@", "@@ -27,7 +27,7 @@"]


def test_without_context():
    hunks = group_hunks(edit_script(OLD, changed(3, 5, 6)), 0)
    assert render(hunks).splitlines() == [
        "@@ -3,1 +3,1 @@", "-line 3", "+line 3!",
        "@@ -5,2 +5,2 @@", "-line 5", "-line 6", "+line 5!", "+line 6!"]


def test_start_numbers_after_lines_were_put_and_dropped():
    new = ["top"] + OLD[:9] + OLD[11:30] + ["extra"] + OLD[30:]
    hunks = group_hunks(edit_script(OLD, new), 2)
    assert [hunk.header for hunk in hunks] == ["@@ -1,2 +1,3 @@", "@@ -8,6 +9,4 @@", "@@ -29,4 +28,5 @@"]
    assert patch(OLD, hunks) == new


def test_ends_of_the_text():
    assert headers(changed(1, 40), 3) == ["@@ -1,4 +1,4 @@", "@@ -37,4 +37,4 @@"]
    assert headers(changed(2, 7), 3) == ["@@ -1,10 +1,10 @@"]


@pytest.mark.parametrize("context", [0, 1, 2, 3, 7, 100])
def test_hunks_always_apply(context):
    texts = [
        changed(*range(1, 41, step)) for step in (1, 2, 3, 4, 5, 6, 7, 8, 9, 13)
    ] + [OLD[::2], OLD[5:] + OLD[:5], [], OLD[:20] + ["x"] * 3 + OLD[22:]]
    for new in texts:
        script = edit_script(OLD, new)
        hunks = group_hunks(script, context)
        assert patch(OLD, hunks) == new
        assert [line for hunk in hunks for line in hunk.lines if line[0] != " "] == [
            line for line in script if line[0] != " "]


def test_nothing_changed():
    assert group_hunks(edit_script(OLD, OLD)) == []
    with pytest.raises(ValueError):
        group_hunks([], -1)
