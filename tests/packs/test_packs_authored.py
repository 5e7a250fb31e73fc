"""How well a pack was written: near-duplicates, statements that name what is asked for, hidden tests in the open."""

from __future__ import annotations

import random
from collections.abc import Iterator
from fractions import Fraction
from itertools import combinations
from pathlib import Path

import pytest

from stages.assumptions import beyond_contract
from stages.contract.task import Interface, Oracle
from stages.contract.trees import Entry
from stages.packs import leaked_solution, names_interface, open_oracle, read_pack, resemblances
from stages.packs import similar as room
from stages.packs.read import FrozenItem
from stages.packs.similar import near_duplicates

PACK = Path(__file__).resolve().parents[2] / "data/pack"
FOURTEEN = "one two three four five six seven eight nine ten eleven twelve thirteen fourteen"


def file(path: str, text: str) -> Entry:
    return Entry(path, "100644", text.encode())


def words(text: str) -> set[tuple[str, ...]]:
    listed = text.split()
    return {tuple(listed[at : at + 4]) for at in range(len(listed) - 3)}


def test_similarity_is_the_share_of_common_runs_of_four_words() -> None:
    # By hand: 11 runs; another last word changes one of them, so 10 are common and 12 there are in all.
    other = FOURTEEN.replace("fourteen", "15")
    assert near_duplicates({"b": FOURTEEN, "a": other}) == ([("a", "b", Fraction(10, 12))], True)
    middle = FOURTEEN.replace("seven", "7")
    assert near_duplicates({"a": middle, "b": FOURTEEN}) == ([], True)
    assert near_duplicates({"a": middle, "b": FOURTEEN}, Fraction(7, 15))[0] == [("a", "b", Fraction(7, 15))]
    assert near_duplicates({"a": "too short to say", "b": "too short to say"}) == ([], True)
    assert near_duplicates({}) == ([], True)


def test_the_pairs_found_are_those_that_comparing_all_of_them_finds() -> None:
    draw = random.Random(5)
    base = [" ".join(draw.choices("abcdefghij", k=40)) for _ in range(6)]
    texts = {}
    for number in range(60):
        listed = draw.choice(base).split()
        for _ in range(draw.randrange(4)):
            listed[draw.randrange(40)] = draw.choice("xyz")
        texts[f"t{number:02}"] = " ".join(listed)
    for least in (Fraction(4, 5), Fraction(1, 2), Fraction(1)):
        wanted = {
            (a, b, Fraction(len(words(texts[a]) & words(texts[b])), len(words(texts[a]) | words(texts[b]))))
            for a, b in combinations(sorted(texts), 2)
        }
        found, complete = near_duplicates(texts, least)
        assert complete
        assert set(found) == {pair for pair in wanted if pair[2] >= least}
        assert len(found) > 5
        assert found == near_duplicates(dict(reversed(texts.items())), least)[0]


def test_too_many_pairs_to_compare_are_said_and_not_passed_over(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(room, "MOST_COMPARED", 10)
    pairs, complete = near_duplicates({f"i{n}": FOURTEEN for n in range(9)})
    assert (len(pairs), complete) == (10, False)


@pytest.mark.heavy
def test_ten_thousand_items_are_compared_in_seconds() -> None:
    draw = random.Random(1)
    known = [str(number) for number in range(5000)]
    texts = {f"i{n}": " ".join(draw.choices(known, k=200)) for n in range(10_000)}
    texts["twin"] = texts["i77"]
    assert near_duplicates(texts) == ([("i77", "twin", Fraction(1))], True)


def test_items_alike_across_strata_are_told_apart_from_those_within(pack: list[FrozenItem]) -> None:
    one, two = pack[0], pack[-1]
    planned = [item.planned(60) for item in (one, two)]
    files = {(i.item_id, "workspace"): one.tree for i in planned}
    files |= {(i.item_id, "statement"): [Entry("statement.md", "100644", one.statement)] for i in planned}
    files |= {(planned[0].item_id, "oracle"): one.oracle, (planned[1].item_id, "oracle"): two.oracle}
    statement, solution, oracle = resemblances(planned, files)
    assert (statement.what, solution.pairs, oracle.pairs) == ("statement", [], [])
    first, second = sorted(i.item_id for i in planned)
    assert statement.nearest() == {first: (second, 1), second: (first, 1)}
    strata = {i.item_id: i.stratum for i in planned}
    assert len(set(strata.values())) == 2
    (line,) = statement.lines(strata)
    assert line == f"1 pairs alike by their statement, 1 of them across strata: {first} and {second} (1.00)"


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("Mend `total` in the shop.", True),
        ("Mend shop/prices.py.", True),
        ("Mend `shop.prices`.", True),
        ("The subtotal is wrong; totals too.", False),
        ("workshop.prices is wrong.", False),
        ("Mend `Till.total`.", True),
    ],
)
def test_a_statement_names_the_interface_by_whole_words(text: str, named: bool) -> None:
    pinned = Interface(module="shop.prices", function="Till.total", signature="()")
    said = names_interface(text.encode(), pinned)
    assert said == (None if named else "names neither Till.total nor shop.prices")
    assert names_interface(b"anything", None) is None


