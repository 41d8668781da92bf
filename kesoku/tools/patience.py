"""Waiting for something that must be over before anyone goes on, and not for ever for what others have written."""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any, TypeVar

from kesoku.errors import StoreError

T = TypeVar("T")

RETRY_PAUSE = 5.0
"""Seconds until a store that failed is tried again: longer would be noticed, and shorter is a busy loop."""
ATTEMPTS = 4
"""How often a turn tries to write before it ends in error: the person must not wait for ever."""
_log = logging.getLogger(__name__)


async def retry(
    what: str,
    operation: Callable[[], Awaitable[T]],
    *,
    sleep: Callable[[float], Awaitable[None]],
    attempts: int | None = None,
    pause: float = RETRY_PAUSE,
    told: Callable[[StoreError], None] | None = None,
) -> T:
    """The outcome of an operation on the store, tried again every `pause` seconds while that takes no writes.

    `what` it does, for the log. `told` is called with the error before each pause. Raises the error of the last of
    `attempts`, where None goes on for ever, and every other StoreError at once.
    """
    while True:
        try:
            return await operation()
        except StoreError as error:
            attempts = None if attempts is None else attempts - 1
            if not error.passes or attempts == 0:
                raise
            _log.warning("cannot %s, trying again: %s", what, error)
            if told:
                told(error)
        await sleep(pause)


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


class Late(TimeoutError):
    """The work did not end in its time."""


async def within(
    work: Coroutine[Any, Any, T],
    seconds: float,
    *,
    grace: float | None = 2.0,
    sleep: Callable[[float], Coroutine[Any, Any, None]] = asyncio.sleep,
) -> T:
    """The result of `work`, which is over when this returns or raises, or was left behind `grace` real seconds after
    it was cancelled; None leaves nothing behind. `sleep` is that of the clock which counts `seconds`.

    Raises Late when they pass; RuntimeError where the work would end more than itself.
    """
    task, alarm = asyncio.create_task(contained(work)), asyncio.create_task(sleep(seconds))
    task.add_done_callback(_forget)
    try:
        await asyncio.wait({task, alarm}, return_when=asyncio.FIRST_COMPLETED)
    finally:
        alarm.cancel()
        if late := not task.done():
            task.cancel()
            await outlast(_settled(task, grace))
    if late:
        raise Late(f"no outcome within {seconds:g} s")
    if task.cancelled():
        raise RuntimeError("it cancelled itself")
    return task.result()


async def contained(work: Coroutine[Any, Any, T]) -> T:
    """The result of foreign work; what would end more than the work itself is raised as RuntimeError.

    SystemExit ends the event loop; a cancellation that nobody asked for, and what else is no Exception (a panic of
    native code), pass every handler that would have told a person.
    """
    try:
        return await work
    except (Exception, GeneratorExit, KeyboardInterrupt):
        raise
    except asyncio.CancelledError as error:
        task = asyncio.current_task()
        if task is None or task.cancelling():
            raise
        raise RuntimeError("it cancelled itself") from error
    except BaseException as error:
        raise RuntimeError(f"it tried to end the process by {error!r}") from error


async def _settled(work: asyncio.Future[Any], seconds: float | None) -> None:
    await asyncio.wait({work}, timeout=seconds)


def _forget(work: asyncio.Future[Any]) -> None:
    """Look at the exception of what was left behind, or failed while its waiter was cancelled: it is not overlooked."""
    if not work.cancelled():
        work.exception()
