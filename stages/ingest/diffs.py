"""What a unified diff says of a patch: its files, whether all of them are the tests' own, which checks it weakens."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import groupby, zip_longest

from stages.ingest.diff_model import FileDiff, Hunk, Op
from stages.ingest.diff_read import parse_diff

__all__ = ["FileDiff", "Hunk", "Op", "is_machinery", "is_test", "only_machinery", "parse_diff", "weakened"]

_TEST_FOLDERS = frozenset(("tests", "__tests__", "testdata", "__snapshots__", "__mocks__", "e2e"))
_ROOT_FOLDERS = frozenset(("test", "testing", "spec", "specs"))  # deeper, they may well be a product's own code
_TEST_NAMES = re.compile(
    r"conftest\.py|tests?\.py|test_.*\.py|.*_tests?\.(py|go|rb|exs|c|cc|cpp|dart)|.*_spec\.rb"
    r"|.*\.(test|spec)\.[cm]?[jt]sx?|(.*Tests?|.*TestCase|.*IT)\.(java|kt|scala|cs)|.*\.snap"
)
_CONFIG_NAMES = re.compile(
    r"\.?pytest\.(ini|toml)|tox\.ini|setup\.cfg|pyproject\.toml|noxfile\.py|\.coveragerc|phpunit\.xml(\.dist)?"
    r"|(jest|vitest|playwright|cypress|karma)\.(config|conf)\.[cm]?[jt]s(on)?|\.mocharc\.[a-z]+|\.rspec"
    r"|\.travis\.yml|\.gitlab-ci\.yml|appveyor\.yml|\.appveyor\.yml|azure-pipelines\.yml|Jenkinsfile|\.cirrus\.yml"
)
_CI_FOLDERS = (".github/workflows/", ".github/actions/", ".circleci/", ".buildkite/", ".gitlab/ci/")


def is_test(path: str) -> bool:
    """Whether a path is a test's own file, by its name or folders."""
    *folders, name = path.split("/")
    own = bool(_TEST_FOLDERS & set(folders)) or (bool(folders) and folders[0] in _ROOT_FOLDERS)
    return own or "/src/test/" in f"/{path}" or _TEST_NAMES.fullmatch(name) is not None


def is_machinery(path: str) -> bool:
    """Whether a path belongs to how a project is tested: tests, their configuration, continuous integration."""
    name = path.rpartition("/")[2]
    return is_test(path) or path.startswith(_CI_FOLDERS) or _CONFIG_NAMES.fullmatch(name) is not None


def only_machinery(files: Iterable[FileDiff]) -> bool:
    """Whether a patch touches something, and nothing but test machinery; a rename counts by both of its paths."""
    paths = [path for file in files for path in (file.before, file.after) if path is not None]
    return bool(paths) and all(is_machinery(path) for path in paths)


_ASSERTS = re.compile(
    r"assert\b|assert\w*[!(]|\.assert\w+\(|\bself\.fail|\bexpect\(|\.should\b|\braises\(|\bwarns\(|\brequire\.\w+\("
    r"|\bt\.(?:Error|Fatal)f?\(|(?:EXPECT|ASSERT)_\w+\("
)
_SKIPS = re.compile(
    r"\bmark\.(?:skip|skipif|xfail)\b|\bunittest\.(?:skip|expectedFailure)|\bpytest\.(?:skip|xfail)\(|\bself\.skipTest\("
    r"|\b(?:it|test|describe)\.(?:skip|todo)\(|\bx(?:it|describe)\(|\bt\.Skip(?:f|Now)?\(|#\[ignore|@(?:Ignore|Disabled)\b"
)
_COMMENT = re.compile(r"\s*(?:#(?!\[)|//|\*|/\*|--)")
_NOTHING = r"assert\s*\(?\s*(?:True|1)\b|assertTrue\(\s*[Tt]rue\b|assert!\(\s*true\b|expect\(\s*true\s*\)"
_THERE = r"\bis not None\b|IsNotNone|Not(?:Null|Nil)|toBe(?:Defined|Truthy)|isinstance\(|InstanceOf|\.exist\b|\bis_some"
_VALUE = r"==|\bis (?!not\b)|(?<!Not)Equals?\b|_eq\b|_EQ\(|\.toBe\(|to(?:Strict)?Equal|IsNone\b|Null\(|AlmostEqual"
_ERROR = r"raises|Raises|toThrow|Throws|warns"
_PART = r"!=|<|>|\b(?:not )?in\b|In\(|Contain|startswith|endswith|Regex|toMatch|Greater|Less|_(?:NE|LT|GT)|NotEqual"
_STRENGTHS = [(0, _NOTHING), (1, _THERE), (3, f"{_VALUE}|{_ERROR}"), (2, _PART)]


def strength(line: str) -> int:
    """How much an assertion asks: 3 one value or error, 2 a range or a part, 1 that something is there, 0 nothing."""
    return next((rank for rank, form in _STRENGTHS if re.search(form, line[:10_000])), 1)


def weakened(files: Iterable[FileDiff]) -> int:
    """Assertions in tests that a patch takes away or replaces by ones that ask less, and skips that it adds.

    Within each run of changed lines the removed assertions, but for those that only moved within the patch, are held
    against the added ones in their order. Read line by line: a hint for people, no proof.
    """
    return sum(_weakened(file) for file in files if is_test(file.path) or (file.before and is_test(file.before)))


def _weakened(file: FileDiff) -> int:
    count = 0
    moved = Counter(_bare(line) for _, line in file.added) & Counter(_bare(line) for _, line in file.removed)
    left = {"+": Counter(moved), "-": Counter(moved)}
    for hunk in file.hunks:
        for changed, run in groupby(hunk.lines, key=lambda row: row[0] != " "):
            if not changed:
                continue
            fresh: dict[str, list[str]] = {"+": [], "-": []}
            for sign, raw in run:
                line = _bare(raw)
                if left[sign][line]:
                    left[sign][line] -= 1
                elif not _COMMENT.match(line):
                    fresh[sign].append(line)
            count += max(0, len(_those(_SKIPS, fresh["+"])) - len(_those(_SKIPS, fresh["-"])))
            pairs = zip_longest(_those(_ASSERTS, fresh["-"]), _those(_ASSERTS, fresh["+"]))
            count += sum(old is not None and (new is None or strength(new) < strength(old)) for old, new in pairs)
    return count


def _those(form: re.Pattern[str], lines: Sequence[str]) -> list[str]:
    return [line for line in lines if form.search(line[:10_000])]


def _bare(line: bytes) -> str:
    return line.decode("utf-8", "replace").strip()
