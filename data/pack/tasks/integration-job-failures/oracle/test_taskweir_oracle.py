# wb-canary-ef75e4af
import pytest

from taskweir.executor import execute
from taskweir.jobfile import Job, read_jobs
from taskweir.planner import Step, plan


class World:
    """Actions that fail a given number of times (-1: always), and what was called."""

    def __init__(self, names, failures=()):
        self.left = dict(failures)
        self.calls = []
        self.actions = {name: lambda name=name: self._act(name) for name in names}

    def _act(self, name):
        self.calls.append(name)
        left = self.left.get(name, 0)
        if left:
            self.left[name] = left - 1
            raise RuntimeError(f"{name} broke")


def test_retries_until_it_works():
    world = World("ab", {"a": 2})
    journal = execute(read_jobs("a: ; retries=3\nb: a\n"), world.actions)
    assert journal.lines() == ["a retry (a broke)", "a retry (a broke)", "a done", "b done"]
    assert world.calls == ["a", "a", "a", "b"]


@pytest.mark.parametrize("retries", [0, 1, 3])
def test_retries_run_out(retries):
    world = World("a", {"a": -1})
    journal = execute([Job("a", (), retries)], world.actions)
    assert journal.lines() == ["a retry (a broke)"] * retries + ["a failed (a broke)"]
    assert len(world.calls) == retries + 1


def test_last_try_may_work():
    world = World("a", {"a": 2})
    journal = execute([Job("a", (), 2)], world.actions)
    assert [entry.status for entry in journal.entries] == ["retry", "retry", "done"]
    assert journal.entries[-1].detail == ""


def test_skipped_by_way_of_others():
    world = World("abcd", {"a": -1})
    journal = execute(read_jobs("a:\nb: a\nc: b\nd:\n"), world.actions)
    assert journal.lines() == ["a failed (a broke)", "b skipped (a)", "c skipped (a)", "d done"]
    assert world.calls == ["a", "d"]


def test_all_failed_needs_are_named():
    world = World(["x", "m", "k", "mid", "top", "good"], {"x": -1, "m": -1})
    text = "x:\nm:\nk:\nmid: x, k\ngood: k\ntop: good, mid, m\n"
    journal = execute(read_jobs(text), world.actions)
    assert journal.lines() == [
        "k done", "good done", "m failed (m broke)", "x failed (x broke)", "mid skipped (x)", "top skipped (m, x)",
    ]


def test_shared_cause_is_named_once():
    world = World("abcd", {"a": -1})
    journal = execute(read_jobs("a:\nb: a\nc: a\nd: b, c, a\n"), world.actions)
    assert journal.lines()[-1] == "d skipped (a)"
    assert journal.names("skipped") == ["b", "c", "d"]


def test_missing_action_is_found_before_the_run():
    world = World("ab")
    with pytest.raises(ValueError):
        execute(read_jobs("a:\nb: a\nz: b\n"), world.actions)
    assert world.calls == []


@pytest.mark.parametrize("kind", [KeyboardInterrupt, SystemExit])
def test_interruptions_reach_the_caller(kind):
    def stop():
        raise kind()

    calls = []
    with pytest.raises(kind):
        execute([Job("a", (), 2), Job("b")], {"a": stop, "b": lambda: calls.append("b")})
    assert calls == []


def test_plan_hands_on_the_retries():
    assert plan(read_jobs("b: a; retries=4\na:\n")) == [Step("a"), Step("b", ("a",), 4)]


def test_runs_do_not_share_anything():
    world = World("ab", {"a": 1})
    jobs = read_jobs("a:\nb: a\n")
    assert execute(jobs, world.actions).lines() == ["a failed (a broke)", "b skipped (a)"]
    assert execute(jobs, world.actions).lines() == ["a done", "b done"]
