"""What counts and what doesn't: changed lines, files, names of modules, and the shape of the ledger."""

from __future__ import annotations

import json
import subprocess
import sys
from fractions import Fraction
from pathlib import Path

import pytest
from assumptions_corpus import ALLOW, CASES, TREE, entries, written

import stages.assumptions as room
from stages.assumptions import Allow, Ledger, article_object, densities, examine, model
from stages.assumptions.distributions import IMPORTS_OF
from stages.assumptions.stdlib import STDLIB
from stages.contract.trees import EXECUTABLE, FILE, LINK, Change, Entry


def look(tree: dict[str, str], patch: dict[str, str | bytes], allow: Allow = ALLOW) -> Ledger:
    return examine(entries(tree), [written(p, t, tree) for p, t in patch.items()], allow, None)


def counted(ledger: Ledger) -> list[str]:
    return [f"{f.kind} {f.symbol} {f.line}" for f in ledger.findings if f.counted != "note"]


OLD = 'import json as o\n\nKEY = "RETRY_LIMIT"\n\n\ndef f():\n    return o.environ[KEY], run\n'


def test_only_lines_that_the_patch_touched_count() -> None:
    tree = {"billing/a.py": "import os\nimport redis\nos.environ['A']\nf(os.environ)\nx = 1\n"}
    ledger = look(tree, {"billing/a.py": tree["billing/a.py"].replace("x = 1", "x = 2\nos.environ['B']")})
    assert counted(ledger) == ["environment B 6"]
    assert ledger.generated_lines == 2


def test_a_line_that_means_something_else_because_of_the_patch_counts() -> None:
    tree = {"billing/a.py": OLD}
    assert counted(look(tree, {"billing/a.py": OLD.replace("json as o", "os as o")})) == []  # an allowed key
    patch = OLD.replace("json as o", "os as o").replace("RETRY_LIMIT", "API_KEY")
    assert counted(look(tree, {"billing/a.py": patch})) == ["environment API_KEY 7"]


def test_a_constant_that_the_patch_changed_counts_where_it_is_used() -> None:
    old = OLD.replace("json as o", "os as o")
    ledger = look({"billing/a.py": old}, {"billing/a.py": old.replace("RETRY_LIMIT", "API_KEY")})
    assert counted(ledger) == ["environment API_KEY 7"]


def test_moving_an_import_makes_no_finding_of_the_lines_below() -> None:
    old = "import json\nimport os\n\nf(os.environ)\nexec(x)\nos.system(y)\nos.environ['A']\n"
    new = old.replace("import json\nimport os\n", "import os\nimport json\n")
    ledger = look({"billing/a.py": old}, {"billing/a.py": new})
    assert counted(ledger) == []
    assert ledger.generated_lines == 1


def test_how_a_finding_was_resolved_is_said() -> None:
    text = 'from os import environ as e\nK = "A" + "B"\ne[K]\ntry:\n    import redis\nexcept ImportError:\n    pass\n'
    found = {f.symbol: f.how for f in look({}, {"billing/a.py": text}).findings}
    assert found == {
        "AB": "os.environ[...], written e, key worked out",
        "redis": "import, in a try for a missing import",
    }


def change(path: str, op: str, before: str | None, after: str | None, content: bytes | None) -> Change:
    return Change(path, op, before, after, None, None, content)  # type: ignore[arg-type]


def test_every_change_outside_the_allowed_files_is_one_finding() -> None:
    tree = [Entry("a.py", FILE, b"x = 1\n"), Entry("run.sh", FILE, b"ls\n"), Entry("billing/a.py", FILE, b"")]
    changes = [
        change("a.py", "delete", FILE, None, None),
        change("run.sh", "mode", FILE, EXECUTABLE, b"ls\n"),
        change("pipe", "special", None, "special:fifo", None),
        change("link", "add", None, LINK, b"/etc/passwd"),
        change("__pycache__/a.cpython-311.pyc", "add", None, FILE, b"\0\0"),
        change("conftest.py", "add", None, FILE, b""),
        change("billing/b.py", "add", None, FILE, b""),
        change("billing/a.py", "delete", FILE, None, None),
    ]
    ledger = examine(tree, changes, Allow((), True, (), ("billing/*.py",)), None)
    assert {(f.path, f.how) for f in ledger.of("article")} == {
        ("a.py", "delete"),
        ("run.sh", "mode 100644 to 100755"),
        ("pipe", "special:fifo"),
        ("link", "add, a link to /etc/passwd"),
        ("__pycache__/a.cpython-311.pyc", "add"),
        ("conftest.py", "add"),
    }
    assert ledger.unauthorised_files == ledger.violations == 6
    assert ledger.generated_lines == 0


