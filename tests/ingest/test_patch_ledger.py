"""A patch without its tree is counted as it would be with it, and says where that can't be."""

from __future__ import annotations

import ast
import difflib
import os
import random
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stages.assumptions import Allow, examine
from stages.contract import task
from stages.contract.errors import InputError
from stages.contract.trees import overlay_changes
from stages.ingest.patch_ledger import PatchLedger, patch_ledger
from stages.packs.read import read_pack

PACK = Path(__file__).resolve().parents[2] / "data/pack"
NOTHING = Allow((), False, (), ("**",))
RETRY = Allow(("datetime", "billing.types"), False, ("REGION",), ("billing/retry.py",))


def diff(path: str, before: str | None, after: str | None) -> bytes:
    sides = [(text or "").splitlines(keepends=True) for text in (before, after)]
    names = [
        "/dev/null" if text is None else f"{side}/{path}" for side, text in zip("ab", (before, after), strict=True)
    ]
    return "".join(difflib.unified_diff(sides[0], sides[1], names[0], names[1])).encode()


def hunk(path: str, *lines: str, start: int = 40) -> bytes:
    counts = [sum(line[:1] in (" ", sign) for line in lines) for sign in "-+"]
    head = f"--- a/{path}\n+++ b/{path}\n@@ -{start},{counts[0]} +{start},{counts[1]} @@\n"
    return (head + "".join(line + "\n" for line in lines)).encode()


def counted(found: PatchLedger) -> list[str]:
    return [f"{f.kind} {f.symbol} {f.line}" for f in found.ledger.findings if f.counted != "note"]


def noted(found: PatchLedger) -> list[str]:
    return [f"{f.kind} {f.symbol} {f.line}" for f in found.ledger.findings if f.counted == "note"]


def test_counts_of_a_new_file_are_those_of_its_text() -> None:
    source = 'import datetime\nimport redis\nimport os\n\nKEY = os.environ["API_KEY"]\nAT = os.environ["REGION"]\n'
    found = patch_ledger(diff("billing/retry.py", None, source), RETRY)
    assert counted(found) == ["import redis 2", "import os 3", "environment API_KEY 5"]
    assert found.counts() == {
        "invented_imports": 2,
        "invented_env": 1,
        "unauthorised_files": 0,
        "violations": 3,
        "generated_lines": 6,
        "extended": 0,
        "unread_lines": 0,
    }
    assert found.rows()[0]["number"] == 0
    assert set(found.rows()[0]) == {"number", "kind", "path", "line", "symbol", "how", "counted", "seen"}


def test_the_allow_list_of_a_task_is_taken_as_it_is() -> None:
    allow = task.Allow(imports=["datetime"], env=[], files_write=["billing/*.py"], stdlib=False)
    assert counted(patch_ledger(diff("billing/retry.py", None, "import datetime, redis\n"), allow)) == [
        "import redis 1"
    ]


@pytest.mark.parametrize(
    ("patch", "files"),
    [
        (diff("billing/queue.py", None, "x = 1\n"), ["billing/queue.py"]),
        (diff("billing/retry.py", "x\n", None), []),
        (diff("billing/old.py", "x\n", None), ["billing/old.py"]),
        (b"diff --git a/billing/retry.py b/r.py\nrename from billing/retry.py\nrename to r.py\n", ["r.py"]),
        (b"diff --git a/r.py b/billing/retry.py\nrename from r.py\nrename to billing/retry.py\n", ["r.py"]),
        (b"diff --git a/run.sh b/run.sh\nold mode 100644\nnew mode 100755\n", ["run.sh"]),
        (b"diff --git a/p.png b/p.png\nindex 1..2 100644\nBinary files a/p.png and b/p.png differ\n", ["p.png"]),
        (b"diff --git a/e.txt b/e.txt\nnew file mode 100644\nindex 0..1\n", ["e.txt"]),
        (b"diff --git a/sub b/sub\nindex 1..2 160000\n--- a/sub\n+++ b/sub\n@@ -1 +1 @@\n-x\n+y\n", ["sub"]),
    ],
)
def test_every_path_that_is_touched_needs_leave(patch: bytes, files: list[str]) -> None:
    found = patch_ledger(patch, RETRY)
    assert [f.path for f in found.ledger.of("article", "file")] == files
    assert found.counts()["violations"] == len(files)


def test_line_numbers_are_those_of_the_file_after() -> None:
    lines = ("     def f(self):", "         x = 1", "-        y = 2", "+        import redis", "         return x")
    assert counted(patch_ledger(hunk("pkg/a.py", *lines, start=117), NOTHING)) == ["import redis 119"]


def test_context_and_removed_lines_are_no_inventions() -> None:
    kept = hunk("pkg/a.py", " import redis", "+x = 1", ' y = os.environ["KEY"]')
    assert counted(patch_ledger(kept, NOTHING)) == []
    moved = hunk("pkg/a.py", "-import redis", " x = 1", "+import redis")
    assert counted(patch_ledger(moved, NOTHING)) == []
    assert noted(patch_ledger(moved, NOTHING)) == ["import redis 41"]


