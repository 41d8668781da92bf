"""Lets live messages wait until what was missed before them in their channel has been read."""

import asyncio
from collections.abc import Callable, Collection


class Doors:
    """One door a channel, and one before all channels of a server.

    With each new session of the gateway all are shut, until somebody says which are `open`. `session` tells the id of
    the session that now is; None while there is none.
    """

    def __init__(self, session: Callable[[], str | None]) -> None:
        self.session = session
        self._opened_for: str | None = None
        self._shut: set[int] = set()
        self._changed = asyncio.Condition()

    async def passed(self, channel_id: int, guild_id: int | None = None) -> None:
        """Returns once the doors of this channel and of its server are open."""
        doors = {channel_id} if guild_id is None else {channel_id, guild_id}
        if self._are_open(doors):
            return
        async with self._changed:
            await self._changed.wait_for(lambda: self._are_open(doors))

    async def open(self, session: str | None, *, but: Collection[int] = ()) -> None:
        """Open all doors for this session except those of some channels and servers."""
        async with self._changed:
            self._opened_for, self._shut = session, set(but)
            self._changed.notify_all()

    async def open_one(self, door: int) -> None:
        """Open the door of one channel or server."""
        async with self._changed:
            self._shut.discard(door)
            self._changed.notify_all()

    def _are_open(self, doors: Collection[int]) -> bool:
        session = self.session()
        return session is not None and session == self._opened_for and self._shut.isdisjoint(doors)
