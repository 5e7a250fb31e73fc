import pytest

from pathmask import matches, read_masks, select


def test_star_stays_within_a_folder():
    assert matches("src/main.py", "src/*.py")
    assert not matches("src/app/main.py", "src/*.py")


def test_two_stars_may_stand_for_nothing():
    assert matches("src/main.py", "src/**/main.py")
    assert matches("src/a/b/main.py", "src/**/main.py")


def test_literal_and_question_mark():
    assert matches("src/main.py", "src/main.py")
    assert matches("src/a1.py", "src/a?.py")
    assert not matches("src/a.py", "src/a?.py")


def test_character_sets():
    assert matches("part-b.txt", "part-[ab].txt")
    assert not matches("part-b.txt", "part-[!ab].txt")


def test_last_mask_decides():
    masks = read_masks("# texts\n*.txt\n!b.txt\n")
    assert select(["a.txt", "b.txt", "c.md"], masks) == ["a.txt"]


def test_absolute_path_is_refused():
    with pytest.raises(ValueError):
        matches("/etc", "*")