def test_the_trees_own_modules_are_noted_unless_the_list_goes_module_by_module() -> None:
    patch = hunk(
        "src/shop/cart.py", "+from shop.stock import rows", "+from .prices import net", "+import redis", " x = 1"
    )
    found = patch_ledger(patch, NOTHING)
    assert counted(found) == ["import redis 42"]
    assert noted(found) == ["import shop.stock 40", "import shop.prices 41"]
    by_module = Allow(("shop.prices",), False, (), ("**",))
    assert counted(patch_ledger(patch, by_module)) == ["import shop.stock 40", "import redis 42"]


PIECES = {
    "in a class": ("     def f(self):", "+        import redis", "         return 1", " ", " class B:"),
    "from deep to shallow": ("             return x", "+        import redis", "     def g(self):", "         pass"),
    "between else and except": ("         x()", "     else:", "+        import redis", "     finally:", "         y()"),
    "before an except": ("         x()", "+        import redis", "     except KeyError:", "         raise"),
    "after an open try": ("     try:", "+        import redis", "         x = 1"),
    "under a decorator to come": ("     x = 1", "+    import redis", " ", "     @property"),
    "after a bracket's end": ('     "a": 1,', " }", "+import redis", " x = 1"),
    "before a bracket's start": ("+import redis", " x = {", '     "a": 1,'),
    "after a text's end": ("     Words that aren't code.", '     """', "+    import redis", "     return 1"),
    "before a text's start": ("+import redis", " ", " def f():", '     """Words that', "     go on."),
    "after a line that goes on": ("     x = 1 + \\", "         2", "+    import redis"),
    "in one of two cases": ("     case 1:", "         x()", "     case 2:", "+        import redis"),
    "after an odd end": ("         b)", "+    import redis", "     x = 1"),
}


@pytest.mark.parametrize("lines", PIECES.values(), ids=PIECES)
def test_pieces_that_begin_and_end_anywhere_are_read(lines: tuple[str, ...]) -> None:
    found = patch_ledger(hunk("pkg/a.py", *lines), NOTHING)
    assert [f.symbol for f in found.ledger.of("article")] == ["redis"]


def test_a_piece_that_cannot_be_parsed_gives_its_imports_and_says_what_it_lacks() -> None:
    lines = (
        " words of a text",
        "+import redis",
        "+and more words",
        '+KEY = os.environ["KEY"]',
        "+from c.d import (",
        " end of it",
    )
    found = patch_ledger(hunk("pkg/a.py", *lines), NOTHING)
    assert counted(found) == ["import redis 41", "import c.d 44"]
    assert found.ledger.of("article")[0].how == "import, by this line alone"
    assert found.unread_lines == 4
    assert noted(found) == ["unexamined pkg/a.py 0"]


def test_an_environment_read_counts_where_the_import_of_os_stands_out_of_sight() -> None:
    for line in ('os.environ["KEY"]', 'os.getenv("KEY")', 'os.environ.get("KEY", "")'):
        assert counted(patch_ledger(hunk("pkg/a.py", "     x = 1", f"+    y = {line}"), NOTHING)) == [
            "environment KEY 41"
        ]
    own = hunk("pkg/a.py", " def f(environ):", '+    y = environ["KEY"]')  # a parameter of that name
    assert counted(patch_ledger(own, NOTHING)) == []


@pytest.mark.parametrize(
    ("path", "line", "found"),
    [
        ("web/a.js", "const k = process.env.KEY;", ["environment KEY 41"]),
        ("web/a.ts", 'import Redis from "ioredis";', ["import ioredis 41"]),
        ("web/a.ts", 'import { x } from "./other";', []),  # the tree's own: a note
        ("cmd/a.go", 'k := os.Getenv("KEY")', ["environment KEY 41"]),
        ("src/a.rs", 'let k = env::var("KEY");', ["environment KEY 41"]),
        ("src/main/java/com/acme/A.java", 'String k = System.getenv("KEY");', ["environment KEY 41"]),
    ],
)
def test_pieces_of_other_languages_are_read_as_far_as_they_go(path: str, line: str, found: list[str]) -> None:
    assert counted(patch_ledger(hunk(path, " ", f"+{line}", " "), NOTHING)) == found


def test_a_new_file_that_is_no_python_is_said_to_be_unread() -> None:
    found = patch_ledger(diff("a.py", None, "def f(:\n"), NOTHING)
    assert [f.kind for f in found.ledger.of("extended")] == ["parse_error"]


def test_machinery_and_weakened_assertions_come_along() -> None:
    found = patch_ledger(hunk("tests/test_a.py", "-    assert f() == 3", "+    assert f()"), RETRY)
    assert (found.machinery_only, found.weakened_assertions) == (True, 1)
    assert found.counts()["unauthorised_files"] == 1
    assert patch_ledger(b"", RETRY).counts() == dict.fromkeys(found.counts(), 0)


