"""Small things that are remembered, in bounded memory."""

import asyncio

from kesoku.adapter import State

_DIRECT, _TOLD = "direct", "thread_told"
_CHANNELS = 500
_MESSAGES = 4096


class RecentIds:
    """The ids of the last few thousand messages."""

    def __init__(self) -> None:
        self._known: dict[int, None] = {}

    def __contains__(self, message_id: object) -> bool:
        return message_id in self._known

    def add(self, message_id: int) -> None:
        """Remember one."""
        self._known[message_id] = None
        if len(self._known) > _MESSAGES:
            del self._known[next(iter(self._known))]


class DirectChannels:
    """Which direct chats there are, over restarts: Discord lists none. The last 500 that began."""

    def __init__(self, state: State) -> None:
        self._state = state
        self._known: list[int] | None = None
        self._turn = asyncio.Lock()

    async def all(self) -> list[int]:
        """Their channel ids."""
        async with self._turn:
            return list(await self._loaded())

    async def add(self, channel_id: int) -> None:
        """Remember one; stored if it is new."""
        async with self._turn:
            known = await self._loaded()
            if channel_id not in known:
                known.append(channel_id)
                del known[:-_CHANNELS]
                await self._state.set(_DIRECT, [str(each) for each in known])

    async def _loaded(self) -> list[int]:
        if self._known is None:
            self._known = [int(each) for each in await self._state.get(_DIRECT) or ()]
        return self._known


class OnceADay:
    """What was told today already, over restarts, for the 500 channels that were told last."""

    def __init__(self, state: State) -> None:
        self._state = state
        self._turn = asyncio.Lock()

    async def first(self, channel_id: int, day: int) -> bool:
        """Whether this channel was not told on this day yet; it counts as told from now on."""
        async with self._turn:
            told = dict(await self._state.get(_TOLD) or {})
            if told.pop(str(channel_id), None) == day:
                return False
            kept = list(told.items())[1 - _CHANNELS :]
            await self._state.set(_TOLD, dict([*kept, (str(channel_id), day)]))
            return True
