"""The pace of edits of old messages: Discord counts those of a channel apart, in no head of an answer, and by a number
that it keeps to itself.

A status of a turn that runs for hours would meet that limit several times a minute, and whoever is refused too often is
shut out.
"""

import asyncio
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field

from kesoku_discord import snowflake

OLD = 3600.0
"""Seconds after which a message is old."""
EVERY = 10.0
"""Seconds between two edits of old messages of one channel; three in 20 s were seen to pass."""
_TICK = 1e-3


@dataclass(slots=True, kw_only=True, eq=False)
class OldEdits:
    """Gives out turns. `now` is in Unix seconds."""

    now: Callable[[], float] = time.time
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep
    _last: dict[int, float] = field(default_factory=dict)
    """When it was the turn of a channel, as far as that still counts."""

    async def turn(self, channel_id: int, message_id: int) -> None:
        """Wait until this message may be edited; a young one may at once."""
        if message_id > snowflake.at(self.now() - OLD):
            return
        while (left := self._last.get(channel_id, 0.0) + EVERY - self.now()) > 0:
            await self.sleep(min(left, EVERY) + _TICK)
        self._last = {channel: at for channel, at in self._last.items() if at > self.now() - EVERY}
        self._last[channel_id] = self.now()
