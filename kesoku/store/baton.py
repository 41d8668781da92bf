"""The baton: the threads of a store take turns instead of running at once.

Python runs one thread at a time, and SQLite lets go of it at every row. Two threads in the middle of their rows hand it
to and fro each time, which takes longer than the rows themselves; so a group of writes and a group of reads run one
after the other. It is a courtesy and no lock: nothing depends on it, and a long read keeps nobody waiting for long.
"""

import threading
from collections.abc import Iterator
from contextlib import contextmanager

PATIENCE = 0.01
"""Seconds after which one runs without it."""


class Baton:
    """One a store."""

    def __init__(self) -> None:
        self._lock = threading.Lock()

    @contextmanager
    def held(self) -> Iterator[None]:
        """Run while the others wait, if it can be had in time."""
        has_it = self._lock.acquire(timeout=PATIENCE)
        try:
            yield
        finally:
            if has_it:
                self._lock.release()
