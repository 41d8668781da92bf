"""Lets live messages wait until what was missed before them in their channel has been read."""

import asyncio
from collections.abc import Callable, Collection


class Doors:
    """One door a channel. With each new session of the gateway all are shut, until somebody says which are `open`.

    `session` tells the id of the session that now is; None while there is none.
    """

    def __init__(self, session: Callable[[], str | None]) -> None:
        self.session = session
        self._opened_for: str | None = None
        self._shut: set[int] = set()
        self._changed = asyncio.Condition()

    async def passed(self, channel_id: int) -> None:
        """Returns once the door of this channel is open."""
        if self._is_open(channel_id):
            return
        async with self._changed:
            await self._changed.wait_for(lambda: self._is_open(channel_id))

    async def open(self, session: str | None, *, but: Collection[int] = ()) -> None:
        """Open all doors for this session except those of some channels."""
        async with self._changed:
            self._opened_for, self._shut = session, set(but)
            self._changed.notify_all()

    async def open_one(self, channel_id: int) -> None:
        """Open the door of one channel."""
        async with self._changed:
            self._shut.discard(channel_id)
            self._changed.notify_all()

    def _is_open(self, channel_id: int) -> bool:
        session = self.session()
        return session is not None and session == self._opened_for and channel_id not in self._shut
