"""Generated lines and the lines that count: the smallest number that any diff could give."""

from __future__ import annotations

import difflib
import re
import subprocess
from functools import cache
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stages.assumptions import globs
from stages.contract import lines
from stages.contract.errors import InputError

TEXT = st.lists(st.sampled_from([b"a\n", b"b\n", b"c\n", b"\n"]), max_size=12).map(b"".join)


def longest(a: tuple[bytes, ...], b: tuple[bytes, ...]) -> int:
    """Length of a longest common subsequence, straight from its definition."""

    @cache
    def upto(i: int, j: int) -> int:
        if not i or not j:
            return 0
        if a[i - 1] == b[j - 1]:
            return upto(i - 1, j - 1) + 1
        return max(upto(i - 1, j), upto(i, j - 1))

    return upto(len(a), len(b))


@given(TEXT, TEXT)
def test_added_lines_are_those_outside_a_longest_common_subsequence(before: bytes, after: bytes) -> None:
    old, new = lines.split(before), lines.split(after)
    touched = lines.touched(before, after)
    assert touched.exact
    assert touched.count == len(new) - longest(tuple(old), tuple(new))
    kept = iter(old)
    same = [line for i, line in enumerate(new, 1) if not touched.any(i, i)]
    assert all(line in kept for line in same)  # what isn't counted is a subsequence of what was there


def test_no_other_diff_counts_fewer_lines_than_ours() -> None:
    before = Path(difflib.__file__).read_bytes()
    after = before.replace(b"self", b"this", 40).replace(b"\n\n", b"\n", 3) + b"more\n"
    matcher = difflib.SequenceMatcher(None, lines.split(before), lines.split(after), autojunk=False)
    theirs = sum(j2 - j1 for tag, _, _, j1, j2 in matcher.get_opcodes() if tag != "equal")
    assert 0 < lines.touched(before, after).count <= theirs


def test_git_counts_the_same_added_lines(tmp_path: Path) -> None:
    before, after = b"a\nb\nc\nd\ne", b"a\nx\nc\nd\ny\ne\n"
    (tmp_path / "a").write_bytes(before)
    (tmp_path / "b").write_bytes(after)
    command = ["git", "diff", "--no-index", "--numstat", "--minimal", "a", "b"]
    out = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False).stdout
    assert int(out.split()[0]) == lines.touched(before, after).count == 3


@pytest.mark.parametrize(
    ("content", "count"),
    [(b"", 0), (b"a", 1), (b"a\n", 1), (b"a\n\n", 2), (b"a\r\nb\rc\n", 3), ("a\u2028b\x0cc\n".encode(), 1)],
)
def test_a_new_file_counts_each_of_its_lines(content: bytes, count: int) -> None:
    assert lines.touched(None, content).count == count


def test_a_comparison_that_would_be_too_large_counts_the_middle_and_says_so() -> None:
    before = b"head\n" + b"a\nb\n" * 30_000 + b"tail\n"
    after = b"head\n" + b"b\na\na\n" * 30_000 + b"tail\n"
    touched = lines.touched(before, after)
    assert not touched.exact
    assert touched.count == 90_000
    assert not touched.any(1, 1)


def as_regex(pattern: str) -> re.Pattern[str]:
    """The documented semantics once more, as a regular expression."""
    if pattern.endswith("/"):
        pattern += "**"
    text = ""
    segments = pattern.split("/")
    for i, segment in enumerate(segments):
        last = i == len(segments) - 1
        if segment == "**":
            text += r"[^/]+(?:/[^/]+)*" if last else r"(?:[^/]+/)*"
        else:
            text += re.sub(r"(?:\\\*)+", "[^/]*", re.escape(segment)) + ("" if last else "/")
    return re.compile(text + r"\Z")


SEGMENT = st.sampled_from(["a", "b", "ab", "a.py", ".a", "*", "a*", "*a", "*.py", "**", "a*b*"])
PATH = st.lists(st.sampled_from(["a", "b", "ab", "aab", "a.py", ".a", "b.py", "axbx"]), min_size=1, max_size=4)


@given(st.lists(SEGMENT, min_size=1, max_size=4), st.booleans(), PATH)
def test_patterns_mean_what_is_documented(segments: list[str], below: bool, path: list[str]) -> None:
    pattern = "/".join(segments) + "/" * below
    name = "/".join(path)
    assert globs.matches([pattern], name) == bool(as_regex(pattern).match(name))


@pytest.mark.parametrize(
    ("pattern", "path", "covered"),
    [
        ("billing/retry.py", "billing/retry.py", True),
        ("billing/retry.py", "Billing/retry.py", False),
        ("billing/*.py", "billing/a.py", True),
        ("billing/*.py", "billing/deep/a.py", False),
        ("billing/*", "billing/.hidden", True),
        ("billing/**", "billing/deep/er/a.py", True),
        ("billing/**", "billing", False),
        ("**/a.py", "a.py", True),
        ("billing", "billing/a.py", False),
        ("billing/", "billing/a.py", True),
        ("**", "billing/__pycache__/a.pyc", True),
        ("**", "../outside", False),
        ("**", "/etc/passwd", False),
        ("a[b].py", "ab.py", False),
        ("a[b].py", "a[b].py", True),
        ("a?.py", "ab.py", False),
    ],
)
def test_patterns_match_whole_paths_inside_the_workspace(pattern: str, path: str, covered: bool) -> None:
    assert globs.matches([pattern], path) is covered


@pytest.mark.parametrize("pattern", ["", "/", "/etc/*", "../x", "a//b", "./a", "a/../b"])
def test_a_pattern_out_of_the_workspace_is_refused(pattern: str) -> None:
    with pytest.raises(InputError, match=r"allow\.files_write"):
        globs.matches([pattern], "a")


def test_a_hostile_pattern_and_path_take_no_time() -> None:
    assert not globs.matches(["*a" * 500 + "/b", "**/" * 200 + "z"], "a" * 5000 + "/c" * 500)