def test_solutions_of_the_shipped_pack_count_as_they_do_within_their_trees() -> None:
    for item in read_pack(PACK).items:
        allow = item.task.allow
        asked = Allow(tuple(allow.imports), allow.stdlib, tuple(allow.env), tuple(allow.files_write))
        old = {entry.path: entry.content.decode() for entry in item.tree}
        changes = overlay_changes(item.tree, item.solution)
        patch = b"".join(diff(c.path, old.get(c.path), c.content.decode()) for c in changes if c.content is not None)
        within, alone = examine(item.tree, changes, asked, None), patch_ledger(patch, asked)
        for name in ("invented_imports", "invented_env", "unauthorised_files", "violations", "extended"):
            assert getattr(alone.ledger, name) == getattr(within, name), (item.task.id, name)
        assert alone.ledger.generated_lines >= within.generated_lines  # difflib's diffs aren't the shortest
        assert alone.unread_lines == 0, item.task.id


def test_an_import_and_a_read_put_anywhere_into_the_shipped_sources_are_found() -> None:
    random_, tried = random.Random(3), 0
    for item in read_pack(PACK).items[::3]:
        for entry in item.tree:
            if not entry.path.endswith(".py"):
                continue
            text = entry.content.decode()
            lines = text.splitlines(keepends=True)
            bodies = [getattr(node, "body", None) for node in ast.walk(ast.parse(text))]
            spots: list[Any] = [statement for body in bodies if isinstance(body, list) for statement in body]
            for spot in random_.sample(spots, min(3, len(spots))):
                at = min(node.lineno for node in (spot, *getattr(spot, "decorator_list", ())))
                lead = lines[at - 1][: spot.col_offset]
                if lead.strip():
                    continue
                new = [f"{lead}import redis\n", f'{lead}secret = os.environ["WB_KEY"]\n']
                found = patch_ledger(
                    diff(entry.path, text, "".join([*lines[: at - 1], *new, *lines[at - 1 :]])), NOTHING
                )
                assert counted(found) == [f"import redis {at}", f"environment WB_KEY {at + 1}"], entry.path
                tried += 1
    assert tried > 100


def test_hostile_pieces_end_in_time_and_without_errors() -> None:
    for body in ("(" * 50_000, "x" * 200_000, '"' * 99_999, "if 1:\n+" * 500, "[" * 300 + "\\", "\x00\x01", "'" * 7):
        patch_ledger(hunk("a.py", " x", *f"+{body}".split("\n"), " y"), NOTHING)
    many = b"".join(hunk("a.py", "     x", f"+    y{i} = (", start=9 * i + 1).split(b"\n", 2)[2] for i in range(2_000))
    assert patch_ledger(b"--- a/a.py\n+++ b/a.py\n" + many, NOTHING).counts()["generated_lines"] == 2_000


def test_a_pattern_or_a_diff_that_is_none_is_refused() -> None:
    with pytest.raises(InputError):
        patch_ledger(b"hello\n", NOTHING)
    with pytest.raises(InputError):
        patch_ledger(diff("a.py", None, "x\n"), Allow((), False, (), ("../x",)))


CODE = ["import os", "    import redis", "def f(a,", "    b):", '"""', "x = [", "]", "else:", "    try:", "  except:", "@d",
        "", "\tpass", "if x:", "'", "\\", "#", "é = {", "}", "case 1:", "with a as b:", "lambda:", "os.environ[k]"]  # fmt: skip


@settings(max_examples=150, deadline=None)
@given(st.lists(st.tuples(st.sampled_from(" +-"), st.sampled_from(CODE)), min_size=1, max_size=10))
def test_any_lines_give_a_ledger_whose_findings_lie_in_added_lines(lines: list[tuple[str, str]]) -> None:
    patch = hunk("pkg/a.py", *(sign + line for sign, line in lines))
    found = patch_ledger(patch, NOTHING)
    number, added = 40, {0}
    for sign, _ in lines:
        added |= {number} if sign == "+" else set()
        number += sign != "-"
    assert {f.line for f in found.ledger.findings} <= added
    assert found.ledger.generated_lines == sum(sign == "+" for sign, _ in lines)


def _shared() -> Path | None:
    given_ = os.environ.get("WEIGHBRIDGE_LOGS")
    places = [Path(given_)] if given_ else [parent / "shared/data" for parent in Path(__file__).resolve().parents]
    return next((place for place in places if place.is_dir()), None)


@pytest.mark.skipif(_shared() is None, reason="no public logs beside this project (WEIGHBRIDGE_LOGS names them)")
def test_real_patches_of_an_agent_are_counted_as_a_reader_counts_them() -> None:
    folder = _shared()
    assert folder is not None
    found = [
        patch_ledger(p.read_bytes(), NOTHING, p) for p in sorted((folder / "swebench/vexp/logs").rglob("patch.diff"))
    ]
    # grep -rhE '^\+\s*(import|from)\s' gives seven lines: these three, two of the trees' own packages (one relative),
    # and two (importlib, functools) that the lines around or before them import as well
    invented = [f.symbol for each in found for f in each.ledger.of("article")]
    assert sorted(invented) == ["asgiref.sync", "functools", "packaging.version"]
    assert sum(each.ledger.generated_lines for each in found) == 911
    assert sum(each.unread_lines for each in found) == 2  # within a docstring of astropy's
