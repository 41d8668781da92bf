"""The pace of one bot: 4 requests in any tenth of a second, so 40 in any second, the important ones first.

Discord counts 50 in a second over everything that a bot asks, and bans who ignores it. Some are on their way for longer
than others, so a whole second's worth at once could meet that of the next second; and the library repeats some.
"""

import asyncio
import time
from collections import deque
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from enum import IntEnum

MOST, WINDOW = 4, 0.1
"""So many requests in so many seconds."""
_PATIENCE = 2.0
"""Seconds after which showing that the bot types is not worth a request any more."""
_TICK = 1e-6
"""Seconds; clocks are no finer, and a sleep may end that much early."""


class Rank(IntEnum):
    """What a request is for; the smaller rank goes first."""

    ANSWER = 0
    """What people wait for: messages, commands, and whatever leads to them."""
    LIVE = 1
    """Redrawing and removing a live status, and reading what was said."""
    TYPING = 2
    """Showing that the bot types: dropped when it is late."""


_ALLOWANCE = {Rank.ANSWER: 0.0, Rank.LIVE: 2.0, Rank.TYPING: 4.0}
"""Seconds by which a rank stands back: who has waited for longer goes before a fresh answer, so nobody starves."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Waiter:
    rank: Rank
    asked: float
    turn: asyncio.Future[bool]

    @property
    def due(self) -> float:
        return self.asked + _ALLOWANCE[self.rank]


@dataclass(slots=True, kw_only=True, eq=False)
class Limiter:
    """Gives out turns. `now` and `sleep` are in seconds."""

    now: Callable[[], float] = time.monotonic
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep
    _given: deque[float] = field(default_factory=lambda: deque(maxlen=MOST))
    _waiting: dict[Rank, deque[_Waiter]] = field(default_factory=lambda: {rank: deque() for rank in Rank})
    _giving: asyncio.Task[None] | None = None

    async def turn(self, rank: Rank) -> bool:
        """Wait for a turn; False means that it came too late to be of use, and must not be taken."""
        now = self.now()
        if not any(self._waiting.values()) and self._left(now) <= 0:
            self._given.append(now)
            return True
        waiter = _Waiter(rank=rank, asked=now, turn=asyncio.get_running_loop().create_future())
        self._waiting[rank].append(waiter)
        if self._giving is None or self._giving.done():
            self._giving = asyncio.create_task(self._give())
        return await waiter.turn

    async def aclose(self) -> None:
        """Give no more turns; who waits is cancelled."""
        for waiter in (each for queue in self._waiting.values() for each in queue):
            waiter.turn.cancel()
        if self._giving is not None:
            self._giving.cancel()
            await asyncio.wait({self._giving})

    def _left(self, now: float) -> float:
        """Seconds until the next request may go."""
        return self._given[0] + WINDOW + _TICK - now if len(self._given) == MOST else 0.0

    async def _give(self) -> None:
        while self._sift():
            left = self._left(self.now())
            if left > 0:
                await self.sleep(max(left, _TICK))
                continue
            first = min((queue[0] for queue in self._waiting.values() if queue), key=lambda each: each.due)
            self._waiting[first.rank].popleft()
            self._given.append(self.now())
            first.turn.set_result(True)

    def _sift(self) -> bool:
        """Leave out who has gone, and what is too late; whether anybody waits."""
        late = self.now() - _PATIENCE
        for rank, queue in self._waiting.items():
            while queue and (queue[0].turn.done() or (rank is Rank.TYPING and queue[0].asked <= late)):
                waiter = queue.popleft()
                if not waiter.turn.done():
                    waiter.turn.set_result(False)
        return any(self._waiting.values())
