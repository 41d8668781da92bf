"""Run foreign code so that its failure is a value: the one place of delivery that catches every exception."""

import asyncio
import contextlib
import random
from collections.abc import Coroutine
from dataclasses import dataclass
from typing import Any, TypeVar

from kesoku.errors import StoreError
from kesoku.ports import Clock
from kesoku.tools import patience

T = TypeVar("T")

STEADY = 300.0
"""Seconds without a failure after which the next one counts as a first one."""
_GRACE = 5.0
"""Real seconds for what was cancelled to be over."""


@dataclass(frozen=True, slots=True)
class Failure:
    """What was raised instead of a result."""

    error: Exception

    def __str__(self) -> str:
        return f"{type(self.error).__name__}: {self.error}"


async def attempt(work: Coroutine[Any, Any, T]) -> T | Failure:
    """The result of `work`, or the Failure that it ended in. Cancellation passes through."""
    try:
        return await patience.contained(work)
    except Exception as error:  # noqa: BLE001  one exception never ends delivery
        return Failure(error)


async def within(clock: Clock, seconds: float, work: Coroutine[Any, Any, T]) -> T:
    """The result of `work`; cancelled and TimeoutError after `seconds` of `clock`."""
    return await patience.within(work, seconds, grace=_GRACE, sleep=clock.sleep)


async def stop(task: "asyncio.Future[Any]", *, grace: float = _GRACE) -> None:
    """Cancel a task and wait until it is over, at most `grace` real seconds; what it raises is dropped."""
    if not task.done():
        task.cancel()
        await asyncio.wait({task}, timeout=grace)
    if task.done():
        with contextlib.suppress(asyncio.CancelledError):
            task.exception()


def pause(error: Exception, attempts: int) -> float:
    """Seconds until our own work is tried again; a store that has room again is not kept waiting."""
    return backoff(attempts, longest=patience.RETRY_PAUSE if isinstance(error, StoreError) else 60.0)


def backoff(attempts: int, *, first: float = 1.0, longest: float = 300.0) -> float:
    """Seconds to wait after the `attempts`-th failure: doubling, bounded, with jitter of a half."""
    return float(min(longest, first * 2 ** min(attempts - 1, 20)) * random.uniform(0.5, 1.0))
