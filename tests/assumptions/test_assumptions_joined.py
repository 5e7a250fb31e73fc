"""What was read and what was seen to happen: one list, nothing twice, and only the patch's own deeds count."""

from __future__ import annotations

import pytest
from assumptions_corpus import ALLOW, STRICT, TREE, entries, written

from stages.assumptions import Allow, Ledger, examine
from stages.contract.ran import Ran

NEW = "billing/new.py"


def ledger(text: str, *ran: tuple[int, str, str, str], allow: Allow = ALLOW, path: str = NEW) -> Ledger:
    return examine(entries(TREE), [written(path, text)], allow, None, [Ran(path, *words) for words in ran])


def told(found: Ledger) -> list[tuple[str, str, int, str, str]]:
    return [(f.kind, f.symbol, f.line, f.counted, f.seen) for f in found.findings]


def test_what_was_read_and_happened_is_one_finding() -> None:
    text = "import os\nimport redis.client\nos.environ['API_KEY']\nos.environ.copy()\n"
    found = ledger(
        text,
        (2, "import", "redis", "direct"),
        (2, "import", "redis.client", "direct"),
        (3, "environment", "API_KEY", "direct"),
        (4, "env_escape", "os.environ", "direct"),
    )
    assert told(found) == [
        ("import", "redis.client", 2, "article", "both"),
        ("environment", "API_KEY", 3, "article", "both"),
        ("env_escape", "os.environ", 4, "extended", "both"),
    ]
    assert (found.violations, found.extended) == (2, 1)


def test_what_was_read_and_not_seen_to_happen_stays_as_it_was() -> None:
    text = "import redis\n"
    assert told(ledger(text)) == [("import", "redis", 1, "article", "static")]
    assert told(ledger(text, (1, "environment", "RETRY_LIMIT", "direct"))) == told(ledger(text))


@pytest.mark.parametrize(
    ("text", "ran", "expected"),
    [
        (
            "import os, base64\nos.environ[base64.b64decode('QQ==').decode()]\n",
            (2, "environment", "A", "direct"),
            ("environment", "A", 2, "article", "both"),
        ),
        (
            "import importlib, base64\nimportlib.import_module(base64.b64decode('cmVkaXM=').decode())\n",
            (2, "import", "redis", "direct"),
            ("import", "redis", 2, "article", "both"),
        ),
        (
            "import subprocess, sys\nsubprocess.run(sys.argv[1:])\n",
            (2, "shell", "curl", "direct"),
            ("shell", "curl", 2, "extended", "both"),
        ),
    ],
)
def test_a_name_that_the_text_leaves_open_and_the_deed_says_is_one_finding(
    text: str, ran: tuple[int, str, str, str], expected: tuple[str, str, int, str, str]
) -> None:
    assert len(told(ledger(text))) == 1
    found = ledger(text, ran)
    assert told(found) == [expected]
    assert found.findings[0].how.startswith("direct; ")
    assert "unknown" in found.findings[0].how


def test_what_stays_allowed_explains_nothing_away() -> None:
    text = "import os, sys\nos.environ[sys.argv[1]]\n"
    assert told(ledger(text, (2, "environment", "RETRY_LIMIT", "direct"))) == told(ledger(text))
    via = told(ledger(text, (2, "environment", "HOST", "via library socket")))
    assert via == [("environment", "HOST", 2, "note", "runtime"), ("opaque", "os.environ", 2, "extended", "static")]


@pytest.mark.parametrize(
    ("ran", "counted"),
    [
        ((1, "import", "redis", "direct"), "article"),
        ((1, "environment", "TOKEN", "direct"), "article"),
        ((1, "shell", "curl", "direct"), "extended"),
        ((1, "socket", "socket.connect", "direct"), "extended"),
        ((1, "env_escape", "os.environ", "direct"), "extended"),
        ((1, "file_write", "/tmp", "direct"), "note"),
        ((1, "import", "urllib3", "via library requests"), "note"),
        ((1, "environment", "NETRC", "via library requests"), "note"),
        ((1, "environment", "OTHER", "via billing/settings.py of the tree"), "note"),
        ((1, "socket", "socket.connect", "via library requests"), "note"),
    ],
)
def test_what_only_happened_counts_where_the_patch_did_it_itself(ran: tuple[int, str, str, str], counted: str) -> None:
    (finding,) = ledger("x = 1\n", ran).findings
    assert (finding.counted, finding.seen, finding.how) == (counted, "runtime", ran[3])