def test_a_link_that_is_named_like_a_source_is_read_through() -> None:
    tree = entries({"notes.txt": "import redis\n"})
    inside = change("billing/x.py", "add", None, LINK, b"../notes.txt")
    outside = change("billing/y.py", "add", None, LINK, b"../../etc/x.py")
    circle = change("billing/z.py", "add", None, LINK, b"z.py")
    ledger = examine(tree, [inside, outside, circle], ALLOW, None)
    assert counted(ledger) == ["import redis 1", "parse_error billing/y.py 0", "parse_error billing/z.py 0"]


def test_a_script_without_a_suffix_is_read_by_its_first_line() -> None:
    assert counted(look({}, {"tools/run": "#!/usr/bin/env python3\nimport redis\n"}, _everywhere())) == [
        "import redis 2"
    ]
    assert counted(look({}, {"tools/run": "#!/bin/sh\nimport redis\n"}, _everywhere())) == []


def _everywhere(imports: tuple[str, ...] = ()) -> Allow:
    return Allow(imports, True, (), ("**",))


@pytest.mark.parametrize(
    ("tree", "path", "text", "expected"),
    [
        (
            {"src/pay/core.py": ""},
            "src/pay/new.py",
            "from pay.core import x\nimport pay.ghost\n",
            ["import pay.ghost 2"],
        ),
        ({"src/pay/__init__.py": ""}, "src/pay/new.py", "import pay.ghost\n", ["import pay.ghost 1"]),
        ({"api/pyproject.toml": "", "api/app/core.py": ""}, "api/app/new.py", "import app.core\n", []),
        ({"api/app/core.py": ""}, "api/app/new.py", "import app.core\n", ["import app.core 1"]),
        ({"ns/one/a.py": ""}, "ns/two/b.py", "import ns.one.a\nfrom ns.one import a\nfrom ns import one\n", []),
        ({"fast.cpython-311-x86_64-linux-gnu.so": ""}, "a.py", "import fast\n", []),
        ({"tests/helper.py": ""}, "tests/test_a.py", "import helper\n", []),
        ({"tests/helper.py": "", "tests/__init__.py": ""}, "tests/test_a.py", "import helper\n", ["import helper 1"]),
        ({"stubs.pyi": ""}, "a.py", "import stubs\n", []),
        (
            {"a.py": "import google.cloud.storage\n"},
            "b.py",
            "from google.cloud import storage, pubsub\n",
            ["import google.cloud.pubsub 1"],
        ),
        ({"a.py": "import redis.asyncio\n"}, "b.py", "import redis\nimport redis.client\n", ["import redis.client 2"]),
    ],
)
def test_modules_of_the_tree_are_known_in_every_layout(
    tree: dict[str, str], path: str, text: str, expected: list[str]
) -> None:
    assert counted(look(tree, {path: text}, _everywhere())) == expected


@pytest.mark.parametrize(
    ("entry", "text", "fine"),
    [
        ("billing.types", "import billing.types\n", True),
        ("billing.types", "from billing.types import X\n", True),
        ("billing.types", "from billing import types\n", True),
        ("billing.types", "from billing import types as t\n", True),
        ("billing.types", "import billing.types.deep\n", True),
        ("billing.types", "import billing.other\n", False),
        ("billing.types", "from billing import other\n", False),
        ("billing.types", "import billing.typesetting\n", False),
        ("billing.types", "from billing import *\n", False),
        ("redis", "import redis.asyncio\n", True),
        ("redis", "import redislite\n", False),
        ("Pillow", "from PIL import Image\n", True),
        ("scikit-learn", "import sklearn.svm\n", True),
        ("Typing_Extensions", "import typing_extensions\n", True),
        ("python-dateutil", "from dateutil.parser import parse\n", True),
        ("PIL", "import PIL\n", True),
        ("protobuf", "import google.protobuf.message\n", True),
        ("protobuf", "import google.auth\n", False),
    ],
)
def test_an_entry_of_the_list_is_a_dotted_prefix_or_a_distribution(entry: str, text: str, fine: bool) -> None:
    assert (counted(look({}, {"a.py": text}, _everywhere((entry,)))) == []) is fine


def test_what_cannot_be_read_in_the_frozen_tree_allows_nothing() -> None:
    assert counted(look({"a.py": "import redis\ndef (:\n"}, {"b.py": "import redis\n"}, _everywhere())) == [
        "import redis 1"
    ]


def test_other_languages_are_named_as_not_read_where_their_grammars_are_missing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("stages.assumptions.syntax.available", lambda: False)
    patch: dict[str, str | bytes] = dict.fromkeys(("a.ts", "b.go", "c.rs", "D.java", "e.txt"), "x\ny\n")
    ledger = look({}, patch, _everywhere())
    assert [(f.path, f.symbol, f.counted) for f in ledger.findings] == [
        ("D.java", "Java", "note"),
        ("a.ts", "JavaScript and TypeScript", "note"),
        ("b.go", "Go", "note"),
        ("c.rs", "Rust", "note"),
    ]
    assert all("pip install" in f.how for f in ledger.findings)
    assert ledger.generated_lines == 10


