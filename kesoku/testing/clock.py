"""A clock that stands still until a test turns it."""

import asyncio
import heapq
import itertools

START = 1_767_225_600_000_000
"""2026-01-01T00:00:00Z in microseconds."""


class VirtualClock:
    """The Clock port under a test's hand: `sleep` ends when `advance` has passed its time, sleepers in order."""

    def __init__(self, start: int = START) -> None:
        self._now = self._start = start
        self._jumped = 0
        self._order = itertools.count()
        self._sleepers: list[tuple[int, int, asyncio.Future[None]]] = []

    def now(self) -> int:
        """Virtual wall clock, microseconds since 1970."""
        return self._now + self._jumped

    def monotonic(self) -> float:
        """Virtual seconds since the clock was made."""
        return (self._now - self._start) / 1e6

    def jump(self, seconds: float) -> None:
        """Set the wall clock forward or back, as people, NTP and a laptop's lid do; `monotonic` does not notice."""
        self._jumped += round(seconds * 1_000_000)

    async def sleep(self, seconds: float) -> None:
        """Wait until the clock was advanced this far; with 0 or less only let others run."""
        if seconds <= 0:
            await asyncio.sleep(0)
            return
        done = asyncio.get_running_loop().create_future()
        due = self._now + round(seconds * 1_000_000)
        heapq.heappush(self._sleepers, (due, next(self._order), done))
        await done

    @property
    def sleeping(self) -> int:
        """How many tasks wait for this clock."""
        return sum(not done.done() for _, _, done in self._sleepers)

    async def advance(self, seconds: float) -> None:
        """Let time pass. Each sleeper wakes at its own instant and runs before the next one is woken."""
        end = self._now + round(seconds * 1_000_000)
        await settle()
        while self._sleepers and self._sleepers[0][0] <= end:
            due, _, done = heapq.heappop(self._sleepers)
            self._now = max(self._now, due)
            if not done.done():
                done.set_result(None)
                await settle()
        self._now = end
        await settle()


async def settle(rounds: int = 20) -> None:
    """Let every task that is ready run, `rounds` times over."""
    for _ in range(rounds):
        await asyncio.sleep(0)