@pytest.mark.parametrize(
    "ran",
    [
        (1, "import", "glob", "direct"),  # the standard library
        (1, "import", "yaml", "direct"),  # PyYAML, of the list
        (1, "import", "google.cloud", "direct"),  # what an allowed module lies in
        (1, "import", "billing.settings", "direct"),  # the tree's own
        (1, "import", "docker", "direct"),  # a folder of the tree, which is one where it is run
        (1, "import", "datetime", "via library x"),
        (1, "environment", "RETRY_LIMIT", "direct"),
    ],
)
def test_what_is_allowed_is_no_finding(ran: tuple[int, str, str, str]) -> None:
    assert ledger("x = 1\n", ran).findings == ()


def test_the_list_holds_as_strictly_as_for_what_is_read() -> None:
    found = ledger("x = 1\n", (1, "import", "glob", "direct"), (1, "import", "datetime", "direct"), allow=STRICT)
    assert told(found) == [("import", "glob", 1, "article", "runtime")]


@pytest.mark.parametrize(
    "ran",
    [
        (1, "import", "requests", "direct"),
        (1, "environment", "HOME", "direct"),
        (1, "shell", "git", "direct"),
    ],
)
def test_what_the_tree_did_before_is_a_note(ran: tuple[int, str, str, str]) -> None:
    (finding,) = ledger("x = 1\n", ran).findings
    assert (finding.counted, finding.seen, finding.how) == ("note", "runtime", "direct, already in the tree")


def test_a_key_that_a_wrapper_reads_is_seen_from_both_sides() -> None:
    text = "from billing.settings import setting\nsetting('NEW_KEY')\n"
    found = ledger(text, (2, "environment", "NEW_KEY", "via billing/settings.py of the tree"))
    assert told(found) == [("environment", "NEW_KEY", 2, "article", "both")]


def test_a_deed_that_is_done_often_is_one_finding_and_done_directly_if_it_ever_was() -> None:
    ran = [
        (9, "environment", "T", "direct"),
        (3, "environment", "T", "via library x"),
        (4, "environment", "T", "direct"),
    ]
    (finding,) = ledger("x = 1\n", *ran).findings
    assert (finding.line, finding.how, finding.counted) == (4, "direct", "article")


def test_a_module_and_what_it_lies_in_are_one_import() -> None:
    ran = [(2, "import", name, "direct") for name in ("redis", "redis.asyncio", "redis.asyncio.client")]
    assert told(ledger("x = 1\n", *ran)) == [("import", "redis.asyncio.client", 2, "article", "runtime")]


def test_sockets_of_a_file_are_one_thing_however_they_are_told() -> None:
    text = "import socket\ns = socket.socket()\ns.connect(('x', 1))\n"
    found = ledger(text, (2, "socket", "socket.socket", "direct"), (3, "socket", "socket.connect", "direct"))
    assert told(found) == [("socket", "socket.socket", 2, "extended", "both")]


def test_records_of_other_files_or_unknown_kinds_are_left_out() -> None:
    other = Ran("billing/gone.py", 1, "environment", "TOKEN", "direct")
    strange = [Ran(NEW, 1, kind, "x", "direct") for kind in ("file", "drift", "binary", "nothing")]
    assert examine(entries(TREE), [written(NEW, "x = 1\n")], ALLOW, None, [other, *strange]).findings == ()


def test_hostile_words_come_out_as_short_lines_and_order_makes_no_difference() -> None:
    ran = [Ran(NEW, n, "environment", f"\x1b[31m{n}\n" * 40, "direct") for n in range(1, 9)]
    there = examine(entries(TREE), [written(NEW, "x = 1\n")], ALLOW, None, ran)
    back = examine(entries(TREE), [written(NEW, "x = 1\n")], ALLOW, None, ran[::-1])
    assert there == back
    assert all("\n" not in f.symbol and len(f.symbol) <= 120 for f in there.findings)
