from taskweir.executor import execute
from taskweir.jobfile import read_jobs


def broken():
    raise OSError("no route to host")


def test_all_is_well():
    calls = []
    jobs = read_jobs("load: fetch\nfetch:\n")
    journal = execute(jobs, {"fetch": lambda: calls.append("fetch"), "load": lambda: calls.append("load")})
    assert calls == ["fetch", "load"]
    assert journal.lines() == ["fetch done", "load done"]


def test_failure_is_journalled():
    journal = execute(read_jobs("fetch:\n"), {"fetch": broken})
    assert journal.lines() == ["fetch failed (no route to host)"]


def test_jobs_after_a_failure():
    calls = []
    jobs = read_jobs("fetch:\nload: fetch\nrotate:\n")
    actions = {"fetch": broken, "load": lambda: calls.append("load"), "rotate": lambda: calls.append("rotate")}
    journal = execute(jobs, actions)
    assert calls == ["rotate"]
    assert journal.lines() == ["fetch failed (no route to host)", "load skipped (fetch)", "rotate done"]


def test_job_is_tried_again():
    results = [1, 0]

    def shaky():
        return 1 // (1 - results.pop(0))

    journal = execute(read_jobs("fetch: ; retries=3\n"), {"fetch": shaky})
    assert journal.names("retry") == ["fetch"]
    assert journal.names("done") == ["fetch"]
