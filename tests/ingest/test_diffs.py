"""Unified diffs are read as git means them, and say which patches touch nothing but the tests' own files."""

from __future__ import annotations

import os
import random
import subprocess
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stages.contract.errors import InputError
from stages.ingest.diffs import FileDiff, is_machinery, only_machinery, parse_diff, weakened


def _shared() -> Path | None:
    given_ = os.environ.get("WEIGHBRIDGE_LOGS")
    places = [Path(given_)] if given_ else [parent / "shared/data" for parent in Path(__file__).resolve().parents]
    return next((place for place in places if place.is_dir()), None)


SHARED = _shared()
needs_logs = pytest.mark.skipif(
    SHARED is None, reason="no public logs beside this project (WEIGHBRIDGE_LOGS names them)"
)


def git(folder: Path, *words: str) -> bytes:
    plain = {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_SYSTEM": os.devnull, "PATH": os.environ["PATH"]}
    return subprocess.run(["git", *words], cwd=folder, env=plain, check=True, capture_output=True, timeout=20).stdout


def one(text: str) -> FileDiff:
    (file,) = parse_diff(text.encode())
    return file


EDIT = "--- a/pkg/a.py\n+++ b/pkg/a.py\n@@ -1,2 +1,3 @@ def f():\n x = 1\n+y = 2\n z = 3\n"


def test_what_git_writes_is_read_as_git_counts_it(tmp_path: Path) -> None:
    git(tmp_path, "init", "-q")
    before = {
        "edit.py": b"".join(b"line %d\n" % i for i in range(60)),
        "gone.py": b"a\nb\n",
        "old name.py": b"".join(b"row %d\n" % i for i in range(30)),
        "crlf.txt": b"a\r\nb\r\nc\r\n",
        "bare.txt": b"a\nb",
        "pic.bin": b"\0\1\2",
        "run.sh": b"#!/bin/sh\n",
        'caf\u00e9/\u00fc "q".py': b"a\n",
        "dashes.sql": b"-- one\n-- two\n",
    }
    after = {
        **before,
        "edit.py": before["edit.py"].replace(b"line 5\n", b"line five\nmore\n").replace(b"line 50\n", b""),
        "new/file.py": b"import os\n\nx = 1\n",
        "new name.py": before["old name.py"].replace(b"row 9\n", b"row nine\n"),
        "crlf.txt": b"a\r\nB\r\nc\r\n",
        "bare.txt": b"a\nc",
        "pic.bin": b"\0\1\3",
        'caf\u00e9/\u00fc "q".py': b"a\nb\n",
        "dashes.sql": b"++ one\n-- two\n",
        "empty.py": b"",
    }
    del after["gone.py"], after["old name.py"]
    for content in (before, after):
        for name in before:
            (tmp_path / name).unlink(missing_ok=True)
        for name, data in content.items():
            (tmp_path / name).parent.mkdir(exist_ok=True, parents=True)
            (tmp_path / name).write_bytes(data)
        if content is before:
            git(tmp_path, "add", "-A")
    (tmp_path / "run.sh").chmod(0o755)
    git(tmp_path, "add", "-N", "new/file.py", "new name.py", "empty.py")
    for words in ([], ["--no-prefix"], ["--src-prefix=i/", "--dst-prefix=w/"], ["--binary"], ["-U0"], ["-U9"]):
        files = {file.path: file for file in parse_diff(git(tmp_path, "diff", "-M", "--no-color", *words))}
        # git's own count, in a form without quoting: added, removed, path, or an empty path and then both of a rename
        told = iter(git(tmp_path, "diff", "-M", "--numstat", "-z").decode().split("\0")[:-1])
        counted = {}
        for row in told:
            plus, minus, path = row.split("\t")
            counted[path or [next(told), next(told)][1]] = (plus, minus)
        assert {
            path: ("-", "-") if file.binary else (str(len(file.added)), str(len(file.removed)))
            for path, file in files.items()
        } == counted
        ops = {path: file.op for path, file in files.items()}
        assert {path: op for path, op in ops.items() if op != "modify"} == {
            "gone.py": "delete",
            "new name.py": "rename",
            "run.sh": "mode",
            "new/file.py": "add",
            "empty.py": "add",
        }
        assert files["new name.py"].before == "old name.py"
        assert (files["run.sh"].mode_before, files["run.sh"].mode_after) == ("100644", "100755")
        assert files["edit.py"].added == [(6, b"line five"), (7, b"more")]
        assert files["edit.py"].removed == [(6, b"line 5"), (51, b"line 50")]
        assert files["crlf.txt"].added == [(2, b"B\r")]
        assert files["bare.txt"].hunks[0].ends_bare == "-+"
        assert files["dashes.sql"].added == [(1, b"++ one")]


@pytest.mark.parametrize("seed", range(12))
def test_added_lines_stand_where_the_numbers_say(tmp_path: Path, seed: int) -> None:
    random_ = random.Random(seed)
    texts = [[f"{random_.randint(0, 9)}" for _ in range(random_.randint(1, 60))] for _ in range(2)]
    texts[1] = [line for line in texts[0] if random_.random() < 0.8] + texts[1][: random_.randint(0, 5)]
    for name, lines in zip("ab", texts, strict=True):
        (tmp_path / name).write_text("\n".join(lines) + "\n" * random_.randint(0, 1), encoding="utf-8")
    done = subprocess.run(["diff", "-u", "a", "b"], cwd=tmp_path, capture_output=True, timeout=20, check=False)
    for file in parse_diff(done.stdout):
        assert file.op in ("modify", "add", "delete")
        for number, line in file.added:
            assert texts[1][number - 1].encode() == line
        for number, line in file.removed:
            assert texts[0][number - 1].encode() == line


def test_plain_diffs_of_two_folders_name_new_and_deleted_files() -> None:
    new = "--- old/x.py\t1970-01-01 00:00:00\n+++ new/x.py\t2026-01-01 00:00:00\n@@ -0,0 +1,2 @@\n+a\n+b\n"
    gone = "--- old/y.py\t2026-01-01\n+++ new/y.py\t1970-01-01\n@@ -1 +0,0 @@\n-a\n"
    files = parse_diff(("diff -ruN old new\n" + new + "diff -ruN old new\n" + gone).encode())
    assert [(file.before, file.after, file.op) for file in files] == [
        (None, "x.py", "add"),
        ("y.py", None, "delete"),
    ]
    assert one("--- x.py.orig\n+++ x.py\n@@ -1 +1 @@\n-a\n+b\n").path == "x.py"
    (pair,) = parse_diff(b"Binary files old/p.png and new/p.png differ\n")
    assert (pair.path, pair.binary) == ("p.png", True)


def test_a_mailed_patch_is_read_and_its_words_passed_over() -> None:
    text = f"From 1 Mon Sep 17\nSubject: [PATCH] x\n\n - a point\n---\n a.py | 1 +\n\n{EDIT}-- \n2.40.0\n\n"
    assert one(text).added == [(2, b"y = 2")]


def test_a_diff_whose_own_lines_end_in_crlf_is_read() -> None:
    assert one(EDIT.replace("\n", "\r\n")).added == [(2, b"y = 2\r")]


def test_empty_context_lines_that_lost_their_space_are_context() -> None:
    assert one("--- a/x\n+++ b/x\n@@ -1,3 +1,4 @@\n a\n\n+b\n c\n").added == [(3, b"b")]


def test_an_empty_patch_has_no_files_and_no_machinery() -> None:
    assert parse_diff(b"") == parse_diff(b" \n\n") == []
    assert not only_machinery([])


def test_a_hunk_that_ends_early_is_read_as_far_as_it_goes() -> None:
    file = one(EDIT.replace("-1,2 +1,3", "-1,5 +1,6"))
    assert file.added == [(2, b"y = 2")]
    assert file.hunks[0].short
    assert not one(EDIT).hunks[0].short
    assert len(parse_diff((EDIT.replace("-1,2 +1,3", "-1,5 +1,6") * 2).encode())) == 2


GIT = "diff --git a/x b/x\n"
MALFORMED = {
    "no diff": "hello\n",
    "hunk without a file": "@@ -1 +1 @@\n-a\n+b\n",
    "paths without a hunk": "--- a/x\n+++ b/x\n",
    "header without numbers": "--- a/x\n+++ b/x\n@@ -a +b @@\n",
    "number of 30 digits": f"--- a/x\n+++ b/x\n@@ -{'1' * 30} +1 @@\n-a\n+b\n",
    "more lines than promised": EDIT + "+evil = 1\n",
    "more lines after a gap": EDIT + "\n+evil = 1\n",
    "more context, then more": EDIT + " context\n+evil = 1\n",
    "one line more on one side": EDIT.replace("-1,2 +1,3", "-1,2 +1,2"),
    "out by dots": EDIT.replace("pkg/a.py", "../a.py"),
    "out by dots within": EDIT.replace("pkg/a.py", "pkg/../../a.py"),
    "absolute": EDIT.replace("a/pkg/a.py", "/etc/passwd").replace("b/pkg/a.py", "/etc/passwd"),
    "a drive": EDIT.replace("pkg/a.py", "C:/a.py"),
    "backslashes": EDIT.replace("pkg/a.py", "..\\a.py"),
    "git's own folder": EDIT.replace("pkg/a.py", ".git/hooks/pre-commit"),
    "git's own, in capitals": EDIT.replace("pkg/a.py", "x/.GIT/config"),
    "out by a quoted path": EDIT.replace("a/pkg/a.py", '"a/\\056\\056/x"').replace("b/pkg/a.py", '"b/\\056\\056/x"'),
    "a newline in a quoted path": EDIT.replace("a/pkg/a.py", '"a/x\\ny"').replace("b/pkg/a.py", '"b/x\\ny"'),
    "quotes that don't close": EDIT.replace("b/pkg/a.py", '"b/pkg/a.py'),
    "a path of 3,000 letters": EDIT.replace("pkg/a.py", "p" * 3000),
    "a rename out of the tree": "diff --git a/x b/y\nsimilarity index 100%\nrename from x\nrename to ../y\n",
    "half of a rename": "diff --git a/x b/y\nsimilarity index 100%\nrename from x\n",
    "two paths and no rename": "diff --git a/x b/y\nindex 1..2 100644\n",
    "a rename and other hunks": "diff --git a/x b/y\nrename from x\nrename to y\n" + EDIT,
    "two paths in a hunk's header": GIT + "--- a/x\n+++ b/y\n@@ -1 +1 @@\n-a\n+b\n",
    "another path than git's line": GIT + "--- a/y\n+++ b/y\n@@ -1 +1 @@\n-a\n+b\n",
    "from nowhere to nowhere": "--- /dev/null\n+++ /dev/null\n@@ -1 +1 @@\n-a\n+b\n",
    "a merge": "diff --cc x\nindex 1,2..3\n--- a/x\n+++ b/x\n@@@ -1,1 -1,1 +1,2 @@@\n",
    "no end of nothing": "--- a/x\n+++ b/x\n@@ -1 +1 @@\n\\ No newline at end of file\n",
    "a name without content": "Only in new: x.py\n",
}


@pytest.mark.parametrize("text", MALFORMED.values(), ids=MALFORMED)
def test_what_is_no_diff_is_refused_in_one_line(text: str) -> None:
    with pytest.raises(InputError) as caught:
        parse_diff(text.encode())
    assert "\n" not in str(caught.value)


def test_sizes_and_paths_that_are_no_text_are_refused() -> None:
    for data in (
        b"x" * (33 << 20),
        b"\n" * 1_000_001,
        EDIT.encode().replace(b"a.py", b"\xff.py"),
        GIT.encode() * 20_001,
    ):
        with pytest.raises(InputError):
            parse_diff(data)


@settings(max_examples=200, deadline=None)
@given(st.lists(st.sampled_from([*EDIT.encode().splitlines(True), *GIT.encode().splitlines(True), b"@@ -1 +1 @@\n",
    b"-a\n", b"\\ No newline\n", b"rename from x\n", b"new file mode 100644\n", b"\xff\n", b"\n"]), max_size=12))  # fmt: skip
def test_lines_in_any_order_give_an_error_or_files(lines: list[bytes]) -> None:
    with suppress(InputError):
        parse_diff(b"".join(lines))


MACHINERY = """
    conftest.py pkg/conftest.py tests/helpers.py pkg/tests/data/x.json test_a.py pkg/a_test.py web/a.test.tsx
    web/a.spec.js web/__tests__/a.js cmd/a_test.go src/test/java/x/A.java core/AThingTest.java spec/a_spec.rb
    test/x.sh testing/test_x.py pytest.ini tox.ini setup.cfg pyproject.toml .github/workflows/ci.yml .travis.yml
    .gitlab-ci.yml web/jest.config.ts noxfile.py
"""
CODE = """
    pkg/a.py django/test/client.py sympy/testing/runtests.py src/latest.py attest.py contest.py pkg/testutils.py
    setup.py README.md github/workflows.py docs/tests.md pkg/spec/loader.rb Manifest.java
"""


@pytest.mark.parametrize("path", MACHINERY.split())
def test_tests_their_configuration_and_ci_are_machinery(path: str) -> None:
    assert is_machinery(path)


@pytest.mark.parametrize("path", CODE.split())
def test_code_and_documents_are_no_machinery(path: str) -> None:
    assert not is_machinery(path)


def rename(old: str, new: str) -> str:
    return f"diff --git a/{old} b/{new}\nsimilarity index 100%\nrename from {old}\nrename to {new}\n"


def test_one_source_file_makes_a_patch_more_than_machinery() -> None:
    test = EDIT.replace("pkg/a.py", "tests/test_a.py")
    assert only_machinery(parse_diff(test.encode()))
    assert not only_machinery(parse_diff((test + EDIT).encode()))
    assert only_machinery(parse_diff(rename("tests/a.py", "tests/b.py").encode()))
    assert not only_machinery(parse_diff(rename("tests/a.py", "pkg/b.py").encode()))
    assert not only_machinery(parse_diff(rename("pkg/a.py", "tests/b.py").encode()))


def swapped(old: str, new: str, path: str = "tests/test_a.py") -> int:
    lines = [f"-    {line}\n" for line in old.split("|") if line] + [
        f"+    {line}\n" for line in new.split("|") if line
    ]
    counts = [sum(line[0] == sign for line in lines) for sign in "-+"]
    return weakened(
        parse_diff(f"--- a/{path}\n+++ b/{path}\n@@ -1,{counts[0]} +1,{counts[1]} @@\n{''.join(lines)}".encode())
    )


@pytest.mark.parametrize(
    ("old", "new", "count"),
    [
        ("assert f() == 3", "assert f() is not None", 1),
        ("assert f() == 3", "assert f() >= 0", 1),
        ("assert f() == 3", "assert True", 1),
        ("assert f() == 3", "", 1),
        ("assert f() == 3|assert g() == 4", "assert f() == 3", 1),
        ("self.assertEqual(f(), 3)", "self.assertIn(f(), [3, 4])", 1),
        ("self.assertEqual(f(), 3)", "self.assertNotEqual(f(), 4)", 1),
        ("with pytest.raises(KeyError):", "assert f()", 1),
        ("expect(f()).toEqual(3)", "expect(f()).toBeDefined()", 1),
        ("assert_eq!(f(), 3);", "assert!(f() > 0);", 1),
        ("x = 1", "@pytest.mark.skip(reason='slow')|x = 1", 1),
        ("it('adds', () => {", "it.skip('adds', () => {", 1),
        ("assert f() == 3", "assert f() == 4", 0),  # another value asks as much
        ("assert f() is not None", "assert f() == 3", 0),
        ("assert f() == 3|x = 1", "x = 1|assert f() == 3", 0),  # moved
        ("# assert f() == 3", "", 0),
        ("x = 1", "assert f() == 3", 0),
    ],
)
def test_assertions_that_ask_less_are_counted(old: str, new: str, count: int) -> None:
    assert swapped(old, new) == count
    assert swapped(old, new, "pkg/a.py") == 0


def test_a_deleted_test_takes_all_its_assertions_away() -> None:
    text = "--- a/tests/test_a.py\n+++ /dev/null\n@@ -1,3 +0,0 @@\n-def test_a():\n-    assert f() == 1\n-    assert g() == 2\n"
    assert weakened(parse_diff(text.encode())) == 2


@needs_logs
def test_the_retold_bug_report_of_patches_to_the_machinery() -> None:
    assert SHARED is not None
    folder = SHARED / "bugreports/07-patch-touches-only-the-test-machinery"
    hook, edit = (parse_diff((folder / f"patch_{name}.diff").read_bytes()) for name in ("conftest", "weakened_test"))
    assert only_machinery(hook)
    assert only_machinery(edit)
    assert weakened(edit) == 1
    assert len(hook[0].added) == 6


@needs_logs
def test_real_patches_of_an_agent_are_read_whole() -> None:
    assert SHARED is not None
    paths = sorted((SHARED / "swebench/vexp/logs").rglob("patch.diff"))
    read = [parse_diff(path.read_bytes(), path) for path in paths]
    # cat of all | grep -c '^diff --git' and | grep -c '^+[^+]\|^+$' give 109 and 911
    assert sum(map(len, read)) == 109
    assert sum(len(file.added) for files in read for file in files) == 911
    assert not any(hunk.short for files in read for file in files for hunk in file.hunks)
    assert not any(only_machinery(files) for files in read)
