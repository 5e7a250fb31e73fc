"""Hostile sources: a finding, never a crash, never a skip, and never much time."""

from __future__ import annotations

import random
import time

import pytest
from assumptions_corpus import ALLOW, CASES, TREE, entries, written
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from stages.assumptions import Interface, Ledger, examine
from stages.contract.errors import InputError

PINNED = Interface("billing.new", "f", "(a: int, *, b: str = '') -> list[int]")
DEEP = {
    "parentheses": "x = " + "(" * 5000 + "1" + ")" * 5000,
    "minus": "x = " + "-" * 100_000 + "1",
    "not": "x = " + "not " * 50_000 + "1",
    "plus": "x = " + "+".join(["1"] * 100_000),
    "attributes": "x = a" + ".b" * 100_000,
    "calls": "x = a" + "()" * 50_000,
    "lambdas": "x = " + "lambda: " * 20_000 + "1",
    "elif": "if a: pass\n" + "elif a: pass\n" * 10_000,
    "blocks": "".join(" " * i + "if a:\n" for i in range(150)),
    "ternaries": "x = " + "a if b else " * 20_000 + "c",
    "powers": "x = " + "**".join(["1"] * 20_000),
    "digits": "x = " + "9" * 100_000,
    "unclosed": "x = '" + "a" * 1_000_000,
    "unclosed brackets": "[" * 100_000,
    "dedents": " x\n  y\n",
    "large": "x = 1\n" * 400_000,
}


def look(text: str | bytes) -> Ledger:
    return examine(entries(TREE), [written("billing/new.py", text)], ALLOW, PINNED)


@pytest.mark.parametrize("name", DEEP)
def test_what_cannot_be_parsed_is_one_parse_error_and_a_missing_interface(name: str) -> None:
    ledger = look(DEEP[name])
    assert ledger.parse_errors == 1
    assert [f.kind for f in ledger.of("drift")] == ["missing"]
    assert ledger.generated_lines >= 1


NESTED = {
    "plus": "x = " + "+".join(["a"] * 780),
    "attributes": "import os\nx = os" + ".environ" * 780,
    "calls": "x = a" + "()" * 380,
    "elif": "if a: pass\n" + "elif a: pass\n" * 780 + "else:\n  import redis\n",
    "or": "import os\ne = " + "(a or " * 150 + "os.environ" + ")" * 150 + "\ne['A']\n",
    "subscripts": "x: " + "list[" * 150 + "int" + "]" * 150 + " = 1\n",
    "bitor": "def f(a: " + " | ".join(["int"] * 700) + "): ...\n",
    "default": "def f(a=" + "+".join(["1"] * 700) + ", *, b: int=" + "-" * 700 + "1): ...\n",
}


@pytest.mark.parametrize("name", NESTED)
def test_what_can_just_be_parsed_is_read_without_recursion(name: str) -> None:
    ledger = look(NESTED[name])
    assert ledger.parse_errors == 0


TANGLED = {
    "a chain": "import os\nx0 = os.environ\n" + "".join(f"x{i} = x{i - 1}\n" for i in range(1, 5000)) + "x4999['A']\n",
    "a chain backwards": "import os\nx9['A']\n" + "".join(f"x{i} = x{i - 1}\n" for i in range(5000, 0, -1)),
    "a knot": "".join(f"x{i} = x{j}\n" for i in range(40) for j in range(40)) + "x0['A']\n",
    "a doubling": "import os\nx0 = 'a'\n"
    + "".join(f"x{i} = x{i - 1} + x{i - 1}\n" for i in range(1, 60))
    + "os.environ[x59]\n",
    "many values": "import os\n" + "".join(f"k = 'K{i}'\n" for i in range(5000)) + "os.environ[k]\n",
    "many of one name": "import os\n" + "x = os.environ\n" * 3000 + "x['A']\n" * 3000,
    "itself": "x = x\nx = x.x\nx()\nx['A']\n",
    "text in text": "exec(" * 4 + "'exec(\"x = 1\")'" + ")" * 4,
    "imports of each other": "from billing.new import a as b, b as a\na['A']\nb()\n",
    "stars of itself": "from billing.new import *\nfrom . import *\nexec(z)\n",
    "one long line": "x = [" + "os.environ['A'], " * 5_000 + "]\n",
}


@pytest.mark.parametrize("name", TANGLED)
def test_tangled_names_end_in_time(name: str) -> None:
    start = time.process_time()
    ledger = look(TANGLED[name])
    assert time.process_time() - start < 10
    assert ledger.parse_errors == 0


def test_a_chain_that_is_followed_and_one_that_is_too_long_both_come_out() -> None:
    assert [f.symbol for f in look(TANGLED["a chain"]).of("article")] == ["A"]
    backwards = look(
        "import os\nx9['A']\n" + "".join(f"x{i} = x{i - 1}\n" for i in range(9, 0, -1)) + "x0 = os.environ\n"
    )
    assert [f.symbol for f in backwards.of("article")] == ["A"]
    long = look("import os\nx99['A']\n" + "".join(f"x{i} = x{i - 1}\n" for i in range(99, 0, -1)) + "x0 = os.environ\n")
    assert [f.kind for f in long.of("extended")] == ["opaque"]


@settings(max_examples=150, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.one_of(st.text(max_size=300).map(lambda t: t.encode("utf-8", "surrogatepass")), st.binary(max_size=300)))
def test_random_bytes_never_crash(content: bytes) -> None:
    look(content)


PIECES = sorted({line for case in CASES if isinstance(case.text, str) for line in case.text.splitlines()})


@settings(max_examples=100, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.randoms(use_true_random=False), st.integers(1, 25))
def test_lines_thrown_together_never_crash(rng: random.Random, count: int) -> None:
    text = "\n".join(rng.choice(PIECES) for _ in range(count))
    for _ in range(rng.randrange(3)):
        at = rng.randrange(len(text) + 1)
        text = text[:at] + rng.choice("()[]{}.,:='\"\\\n\t #\0@*") + text[at + rng.randrange(3) :]
    first = look(text)
    assert first == look(text)


@settings(max_examples=100, deadline=None)
@given(st.text(max_size=60))
def test_a_pinned_signature_is_read_or_refused_in_one_line(text: str) -> None:
    message = ""
    try:
        examine(entries(TREE), [], ALLOW, Interface("billing.settings", "setting", text))
    except InputError as error:
        message = str(error)
    assert "\n" not in message


def test_hostile_names_come_out_on_one_line_and_short() -> None:
    ledger = look('import os\nos.environ["A\\nB' + "C" * 5000 + '"]\n')
    (finding,) = ledger.of("article")
    assert "\n" not in finding.symbol
    assert len(finding.symbol) <= 120
