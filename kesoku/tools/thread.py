"""A thread of its own for a function that may block: nothing can stop a thread, but it can be left behind."""

import asyncio
import contextvars
import threading
from collections.abc import Callable
from concurrent.futures import Future
from typing import Any, TypeVar

T = TypeVar("T")


async def in_thread(function: Callable[[], T], *, name: str, grace: float = 0.0) -> T:
    """What `function` returns, or raises, of whatever kind.

    A cancellation leaves it behind, `grace` seconds later if it does not end by itself; what it says after that is
    dropped. A pool would be exhausted by functions that hang, and would hold up the end of the process.
    """
    done: Future[tuple[Any, BaseException | None]] = Future()
    context = contextvars.copy_context()

    def body() -> None:
        try:
            done.set_result((context.run(function), None))
        except BaseException as error:  # noqa: BLE001 - raised again below
            done.set_result((None, error))

    threading.Thread(target=body, name=name, daemon=True).start()
    waiter = asyncio.wrap_future(done)
    try:
        result, error = await asyncio.shield(waiter)
    finally:
        await asyncio.wait({waiter}, timeout=grace)
    if error is not None:
        raise error
    found: T = result
    return found
