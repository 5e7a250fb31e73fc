# wb-canary-72159a33
import pytest

from undoline.editor import LineEditor
from undoline.timeline import Timeline


def recorded(states, limit=100):
    timeline = Timeline(states[0], limit)
    for state in states[1:]:
        assert timeline.record(state) is True
    return timeline


@pytest.mark.parametrize("limit, expected", [
    (1, "eeeee"), (2, "edddd"), (3, "edccc"), (5, "edcba"), (50, "edcba"),
])
def test_undo_walks_back_up_to_the_limit(limit, expected):
    timeline = recorded("abcdef", limit)
    assert "".join(timeline.undo() for _ in range(5)) == expected
    assert timeline.can_undo is False
    assert timeline.current == expected[-1]


def test_all_that_was_undone_can_be_redone():
    timeline = recorded("abcdef", 3)
    for _ in range(3):
        timeline.undo()
    assert [timeline.redo() for _ in range(4)] == ["d", "e", "f", "f"]


def test_new_edit_drops_the_whole_branch():
    timeline = recorded("abcd")
    for _ in range(3):
        timeline.undo()
    timeline.record("x")
    assert timeline.can_redo is False
    assert timeline.redo() == "x"
    assert timeline.undo() == "a"
    assert timeline.redo() == "x"
    assert timeline.can_redo is False


def test_same_state_keeps_the_branch():
    timeline = recorded("abc")
    timeline.undo()
    assert timeline.record("b") is False
    assert timeline.can_redo is True
    assert timeline.redo() == "c"
    assert timeline.undo() == "b"
    assert timeline.undo() == "a"


def test_nothing_to_undo_or_redo():
    timeline = Timeline("a")
    assert timeline.undo() == "a"
    assert timeline.redo() == "a"
    assert (timeline.can_undo, timeline.can_redo) == (False, False)


def test_forget_and_limit_check():
    timeline = recorded("abc")
    timeline.undo()
    timeline.forget()
    assert (timeline.undo(), timeline.redo()) == ("b", "b")
    with pytest.raises(ValueError):
        Timeline("a", 0)


def test_editor_after_a_new_branch():
    editor = LineEditor("", limit=2)
    for piece in "one", "two", "six":
        editor.insert(len(editor.text), piece)
    assert editor.undo() == "onetwo"
    editor.insert(0, ">")
    assert editor.redo(3) == ">onetwo"
    assert editor.undo(5) == "one"
