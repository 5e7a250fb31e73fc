import pytest

from stepgraph.order import CycleError, UnknownStep, run_order
from stepgraph.recipe import plan, read_steps


def test_shared_step_is_no_cycle():
    steps = {"app": ["ui", "core"], "ui": ["core"], "core": []}
    assert run_order(steps, ["app"]) == ["core", "ui", "app"]


def test_path_is_the_cycle_alone():
    with pytest.raises(CycleError) as caught:
        run_order({"app": ["a"], "a": ["b"], "b": ["a"]}, ["app"])
    assert caught.value.path == ["a", "b", "a"]


def test_long_chain():
    steps = {str(number): [str(number + 1)] for number in range(3000)}
    steps["3000"] = []
    assert run_order(steps, ["0"])[:2] == ["3000", "2999"]


def test_chain():
    assert plan("app: ui\nui: core\ncore:", "app") == ["core", "ui", "app"]


def test_unknown_step():
    with pytest.raises(UnknownStep) as caught:
        run_order({"app": ["nothing"]}, ["app"])
    assert (caught.value.name, caught.value.needed_by) == ("nothing", "app")


def test_read_steps():
    assert read_steps("# build\napp: ui core  # all\n\ncore:") == {"app": ["ui", "core"], "core": []}
