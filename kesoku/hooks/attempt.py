"""One attempt to hand an event to a hook, and what is to be kept if it was not taken."""

import asyncio
import logging

from kesoku.errors import HookError, HookLate
from kesoku.hooks.call import Call, call_of
from kesoku.hooks.hook import EventHook
from kesoku.messages.hook_failure import HookFailure
from kesoku.messages.lifecycle import Change
from kesoku.ports import Clock
from kesoku.render.mask import Mask
from kesoku.tools.patience import Late, within

_SHOWN = 300
"""Characters of an error that are kept."""
_log = logging.getLogger(__name__)


async def attempt(hook: EventHook, change: Change, number: int, *, clock: Clock, mask: Mask) -> HookFailure | None:
    """Hand one event over, for the `number`th time; None if it was taken. Whatever the target raises is contained."""
    call = call_of(hook.name, change, mask)
    error = await _send(hook, call, clock)
    if error is None:
        _log.debug("hook %s took event %s", hook.name, change.seq, extra={"message_id": call.message_id})
        return None
    pause = _pause(hook, error, number)
    now = clock.now()
    failure = HookFailure(
        hook=hook.name,
        event_seq=call.event_seq,
        message_id=call.message_id,
        attempts=number,
        next_at=None if pause is None else now + round(pause * 1_000_000),
        error=_line(hook, error, mask),
        at=now,
    )
    # The same words for every event: the log writes such a line once a minute, with a count.
    fate = "it was given up" if pause is None else "it is tried again"
    text = "hook %s did not take an event, %s: %s"
    _log.warning(text, hook.name, fate, failure.error, extra={"message_id": call.message_id})
    return failure


async def _send(hook: EventHook, call: Call, clock: Clock) -> BaseException | None:
    """What the target raises in its time, or that it took longer; our own cancellation goes through."""
    work = hook.target.send(call)
    try:
        bounded = within(work, hook.timeout, grace=None, sleep=clock.sleep)
        (error,) = await asyncio.gather(bounded, return_exceptions=True)
        return error
    finally:
        work.close()  # cancelled before it began, it would be missed


def _pause(hook: EventHook, error: BaseException, number: int) -> float | None:
    wanted = None
    if isinstance(error, HookError):
        if error.is_final:
            return None
        wanted = error.retry_after
    return hook.pause(number, wanted=wanted)


def _line(hook: EventHook, error: BaseException, mask: Mask) -> str:
    """The error as one line without secrets; one that nobody foresaw is told by its class too."""
    if isinstance(error, Late):
        error = HookLate(seconds=hook.timeout)
    text = str(error) if isinstance(error, HookError) else f"{type(error).__name__}: {error}"
    line = " ".join(mask.text(text).split())
    return line if len(line) <= _SHOWN else f"{line[: _SHOWN - 1]}…"