TEST = "def test_{0}():\n    basket = shop.basket('{0}', 3)\n    assert basket.total() == 3 * basket.price\n"
HIDDEN = [file("test_hidden.py", f"import shop\n\n\n{TEST.format('apples')}\n\n{TEST.format('pears')}")]


@pytest.mark.parametrize(
    ("open_to", "read"),
    [
        ([], 0),
        ([file("tests/test_shop.py", f"import shop\n\n\n{TEST.format('figs')}")], 0),
        ([file("tests/test_shop.py", f"import shop\n\n\n{TEST.format('pears')}")], 1),
        ([file("tests/test_shop.py", HIDDEN[0].content.decode())], 2),
        ([file("notes.txt", "".join(f"# {line}\n" for line in HIDDEN[0].content.decode().splitlines()))], 2),
    ],
)
def test_hidden_tests_that_stand_in_the_workspace_are_counted(open_to: list[Entry], read: int) -> None:
    found = open_oracle(HIDDEN, Oracle(), open_to, b"Sum it up.")
    assert found[:2] == (read, 2)
    assert (found[2] is None) == (read == 0)


def test_short_tests_count_beside_long_ones_and_an_oracle_of_a_few_words_is_not_looked_for() -> None:
    tiny = "def test_{0}():\n    assert {0}()\n"
    mixed = [file("test_hidden.py", f"{tiny.format('a')}\n\n{TEST.format('pears')}")]
    open_to = [file("tests/test_shop.py", TEST.format("pears"))]
    assert open_oracle(mixed, Oracle(), open_to, b"Sum.")[:2] == (1, 2)
    alone = [file("test_hidden.py", tiny.format("a"))]
    assert open_oracle(alone, Oracle(), alone, b"Sum.") == (0, 0, None)


def test_a_judging_command_is_looked_for_and_its_data_is_not() -> None:
    script = file(
        "check.sh", "set -eu\npython3 -c 'import shop; assert shop.total([1, 2]) == 3'\necho all is well here\n"
    )
    data = file("prices.csv", "name,price\n" + "apple,3\n" * 20)
    asked = Oracle(kind="command", command=["sh", "check.sh"])
    assert open_oracle([script, data], asked, [data], b"Sum.") == (0, 1, None)
    told = open_oracle([script, data], asked, [script], b"Sum.")
    assert told == (1, 1, "check.sh stands in workspace/check.sh")


@pytest.fixture(scope="module")
def pack() -> list[FrozenItem]:
    return read_pack(PACK).items


def test_no_task_of_the_bundled_pack_is_called_leaked_open_or_beyond_its_contract(pack: list[FrozenItem]) -> None:
    for item in pack:
        assert leaked_solution(item.solution, item.tree, item.statement) is None, item.task.id
        read, looked, _ = open_oracle(item.oracle, item.task.oracle, item.tree, item.statement)
        assert read == 0, item.task.id
        assert looked > 0, item.task.id
        assert beyond_contract(item.planned(60), item.tree, item.solution)[0] == [], item.task.id


def test_no_solution_of_the_bundled_pack_is_found_in_another_task(pack: list[FrozenItem]) -> None:
    real = [item for item in pack if not item.task.placebo]
    for one, other in neighbours(real):
        tree = [*one.tree, *(Entry(f"other/{e.path}", e.mode, e.content) for e in other.tree)]
        assert leaked_solution(one.solution, tree, other.statement) is None, (one.task.id, other.task.id)


def neighbours(items: list[FrozenItem]) -> Iterator[tuple[FrozenItem, FrozenItem]]:
    return ((a, b) for a in items for b in items if a is not b)


def test_no_two_tasks_of_the_bundled_pack_are_nearly_the_same(pack: list[FrozenItem]) -> None:
    files = {(i.task.id, "workspace"): i.tree for i in pack}
    files |= {(i.task.id, "statement"): [Entry("statement.md", "100644", i.statement)] for i in pack}
    files |= {(i.task.id, "oracle"): i.oracle for i in pack} | {(i.task.id, "solution"): i.solution for i in pack}
    assert [(r.pairs, r.complete) for r in resemblances([i.planned(60) for i in pack], files)] == [([], True)] * 3