def test_rates_are_sums_over_sums_and_none_without_lines() -> None:
    one = look({}, {"a.py": "import redis\n" + "x = 1\n" * 9}, _everywhere())
    two = look({}, {"a.py": "exec(x)\n" + "x = 1\n" * 19}, _everywhere())
    empty = look({}, {"image.png": b"\0"}, Allow((), True, (), ()))
    both = densities([one, two, empty])
    assert (both.violations, both.extended, both.generated_lines) == (2, 1, 30)
    assert both.assumption_per_kloc == Fraction(2000, 30)
    assert both.extended_per_kloc == Fraction(1000, 30)
    assert densities([empty]).assumption_per_kloc is None
    assert densities([]).interface_drift_rate is None


def test_the_articles_object_has_its_fields_and_ours_apart() -> None:
    ledger = look({}, {"billing/a.py": "import redis\nimport os\nos.environ['K']\nexec(x)\n", "b.py": "x = 1\n"})
    found = article_object("payments-retry", "v1.4.0", "aa", "bb", True, ledger)
    extended = found.pop("extended")
    assert found == {
        "task_id": "payments-retry",
        "rev": "v1.4.0",
        "prompt_sha256": "aa",
        "patch_sha256": "bb",
        "oracle_pass": 1,
        "assumption_violations": 3,
        "assumption_per_kloc": 600.0,
        "invented_imports": ["redis"],
        "invented_env": ["K"],
    }
    assert extended["unauthorised_files"] == ["b.py"]
    assert (extended["generated_lines"], extended["extended_findings"], extended["extended_per_kloc"]) == (5, 1, 200.0)
    assert extended["interface_drift"] is None
    json.dumps(extended, allow_nan=False)
    assert article_object("t", "r", "p", "q", False, look({}, {}))["assumption_per_kloc"] is None


def test_the_frozen_list_covers_this_interpreters_standard_library() -> None:
    missing = sys.stdlib_module_names - STDLIB
    assert not missing or sys.version_info >= (3, 15)
    gone = {name for name in STDLIB - sys.stdlib_module_names if not name.startswith("_")}
    added = {"annotationlib", "compression"}  # 3.14
    removed = """
        aifc asynchat asyncore audioop cgi cgitb chunk crypt distutils imghdr imp lib2to3 mailcap msilib nis
        nntplib ossaudiodev pipes smtpd sndhdr spwd sunau telnetlib uu xdrlib
    """  # 3.12 and 3.13
    assert gone <= added | set(removed.split())


def test_every_kind_that_comes_out_is_a_declared_one() -> None:
    for case in CASES:
        ledger = examine(entries(TREE), [written(case.path, case.text)], case.allow, None)
        for finding in ledger.findings:
            assert finding.kind in KINDS[finding.counted]


KINDS = {
    "article": model.ARTICLE_KINDS,
    "extended": model.EXTENDED_KINDS,
    "drift": model.DRIFT_KINDS,
    "note": (*model.NOTE_KINDS, *model.ARTICLE_KINDS, *model.EXTENDED_KINDS),
}


def test_the_distribution_table_is_normalised_and_dotted() -> None:
    for name, modules in IMPORTS_OF.items():
        assert name == name.lower().replace("_", "-")
        assert all(part.isidentifier() for module in modules for part in module.split("."))
        assert modules


PROGRAM = """
import sys
sys.path[:0] = sys.argv[1:]
from assumptions_corpus import CASES, TREE, entries, written
from stages.assumptions import examine
changes = {c.path + str(i): written(f"billing/n{i}.py", c.text) for i, c in enumerate(CASES)}
for finding in examine(entries(TREE), list(changes.values()), CASES[0].allow, None).findings:
    print(finding)
"""


def test_hash_seeds_change_nothing() -> None:
    paths = [str(Path(__file__).parent), str(Path(room.__file__).parents[2])]
    outs = {
        subprocess.run(
            [sys.executable, "-c", PROGRAM, *paths],
            env={"PYTHONHASHSEED": seed},
            capture_output=True,
            check=True,
        ).stdout
        for seed in ("0", "1", "2")
    }
    assert len(outs) == 1
    assert outs.pop().count(b"\n") > 100


def test_the_order_of_entries_and_changes_is_free() -> None:
    tree = entries(TREE)
    changes = [written(f"billing/n{i}.py", case.text) for i, case in enumerate(CASES)]
    forward = examine(tree, changes, ALLOW, None)
    assert forward == examine(reversed(tree), reversed(changes), ALLOW, None)
    assert forward == examine(iter(tree[1:] + tree[:1]), iter(changes[7:] + changes[:7]), ALLOW, None)
