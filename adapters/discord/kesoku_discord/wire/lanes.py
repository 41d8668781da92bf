"""Work in lanes: what stands in one lane is done one after the other, lanes side by side."""

import asyncio
import logging
from collections import Counter, deque
from collections.abc import Awaitable, Callable, Coroutine, Hashable
from typing import Any

Work = Callable[[], Awaitable[None]]
_log = logging.getLogger(__name__)
WAITING = 1000
"""How much may wait in one lane."""


class Lanes:
    """A task for each lane that has work. What work raises is logged, and ends neither the lane nor the bot."""

    def __init__(self, waiting: int = WAITING) -> None:
        self._waiting = waiting
        self._closed = False
        self._lanes: dict[Hashable, deque[Work]] = {}
        self._left_out = Counter[Hashable]()
        self._tasks: set[asyncio.Task[None]] = set()

    def put(self, lane: Hashable, work: Work) -> bool:
        """Do this once what stands before it is done. Beyond `waiting` it is left out: False, and the log says so."""
        queue = self._lanes.get(lane)
        if self._closed:
            return False
        if queue is None:
            self._lanes[lane] = deque([work])
            self._start(self._drain(lane))
        elif len(queue) < self._waiting:
            queue.append(work)
        else:
            if not self._left_out[lane]:
                _log.error("%d events of channel %s wait already; no more are taken", len(queue), lane)
            self._left_out[lane] += 1
            return False
        return True

    def start(self, work: Work) -> None:
        """Do this at once, beside everything else."""
        if not self._closed:
            self._start(done(work))

    async def aclose(self) -> None:
        """Cancel what runs, forget what waits, and wait for the end of it."""
        self._closed = True
        tasks = list(self._tasks)
        for task in tasks:
            task.cancel()
        if tasks:
            await asyncio.wait(tasks)

    def _start(self, coroutine: Coroutine[Any, Any, None]) -> None:
        task = asyncio.create_task(coroutine)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _drain(self, lane: Hashable) -> None:
        queue = self._lanes[lane]
        try:
            while queue:
                await done(queue.popleft())
        finally:
            del self._lanes[lane]
            if left_out := self._left_out.pop(lane, 0):
                _log.error("%d events of channel %s were left out", left_out, lane)


async def done(work: Work) -> None:
    """Do it; what it raises is logged."""
    try:
        await work()
    except Exception:  # noqa: BLE001  one event never ends the bot
        _log.exception("an event of Discord could not be handled")
