from patchlines.hunks import group_hunks
from patchlines.patch import patch, render
from patchlines.script import edit_script

OLD = [f"line {number}" for number in range(1, 21)]


def changed(*numbers):
    return [text + "!" if index + 1 in numbers else text for index, text in enumerate(OLD)]


def test_close_changes_share_a_hunk():
    new = changed(3, 6)
    hunks = group_hunks(edit_script(OLD, new))
    assert [hunk.header for hunk in hunks] == ["@@ -1,9 +1,9 @@"]
    assert patch(OLD, hunks) == new


def test_distant_changes_have_their_own_hunks():
    new = changed(2, 18)
    hunks = group_hunks(edit_script(OLD, new))
    assert [hunk.header for hunk in hunks] == ["@@ -1,5 +1,5 @@", "@@ -15,6 +15,6 @@"]
    assert patch(OLD, hunks) == new


def test_single_change_in_the_middle():
    hunks = group_hunks(edit_script(OLD, changed(10)), context=1)
    assert render(hunks) == "@@ -9,3 +9,3 @@\n line 9\n-line 10\n+line 10!\n line 11"


def test_equal_texts_have_no_hunk():
    assert group_hunks(edit_script(OLD, OLD)) == []


def test_added_to_an_empty_text():
    assert render(group_hunks(edit_script([], ["a"]))) == "@@ -0,0 +1,1 @@\n+a"
