"""A bar on a terminal, a plain line now and then elsewhere."""

from __future__ import annotations

import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager

EVERY_S = 15.0


@contextmanager
def progress(what: str, say: Callable[[str], None]) -> Iterator[Callable[[int, int, str, str], None]]:
    """Yield `tick(done, planned, arm, how)`, safe to call from several threads."""
    lock, started, last = threading.Lock(), time.monotonic(), [0.0]
    ends: Counter[str] = Counter()

    def line(done: int, total: int) -> str:
        passed = time.monotonic() - started
        odd = ", ".join(f"{n} {how}" for how, n in sorted(ends.items()) if how != "completed")
        left = passed / sum(ends.values()) * (total - done) if ends else 0.0
        return f"{what} {done}/{total}, {passed:.0f} s, about {left:.0f} s left" + (f" ({odd})" if odd else "")

    if not sys.stderr.isatty():

        def plain(done: int, total: int, _arm: str, how: str) -> None:
            with lock:
                ends[how] += 1
                if done == total or time.monotonic() - last[0] >= EVERY_S:
                    last[0] = time.monotonic()
                    say(line(done, total))

        yield plain
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True)) as bar:
        task = bar.add_task(what, total=None)

        def tick(done: int, total: int, _arm: str, _how: str) -> None:
            with lock:
                bar.update(task, completed=done, total=total)

        yield tick
