"""Reading several pipes at once while a child runs: everything is read, the first bytes are kept."""

from __future__ import annotations

import contextlib
import os
import selectors
import time
from collections.abc import Mapping
from dataclasses import dataclass, field

_BLOCK = 65536


class Descriptors:
    """Descriptors that are closed once: a second close could hit one that another thread has opened."""

    def __init__(self) -> None:
        self._open: set[int] = set()

    def pipe(self) -> tuple[int, int]:
        ends = os.pipe()
        self._open.update(ends)
        return ends

    def adopt(self, handle: int) -> int:
        """A descriptor that was given away to be closed here."""
        self._open.add(handle)
        return handle

    def memory(self, content: bytes) -> int:
        """An anonymous file that holds `content`, to be read from its start."""
        handle = os.memfd_create("sandbox", os.MFD_CLOEXEC)
        self._open.add(handle)
        rest = memoryview(content)
        while rest:
            rest = rest[os.write(handle, rest) :]
        os.lseek(handle, 0, os.SEEK_SET)
        return handle

    def close(self, *handles: int) -> None:
        for handle in handles:
            if handle in self._open:
                self._open.remove(handle)
                os.close(handle)

    def close_all(self) -> None:
        self.close(*list(self._open))


@dataclass
class Drained:
    """`kept` is at most `cap` bytes of `total`; `ended` says whether every writer has closed the pipe."""

    cap: int
    kept: bytearray = field(default_factory=bytearray)
    total: int = 0
    ended: bool = False

    def take(self, piece: bytes) -> None:
        self.total += len(piece)
        self.kept += piece[: max(0, self.cap - len(self.kept))]


def drain(
    pipes: Mapping[str, int],
    caps: Mapping[str, int],
    *,
    until: str,
    feed: tuple[int, bytes],
    deadline: float,
    descriptors: Descriptors,
    linger_s: float,
) -> dict[str, Drained]:
    """Read `pipes` and write `feed` until the pipe named `until` ends, then `linger_s` more for the others.

    A process that escaped may hold a pipe open for ever, hence the end to lingering. `deadline` is a
    `time.monotonic()`.
    """
    seen = {name: Drained(caps[name]) for name in pipes}
    sink, rest = feed[0], memoryview(feed[1])
    with selectors.DefaultSelector() as selector:
        for name, handle in pipes.items():
            os.set_blocking(handle, False)
            selector.register(handle, selectors.EVENT_READ, name)
        if rest:
            os.set_blocking(sink, False)
            selector.register(sink, selectors.EVENT_WRITE, "")
        else:
            descriptors.close(sink)
        while (left := deadline - time.monotonic()) > 0 and not all(one.ended for one in seen.values()):
            ready = selector.select(left)
            for key, _ in ready:
                if not key.data:
                    with contextlib.suppress(BlockingIOError):
                        try:
                            rest = rest[os.write(sink, rest[:_BLOCK]) :]
                        except BrokenPipeError:
                            rest = memoryview(b"")
                    if not rest:
                        selector.unregister(sink)
                        descriptors.close(sink)
                    continue
                with contextlib.suppress(BlockingIOError):
                    piece = os.read(key.fd, _BLOCK)
                    seen[key.data].take(piece)
                    if not piece:
                        seen[key.data].ended = True
                        selector.unregister(key.fd)
                        if key.data == until:
                            deadline = min(deadline, time.monotonic() + linger_s)
    return seen
