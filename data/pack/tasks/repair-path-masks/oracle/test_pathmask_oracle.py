# wb-canary-b25751a7
import pytest

from pathmask import matches, read_masks, select


@pytest.mark.parametrize("path, mask, expected", [
    ("src/main.py", "src/*.py", True), ("src/app/main.py", "src/*.py", False), ("main.py", "*", True),
    ("src/main.py", "*", False), ("a/b/c", "*/*/*", True), ("a/b", "*/*/*", False), ("a/b/c/d", "*/*/*", False),
    ("abc/d", "a*d", False), ("a/xbz/d/c", "a/*z/c", False), ("src/.py", "src/*.py", True),
])
def test_star_within_a_segment(path, mask, expected):
    assert matches(path, mask) is expected


@pytest.mark.parametrize("path, mask, expected", [
    ("a/b", "a?b", False), ("acb", "a?b", True), ("a/b", "a[/]b", False), ("a/b", "a[!x]b", False),
    ("v1/x", "v[0-9]/x", True), ("va/x", "v[0-9]/x", False), ("va/x", "v[!0-9]/?", True),
    ("b/x", "[ab]/*", True), ("c/x", "[ab]/*", False),
])
def test_single_characters(path, mask, expected):
    assert matches(path, mask) is expected


@pytest.mark.parametrize("path, expected", [
    ("src/main.py", True), ("src/a/main.py", True), ("src/a/b/c/main.py", True), ("src/domain.py", False),
    ("src/a/domain.py", False), ("main.py", False), ("xsrc/main.py", False), ("src/main.py/x", False),
    ("srcmain.py", False),
])
def test_two_stars_in_the_middle(path, expected):
    assert matches(path, "src/**/main.py") is expected


@pytest.mark.parametrize("path, mask, expected", [
    ("x", "**/x", True), ("a/b/x", "**/x", True), ("a/bx", "**/x", False),
    ("src", "src/**", True), ("src/a", "src/**", True), ("src/a/b", "src/**", True), ("srcs/a", "src/**", False),
    ("a", "**", True), ("a/b/.c", "**", True), ("a", "**/**", True), ("a/b", "**/**/b", True),
])
def test_two_stars_at_the_ends(path, mask, expected):
    assert matches(path, mask) is expected


@pytest.mark.parametrize("path, expected", [
    ("t/d", True), ("a/t/d", True), ("t/a/b/d", True), ("a/t/b/t/c/d", True), ("a/d/b/t", False), ("d", False),
    ("a/b/d", False), ("a/t/b", False),
])
def test_several_of_them(path, expected):
    assert matches(path, "**/t/**/d") is expected


def test_several_with_stars_between():
    assert matches("a/x1/b/x2/c", "**/x*/**/x*/*")
    assert matches("x1/x2/c", "**/x*/**/x*/*")
    assert not matches("a/x1/b/c", "**/x*/**/x*/*")


@pytest.mark.parametrize("path, mask, expected", [
    ("abc.py", "a**.py", True), ("a.py", "a**.py", True), ("a/b.py", "a**.py", False), ("a/b/c", "a/**c", False),
    ("a/bc", "a/**c", True),
])
def test_two_stars_as_part_of_a_segment(path, mask, expected):
    assert matches(path, mask) is expected


@pytest.mark.parametrize("path, mask, expected", [
    ("a.py", "?.py", True), ("axpy", "?.py", False), ("c++/a", "c++/*", True), ("A.py", "[a-z].py", False),
    ("a.PY", "*.py", False), ("a(1)/b", "a(1)/*", True), ("a", "a/*", False),
])
def test_other_characters_stand_for_themselves(path, mask, expected):
    assert matches(path, mask) is expected


def test_selection():
    paths = ["src/a.py", "src/x/b.py", "src/x/gen/c.py", "gen/d.py", "readme.md"]
    masks = read_masks("**/*.py\n!**/gen/**\ngen/*.py\n")
    assert select(paths, masks) == ["src/a.py", "src/x/b.py", "gen/d.py"]
    with pytest.raises(ValueError):
        matches("a//b", "**")
