"""Typing: on while a turn of the channel runs, off before its answer is sent, never after it (complaints 91 to 93)."""

import asyncio
from dataclasses import dataclass, field

from kesoku.adapter.attempt import attempt, stop, within
from kesoku.adapter.policy import DeliveryPolicy
from kesoku.adapter.spi import Typing
from kesoku.messages.record import Address
from kesoku.ports import Clock

_PATIENCE = 5.0


@dataclass(slots=True, eq=False)
class _Channel:
    turns: set[str] = field(default_factory=set)
    lock: asyncio.Lock = field(default_factory=asyncio.Lock)
    task: asyncio.Task[None] | None = None


class Typist:
    """One refreshing task a channel, whatever number of turns run in it."""

    def __init__(self, adapter: Typing, clock: Clock, policy: DeliveryPolicy) -> None:
        self._adapter, self._clock, self._policy = adapter, clock, policy
        self._channels: dict[Address, _Channel] = {}

    async def begin(self, address: Address, turn_id: str) -> None:
        """A turn runs."""
        channel = self._channels.setdefault(address, _Channel())
        channel.turns.add(turn_id)
        async with channel.lock:
            if channel.turns and channel.task is None:
                channel.task = asyncio.create_task(self._show(address))

    async def end(self, address: Address, turn_id: str) -> None:
        """A turn is over. On return nothing more is shown for it, whoever else said so at the same time."""
        channel = self._channels.get(address)
        if channel is None:
            return
        channel.turns.discard(turn_id)
        async with channel.lock:
            if channel.turns:
                return
            if channel.task is not None:
                await stop(channel.task)
                channel.task = None
                await self._say(address, on=False)
            if not channel.turns:
                self._channels.pop(address, None)

    async def aclose(self) -> None:
        """Show nothing any more."""
        for address, channel in tuple(self._channels.items()):
            for turn_id in tuple(channel.turns):
                await self.end(address, turn_id)

    async def _show(self, address: Address) -> None:
        started = self._clock.monotonic()
        while self._clock.monotonic() - started < self._policy.typing_limit:
            await self._say(address, on=True)
            await self._clock.sleep(self._policy.typing_every)
        await self._say(address, on=False)

    async def _say(self, address: Address, *, on: bool) -> None:
        await attempt(within(self._clock, _PATIENCE, self._adapter.typing(address, on)))
