"""Waiting for what nothing announces: other processes, platforms, files. Both functions poll, and fail in time."""

import asyncio
import time
from collections.abc import Awaitable, Callable

PATIENCE = 50.0
"""Seconds until a test gives up waiting for what comes at once on a machine that is not busy."""


async def until(condition: Callable[[], Awaitable[bool]], *, what: str, seconds: float = PATIENCE) -> None:
    """Wait until a condition about the outside holds. Raises AssertionError with `what` after `seconds`."""
    deadline = time.monotonic() + seconds
    while not await condition():
        if time.monotonic() > deadline:
            raise AssertionError(f"not within {seconds:g} s: {what}")
        await asyncio.sleep(0.005)


def becomes(
    condition: Callable[[], object], *, seconds: float = 120.0, told: Callable[[], object] = lambda: ""
) -> None:
    """The same without an event loop; `told` makes the text of the AssertionError."""
    deadline = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > deadline:
            raise AssertionError(f"not within {seconds:g} s: {told()}")
        time.sleep(0.02)
