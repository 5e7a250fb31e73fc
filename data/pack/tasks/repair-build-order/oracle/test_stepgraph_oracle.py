# wb-canary-32dc84d2
import sys

import pytest

from stepgraph.order import CycleError, UnknownStep, run_order
from stepgraph.recipe import plan


def cycle_of(steps, *wanted):
    with pytest.raises(CycleError) as caught:
        run_order(steps, wanted)
    return caught.value.path


def test_shared_steps_run_once():
    steps = {"app": ["ui", "net", "core"], "ui": ["core", "log"], "net": ["log"], "core": ["log"], "log": []}
    assert run_order(steps, ["app"]) == ["log", "core", "ui", "net", "app"]


def test_wanted_steps_with_something_in_common():
    steps = {"a": ["x"], "b": ["x", "a"], "x": []}
    assert run_order(steps, ["a", "b"]) == ["x", "a", "b"]
    assert run_order(steps, ["b", "a", "b"]) == ["x", "a", "b"]
    assert run_order(steps, iter(["x", "a"])) == ["x", "a"]


def test_needs_are_walked_in_the_listed_order():
    steps = {"top": ["c", "a", "b"], "a": [], "b": ["a"], "c": ["b"], "other": []}
    assert run_order(steps, ["top"]) == ["a", "b", "c", "top"]
    assert run_order({"t": ["z", "y", "y", "x"], "x": [], "y": [], "z": []}, ["t"]) == ["z", "y", "x", "t"]


@pytest.mark.parametrize("steps, wanted, path", [
    ({"app": ["a"], "a": ["b"], "b": ["a"]}, "app", ["a", "b", "a"]),
    ({"a": ["a"]}, "a", ["a", "a"]),
    ({"app": ["ok", "m"], "ok": [], "m": ["ok", "n"], "n": ["ok", "o"], "o": ["n"]}, "app", ["n", "o", "n"]),
    ({"a": ["b"], "b": ["c"], "c": ["a"]}, "b", ["b", "c", "a", "b"]),
    ({"p": ["q"], "q": ["q"]}, "p", ["q", "q"]),
])
def test_path_is_the_cycle_alone(steps, wanted, path):
    assert cycle_of(steps, wanted) == path


def test_cycle_behind_a_finished_step():
    steps = {"one": [], "two": ["one", "three"], "three": ["one", "two"]}
    assert cycle_of(steps, "one", "three") == ["three", "two", "three"]


def test_long_chain_and_long_cycle():
    limit = sys.getrecursionlimit()
    steps = {f"s{number}": [f"s{number + 1}"] for number in range(4000)}
    steps["s4000"] = []
    assert run_order(steps, ["s0"]) == [f"s{number}" for number in reversed(range(4001))]
    steps["s4000"] = ["s10"]
    path = cycle_of(steps, "s0")
    assert (len(path), path[0], path[-1]) == (3992, "s10", "s10")
    assert sys.getrecursionlimit() == limit


@pytest.mark.parametrize("steps, wanted, expected", [
    ({"app": ["a"], "a": ["nope"]}, "app", ("nope", "a")),
    ({}, "app", ("app", "")),
    ({"app": ["a", "a"], "a": [], "b": ["app", "gone"]}, "b", ("gone", "b")),
])
def test_unknown_steps(steps, wanted, expected):
    with pytest.raises(UnknownStep) as caught:
        run_order(steps, [wanted])
    assert (caught.value.name, caught.value.needed_by) == expected


def test_plan_of_all_final_steps():
    text = "docs: core\napp: ui core\nui: core\ncore:"
    assert plan(text) == ["core", "docs", "ui", "app"]
    assert plan(text, "ui") == ["core", "ui"]
