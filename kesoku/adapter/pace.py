"""Slots in time: how often each scope of a platform is written to."""

from collections.abc import Callable

from kesoku.adapter.manifest import Pace
from kesoku.messages.record import Address
from kesoku.ports import Clock


class Pacer:
    """Gives every write its slot, in the order in which they ask; scopes do not wait for each other."""

    def __init__(self, clock: Clock, pace: Callable[[Address], Pace]) -> None:
        self._clock, self._pace = clock, pace
        self._next: dict[str, float] = {}

    async def slot(self, address: Address) -> None:
        """Wait until this address may be written to."""
        pace = self._pace(address)
        if pace.interval <= 0:
            return
        now = self._clock.monotonic()
        due = max(now, self._next.get(pace.scope, now))
        if len(self._next) > 1000:
            self._next = {scope: at for scope, at in self._next.items() if at > now}
        self._next[pace.scope] = due + pace.interval
        if due > now:
            await self._clock.sleep(due - now)
