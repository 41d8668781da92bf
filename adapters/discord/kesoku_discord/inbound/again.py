"""Tries again what trouble at Discord kept from being handled, so that nobody's message waits for the next session."""

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable, Sequence
from typing import TypeVar

from kesoku.adapter import DeliveryError, LoginNeeded, Refused, RetryLater
from kesoku_discord.wire.errors import REMOTE, translate

T = TypeVar("T")

PAUSES = (0.5, 1.0, 2.0, 4.0, 8.0, 15.0, 30.0)
"""Seconds before each further try, about a minute in all, where other channels wait, too."""
LONG_PAUSES = (*PAUSES, 60.0, 120.0, 300.0, 600.0)
"""The same, about twenty minutes in all, where nothing waits but the same channel, which has the same trouble."""
_TRYING = 60.0
"""Seconds beside the pauses after which no further try begins: the library itself repeats requests for a while."""
_LONGEST = 60.0
"""Seconds that Discord may name itself."""
_log = logging.getLogger(__name__)


class Again:
    """Does work of channels; what follows in the same channel waits meanwhile, so that the order stays.

    In a channel where something was given up, nothing is tried again until something succeeds there: it has waited.
    """

    def __init__(
        self,
        pauses: Sequence[float] = PAUSES,
        *,
        now: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self._pauses, self._now, self._sleep = tuple(pauses), now, sleep
        self._enough = sum(pauses) + _TRYING
        self._weary: set[int] = set()

    async def until_done(self, channel_id: int, work: Callable[[], Awaitable[T]]) -> T:
        """Its result. Raises what Discord refuses, and what is still not done after the last pause."""
        begun, pauses = self._now(), iter(() if channel_id in self._weary else self._pauses)
        while True:
            try:
                done = await work()
            except REMOTE as error:
                meant = translate(error)
                if isinstance(meant, Refused | LoginNeeded):
                    raise
                pause = next(pauses, None)
                if pause is None or self._now() - begun > self._enough:
                    self._weary.add(channel_id)
                    raise
                seconds = max(pause, _named(meant))
                _log.warning("in channel %s something is tried again in %.1f s: %s", channel_id, seconds, meant)
                await self._sleep(seconds)
            else:
                self._weary.discard(channel_id)
                return done


def _named(meant: DeliveryError) -> float:
    """Seconds to wait that Discord itself named."""
    return min(meant.after or 0.0, _LONGEST) if isinstance(meant, RetryLater) else 0.0
