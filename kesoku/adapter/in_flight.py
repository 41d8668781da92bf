"""Sends that are under way, so that a shutdown can wait for them."""

import asyncio
from contextlib import suppress
from types import TracebackType


class InFlight:
    """A gate before every send: each one passes it as a context."""

    def __init__(self) -> None:
        self._number = 0
        self._open, self._idle = asyncio.Event(), asyncio.Event()
        self._open.set()
        self._idle.set()

    def open(self) -> None:
        """Let sends begin."""
        self._open.set()

    async def drain(self, seconds: float) -> None:
        """Let none begin any more, and wait for those under way, at most so many real seconds."""
        self._open.clear()
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self._idle.wait()

    async def __aenter__(self) -> None:
        await self._open.wait()
        self._number += 1
        self._idle.clear()

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._number -= 1
        if not self._number:
            self._idle.set()
