"""The end of the event log as this process has read it: its listeners share each read, for all want the same."""

import asyncio
from collections.abc import Sequence

from kesoku.messages.lifecycle import Change
from kesoku.ports import Store

PAGE = 256
"""How many changes one read takes; so much and no more is kept."""


class Tail:
    """The last page that was read. Who is further behind reads for itself."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._news = 0
        self._begins = 0
        self._page: Sequence[Change] = ()
        self._running: tuple[tuple[int, int], asyncio.Future[list[Change]]] | None = None

    def hint(self) -> None:
        """Something was committed: a read that began earlier may have missed it."""
        self._news += 1

    async def after(self, cursor: int) -> tuple[Sequence[Change], bool]:
        """Changes behind the cursor, a page at most, and whether there may be more of them."""
        known = [change for change in self._page if change.seq > cursor] if cursor >= self._begins else ()
        if known:
            return known, True
        page = await asyncio.shield(self._read(cursor))
        return page, len(page) == PAGE

    def _read(self, cursor: int) -> asyncio.Future[list[Change]]:
        what = cursor, self._news
        if self._running is not None and self._running[0] == what:
            return self._running[1]
        read = asyncio.ensure_future(self._store.read(lambda tx: tx.events.after(cursor, PAGE)))
        self._running = what, read
        read.add_done_callback(lambda read: self._keep(cursor, read))
        return read

    def _keep(self, cursor: int, read: asyncio.Future[list[Change]]) -> None:
        if self._running is not None and self._running[1] is read:
            self._running = None
        if not read.cancelled() and read.exception() is None and read.result():
            self._begins, self._page = cursor, read.result()
