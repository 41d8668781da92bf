"""Clocks for tests: one that stands still until the test advances it, the real one, and one that runs faster."""

import asyncio
import heapq
import itertools
import time
from dataclasses import dataclass
from typing import Self

START = 1_767_225_600_000_000
"""2026-01-01T00:00:00Z in microseconds."""


class WallClock:
    """The real time."""

    def now(self) -> int:
        """Microseconds since 1970."""
        return time.time_ns() // 1000

    def monotonic(self) -> float:
        """Seconds that never go back."""
        return time.monotonic()

    async def sleep(self, seconds: float) -> None:
        """Wait."""
        await asyncio.sleep(max(seconds, 0.0))


@dataclass(frozen=True, slots=True, kw_only=True)
class FastClock:
    """The Clock port, `speed` times faster than real: a lease of 30 s lasts 1.5 s at speed 20.

    Processes that were given the same clock agree on the time, since the machine's monotonic clock is one for all.
    """

    start: int
    """Wall clock at `base`, microseconds since 1970."""
    base: float
    """Monotonic seconds of the machine."""
    speed: float

    @classmethod
    def from_now(cls, speed: float) -> Self:
        """A clock that agrees with the real one just now."""
        return cls(start=time.time_ns() // 1000, base=time.monotonic(), speed=speed)

    def now(self) -> int:
        """Fast wall clock, microseconds since 1970."""
        return self.start + round(self.monotonic() * 1_000_000)

    def monotonic(self) -> float:
        """Fast seconds since `base`."""
        return (time.monotonic() - self.base) * self.speed

    async def sleep(self, seconds: float) -> None:
        """Wait for so many fast seconds."""
        await asyncio.sleep(max(seconds, 0.0) / self.speed)


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
    """Let every task that is ready run, until none is or `rounds` times over."""
    ready = getattr(asyncio.get_running_loop(), "_ready", (None,))  # a loop that does not tell gets all rounds
    for _ in range(rounds):
        await asyncio.sleep(0)
        if not ready:
            return
