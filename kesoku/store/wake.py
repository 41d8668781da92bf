"""Waking those who follow the database: after commits of this process at once, of other processes within 20 ms.

A wake-up is a hint and may come too often; truth is what the reader finds behind its cursor.
"""

import asyncio
import contextlib
import threading
from collections.abc import Callable
from typing import Any

from kesoku.errors import StoreError
from kesoku.store.engine import Database, Link

POLL = 0.02
"""Seconds between two looks at `PRAGMA data_version`, which costs 0.5 % of a core, and nothing while nobody listens."""


def tell(loop: asyncio.AbstractEventLoop, callback: Callable[..., Any], *args: Any) -> None:
    """Call back on the loop from another thread; a loop that is closed has nobody left to tell."""
    with contextlib.suppress(RuntimeError):
        loop.call_soon_threadsafe(callback, *args)


class Wake:
    """The callbacks of one store. Used on the loop; its poller is a thread with a connection of its own, since
    `data_version` does not tell a connection about its own commits."""

    def __init__(self, database: Database, loop: asyncio.AbstractEventLoop) -> None:
        self._database, self._loop = database, loop
        self._callbacks: dict[object, Callable[[], None]] = {}
        self._stop: threading.Event | None = None
        self._thread: threading.Thread | None = None

    def subscribe(self, callback: Callable[[], None]) -> Callable[[], None]:
        """Call back after commits, and once soon after now. Returns the undo, which may be called twice."""
        token = object()
        self._callbacks[token] = callback
        if self._stop is None:
            self._stop = threading.Event()
            self._thread = threading.Thread(target=self._poll, args=(self._stop,), name="store-wake", daemon=True)
            self._thread.start()

        def undo() -> None:
            self._callbacks.pop(token, None)
            if not self._callbacks:
                self._halt()

        return undo

    def fire(self) -> None:
        """Call everybody back, each in a callback of its own, so that none can hurt another."""
        for callback in tuple(self._callbacks.values()):
            self._loop.call_soon(callback)

    def close(self) -> None:
        """Stop for good; blocks until the poller has closed its connection."""
        self._callbacks.clear()
        self._halt()
        if self._thread is not None:
            self._thread.join()

    def _halt(self) -> None:
        if self._stop is not None:
            self._stop.set()
            self._stop = None

    def _poll(self, stop: threading.Event) -> None:
        link: Link | None = None
        seen: object = None
        while True:
            try:
                link = link or self._database.link(readonly=True)
                version: object = link.script("PRAGMA data_version")
            except StoreError:
                # Whoever reads gets the error itself; a poller that fell silent would be worse than one that cries.
                version = None
            if version is None or version != seen:
                seen = version
                tell(self._loop, self.fire)
            if stop.wait(POLL):
                break
        if link is not None:
            with contextlib.suppress(StoreError):
                link.close()
