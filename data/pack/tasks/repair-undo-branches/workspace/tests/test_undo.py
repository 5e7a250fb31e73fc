from undoline.editor import LineEditor
from undoline.timeline import Timeline


def test_limit_keeps_the_latest_states():
    timeline = Timeline("a", limit=2)
    for state in "bcd":
        timeline.record(state)
    assert timeline.undo() == "c"
    assert timeline.undo() == "b"
    assert timeline.undo() == "b"


def test_new_edit_ends_redo():
    timeline = Timeline("a")
    timeline.record("b")
    timeline.undo()
    timeline.record("c")
    assert not timeline.can_redo
    assert timeline.redo() == "c"


def test_undo_and_redo():
    timeline = Timeline("a")
    timeline.record("b")
    assert timeline.undo() == "a"
    assert timeline.redo() == "b"


def test_same_state_is_no_edit():
    timeline = Timeline("a")
    assert timeline.record("a") is False
    assert not timeline.can_undo


def test_editor():
    editor = LineEditor("hello")
    editor.insert(5, " you")
    editor.delete(0, 1)
    assert editor.text == "ello you"
    assert editor.undo(2) == "hello"
    assert editor.redo() == "hello you"
