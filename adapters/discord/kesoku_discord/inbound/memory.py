"""Small things that are remembered, in bounded memory."""

import asyncio
from collections.abc import Collection

from kesoku.adapter import State
from kesoku_discord import snowflake

_TOLD = "thread_told"
_CHANNELS = 500


class Channels:
    """Channels that Discord does not list, over restarts: direct chats, and threads that it puts away. The last 500.

    Messages that were refused are remembered so, too.
    """

    def __init__(self, state: State, key: str) -> None:
        self._state, self._key = state, key
        self._known: list[int] | None = None
        self._turn = asyncio.Lock()

    async def all(self) -> list[int]:
        """Their ids."""
        async with self._turn:
            return list(await self._loaded())

    async def add(self, channel_id: int) -> None:
        """Remember one; stored if it is new."""
        async with self._turn:
            known = await self._loaded()
            if channel_id not in known:
                await self._store([*known, channel_id][-_CHANNELS:])

    async def forget(self, channel_ids: Collection[int]) -> None:
        """Remember these no longer."""
        async with self._turn:
            known = await self._loaded()
            if not set(channel_ids).isdisjoint(known):
                await self._store([each for each in known if each not in channel_ids])

    async def _store(self, known: list[int]) -> None:
        await self._state.set(self._key, [str(each) for each in known])
        self._known = known

    async def _loaded(self) -> list[int]:
        if self._known is None:
            stored = await self._state.get(self._key)
            ids = (snowflake.parse(str(each)) for each in (stored if isinstance(stored, list) else ()))
            self._known = [each for each in ids if each is not None]
        return self._known


class OnceADay:
    """What was told today already, over restarts, for the 500 channels that were told last."""

    def __init__(self, state: State) -> None:
        self._state = state
        self._turn = asyncio.Lock()

    async def first(self, channel_id: int, day: int) -> bool:
        """Whether this channel was not told on this day yet; it counts as told from now on."""
        async with self._turn:
            stored = await self._state.get(_TOLD)
            told = dict(stored) if isinstance(stored, dict) else {}
            if told.pop(str(channel_id), None) == day:
                return False
            kept = list(told.items())[1 - _CHANNELS :]
            await self._state.set(_TOLD, dict([*kept, (str(channel_id), day)]))
            return True
