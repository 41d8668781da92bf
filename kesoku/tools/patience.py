"""Waiting for something that must be over before anyone goes on, however often the waiter is cancelled."""

import asyncio
from collections.abc import Coroutine
from typing import Any, TypeVar

T = TypeVar("T")


async def outlast(work: Coroutine[Any, Any, T]) -> T:
    """Run `work` to its end. A cancellation meanwhile does not reach it, and is raised after it."""
    task = asyncio.create_task(work)
    cancelled: asyncio.CancelledError | None = None
    while not task.done():
        try:
            await asyncio.shield(task)
        except asyncio.CancelledError as error:
            cancelled = error
    if cancelled:
        raise cancelled
    return task.result()
