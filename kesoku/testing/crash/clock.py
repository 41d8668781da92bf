"""A clock that all processes share and that runs faster than real time."""

import asyncio
import time
from dataclasses import dataclass
from typing import Self


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
