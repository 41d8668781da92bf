"""Following the event log: a wake-up, then a read by cursor (store rule 12, K-249, K-250)."""

import asyncio
from collections import deque
from collections.abc import Callable

from kesoku.gateway.tail import Tail
from kesoku.messages.lifecycle import Change


class LogSubscription:
    """One reader of the event log. `cursor` is the seq of the last change that was handed over or passed by.

    A wake-up is only a hint: the truth is the read, which is repeated every `poll` seconds even without one.
    """

    def __init__(self, tail: Tail, accepts: Callable[[Change], bool], *, cursor: int, poll: float) -> None:
        self.cursor = cursor
        self._tail, self._accepts, self._poll = tail, accepts, poll
        self._page: deque[Change] = deque()
        self._behind = True
        self._news = asyncio.Event()

    def wake(self) -> None:
        """Say that something was committed."""
        self._tail.hint()
        self._news.set()

    def __aiter__(self) -> "LogSubscription":
        return self

    async def __anext__(self) -> Change:
        """The next change that is accepted. Cancelling loses nothing."""
        while True:
            while self._page:
                change = self._page[0]
                accepted = self._accepts(change)
                self._page.popleft()
                self.cursor = change.seq
                if accepted:
                    return change
            await self._read()

    async def _read(self) -> None:
        """Read on; after a page that was not full only when there may be news."""
        if not self._behind:
            alarm = asyncio.get_running_loop().call_later(self._poll, self._news.set)
            try:
                await self._news.wait()
            finally:
                alarm.cancel()
        self._behind = True  # also when the read is cancelled or fails
        self._news.clear()
        page, self._behind = await self._tail.after(self.cursor)
        self._page.extend(page)
