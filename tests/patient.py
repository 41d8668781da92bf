"""The event loop of the tests: its clock leaves out the time that the machine had for others.

A limit of half a second passes by itself where the machine stands still for a second. This loop waits in short slices
and counts each one, however long it took, as no more than its length: what a test limits is the time in which it could
have gone on.
"""

import asyncio
import selectors
import time

SLICE = 0.05
"""Seconds: nothing between two looks at the clock counts for more."""

_Found = list[tuple[selectors.SelectorKey, int]]


class PatientLoop(asyncio.SelectorEventLoop):
    """A loop whose `time` is the monotonic clock without the pauses that nobody asked for."""

    def __init__(self) -> None:
        self._looked = time.monotonic()
        self._lost = 0.0
        super().__init__(_Sliced(self))

    def time(self) -> float:
        """Seconds."""
        now = time.monotonic()
        self._lost += max(0.0, now - self._looked - SLICE)
        self._looked = now
        return now - self._lost

    def rested(self) -> None:
        """Nothing was to be done, for as long as it took: that counts whole."""
        self._looked = time.monotonic()


class _Sliced(selectors.DefaultSelector):
    def __init__(self, loop: PatientLoop) -> None:
        super().__init__()
        self._loop = loop

    def select(self, timeout: float | None = None) -> _Found:
        """Wait in slices for as long as a timer runs."""
        if timeout is None:
            found = super().select(None)
            self._loop.rested()
            return found
        until = self._loop.time() + timeout
        while (left := until - self._loop.time()) > SLICE:
            if found := super().select(SLICE):
                return found
        return super().select(max(0.0, left))
