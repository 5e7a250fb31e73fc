import pytest

from taskweir.jobfile import Job, read_jobs
from taskweir.journal import Journal
from taskweir.planner import plan


def test_jobs_are_read():
    jobs = read_jobs("fetch:\nload: fetch, clean; retries=2\n")
    assert jobs == [Job("fetch"), Job("load", ("fetch", "clean"), 2)]


def test_plan_respects_needs():
    jobs = [Job("a", ("c",)), Job("b"), Job("c", ("b",))]
    assert [step.name for step in plan(jobs)] == ["b", "c", "a"]
    with pytest.raises(ValueError):
        plan([Job("a", ("b",)), Job("b", ("a",))])


def test_journal_lines():
    journal = Journal()
    journal.record("a", "failed", "no disk")
    journal.record("b", "done")
    assert journal.lines() == ["a failed (no disk)", "b done"]
    assert journal.names("done") == ["b"]
