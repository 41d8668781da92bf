"""One queue and one task a channel, made on demand: order holds in a channel, and no channel waits for another."""

import asyncio
import logging
from collections import deque
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field

from kesoku.adapter.attempt import Failure, attempt, pause, stop
from kesoku.errors import StoreError
from kesoku.messages.record import Address
from kesoku.ports import Clock

_TRIES = 8
_log = logging.getLogger(__name__)


@dataclass(slots=True, eq=False)
class Lane:
    """The queue of a channel: ids of what is to be handled. `spoke` is set when a person says something there."""

    address: Address
    queue: deque[str] = field(default_factory=deque)
    spoke: asyncio.Event = field(default_factory=asyncio.Event)
    task: asyncio.Task[None] | None = None


Handle = Callable[[Lane, str], Awaitable[None]]


class Lanes:
    """Every channel that has something to do."""

    def __init__(self, handle: Handle, clock: Clock) -> None:
        self._handle, self._clock = handle, clock
        self._lanes: dict[Address, Lane] = {}

    def __len__(self) -> int:
        return len(self._lanes)

    def put(self, address: Address, item: str) -> None:
        """Queue an item of a channel. Never blocks."""
        lane = self._lanes.get(address)
        if lane is None:
            lane = self._lanes[address] = Lane(address=address)
        lane.queue.append(item)
        if lane.task is None:
            lane.task = asyncio.create_task(self._work(lane))

    def spoke(self, address: Address) -> None:
        """A person said something: what is held there may be tried again."""
        if lane := self._lanes.get(address):
            lane.spoke.set()

    async def idle(self) -> None:
        """Wait until no channel has anything to do."""
        while tasks := [lane.task for lane in self._lanes.values() if lane.task]:
            await asyncio.wait(tasks)

    async def aclose(self) -> None:
        """Stop where everything stands; the ledger knows how to go on."""
        for lane in tuple(self._lanes.values()):
            if lane.task:
                await stop(lane.task)

    async def _work(self, lane: Lane) -> None:
        try:
            while lane.queue:
                await self._one(lane, lane.queue[0])
                lane.queue.popleft()
        finally:
            self._lanes.pop(lane.address, None)

    async def _one(self, lane: Lane, item: str) -> None:
        """Handle an item. What fails is tried again, for nothing may overtake it; only our own bugs are given up."""
        tries = 0
        while isinstance(result := await attempt(_run(self._handle, lane, item)), Failure):
            tries += 1
            _log.error("delivery of %s in %s failed: %s", item, lane.address, result, exc_info=result.error)
            if tries >= _TRIES and not (isinstance(result.error, StoreError) and result.error.passes):
                return
            await self._clock.sleep(pause(result.error, tries))


async def _run(handle: Handle, lane: Lane, item: str) -> None:
    await handle(lane, item)
