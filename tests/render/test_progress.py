"""Progress: plain lines where there is no terminal, few of them, and safe from several threads."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

from stages.render import progress


def test_without_a_terminal_a_line_comes_now_and_then_and_at_the_end() -> None:
    said: list[str] = []
    with progress("trials", said.append) as tick:
        for done in range(1, 51):
            tick(done, 50, "control", "timeout" if done == 7 else "completed")
    assert 1 <= len(said) <= 2
    assert said[-1].startswith("trials 50/50, ")
    assert said[-1].endswith("about 0 s left (1 timeout)")


def test_many_threads_may_tick() -> None:
    said: list[str] = []
    with progress("scored", said.append) as tick, ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda n: tick(n, 400, "", "completed"), range(1, 401)))
    assert any(line.startswith("scored 400/400") for line in said)
