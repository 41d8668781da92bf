"""How long a connection may be away, and whether it is: in events, without the library."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field

OnHealth = Callable[[bool, str], None]
"""Told whether the connection is well, and what ails it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Timing:
    """How long the connection waits for what; seconds."""

    heartbeat: float = 60.0
    """Without any sign of Discord for so long, the connection is made anew (complaint 149)."""
    guilds: float = 0.3
    """A session is ready when no further server was named for so long."""
    identify: float = 5.0
    """Between two new sessions. Discord takes one in 5 s, and resets the token of a bot that makes too many a day."""
    dial: float = 0.5
    """Between the beginnings of two connections, so that a gateway that ends each one at once is not stormed."""
    patience: float = 10.0
    """A connection that comes back within this was never unwell: Discord itself asks for a new one now and then."""
    affirm: float = 30.0
    """How often a connection is said to be well that stays: what one refusal of the token held goes out then."""
    outage: float = 120.0
    """Without a connection for so long, it is given up; the library's own pauses grow to a quarter of an hour."""


@dataclass(slots=True, kw_only=True, eq=False)
class Connection:
    """Whether there is one."""

    timing: Timing
    health: OnHealth
    _made: asyncio.Event = field(default_factory=asyncio.Event)
    _lost: asyncio.Event = field(default_factory=asyncio.Event)

    def made(self) -> None:
        """There is one now."""
        self._made.set()
        self._lost.clear()

    def lost(self) -> None:
        """It is lost, or could not be made."""
        self._made.clear()
        self._lost.set()

    async def watch(self) -> None:
        """Tell `health` how it stands, until cancelled. Raises ConnectionError after `Timing.outage`."""
        timing = self.timing
        while True:
            if not await _within(timing.patience, self._made):
                self.health(False, "there is no connection to Discord; it is being made again")
                if not await _within(timing.outage - timing.patience, self._made):
                    raise ConnectionError(f"no connection to Discord for {timing.outage:.0f} s")
            self.health(True, "")
            while not await _within(timing.affirm, self._lost):
                self.health(True, "")


async def _within(seconds: float, event: asyncio.Event) -> bool:
    try:
        async with asyncio.timeout(seconds):
            await event.wait()
    except TimeoutError:
        return False
    return True
