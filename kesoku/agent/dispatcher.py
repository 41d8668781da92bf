"""Gives queued prompts to workers, keeps their leases alive, stops what was interrupted (store rules 3 to 7, 15)."""

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack
from dataclasses import dataclass
from typing import TypeVar

from kesoku.errors import StoreError
from kesoku.messages.enums import MessageStatus
from kesoku.messages.lifecycle import Change, Claim, Fence, Serving
from kesoku.messages.record import Record
from kesoku.ports import Clock, Gateway
from kesoku.render import counted
from kesoku.tools.patience import retry

_log = logging.getLogger(__name__)

T = TypeVar("T")

_CLAIMS = 16
"""Claims of one transaction: others wait for it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DispatchLimits:
    """Bounds and intervals of a dispatcher, in seconds but for the first."""

    turns: int = 8
    """Turns that run at once."""
    beat: float = 5.0
    """Between two renewals of the leases, and before a failed operation is tried again."""
    sweep: float = 1.0
    """Between two recoveries, and two looks for work that no event announced."""
    patience: float = 20.0
    """A turn whose lease could not be renewed for so long is given up before the lease runs out (C-32)."""
    drain: float = 30.0
    """How long running turns may go on after `stop`."""


@dataclass(slots=True)
class _Run:
    """A turn that runs in this process."""

    prompt_id: str
    task: asyncio.Task[None]
    renewed: float
    begun: bool = False
    """Whether the task has run at all: one that is cancelled before cannot clean up after itself."""
    stopped: bool = False

    def stop(self, why: str) -> None:
        """Cancel the task, once: a second time would cut off its cleaning up."""
        if not self.stopped:
            self.stopped = self.task.cancel()
            _log.info("turn %s is stopped: %s", self.prompt_id, why)


class Dispatcher:
    """One a process. `work` runs one claim to its end; `owner` names this process in leases."""

    def __init__(
        self,
        gateway: Gateway,
        serving: Serving,
        work: Callable[[Claim], Awaitable[None]],
        clock: Clock,
        *,
        owner: str,
        limits: DispatchLimits | None = None,
    ) -> None:
        self._gateway, self._serving, self._work, self._clock = gateway, serving, work, clock
        self._owner, self._limits = owner, limits or DispatchLimits()
        self._running: dict[Fence, _Run] = {}
        self._releases: set[asyncio.Task[None]] = set()
        self._idle: frozenset[Fence] = frozenset()
        self._wake = asyncio.Event()
        self._stopping = False

    def stop(self) -> None:
        """Claim nothing more; `run` returns once the running turns are over or were put back."""
        self._stopping = True
        self._wake.set()

    async def run(self) -> None:
        """Dispatch until `stop`, or until cancelled; then every turn that is not over goes back to its queue."""
        try:
            async with AsyncExitStack() as stack:
                if (changes := await self._listen(stack)) is not None:
                    await self._dispatch(changes)
        finally:
            await self._put_back()

    async def _listen(self, stack: AsyncExitStack) -> AsyncIterator[Change] | None:
        """Follow the event log, as soon as the store lets us; None after `stop`."""
        while not self._stopping:
            try:
                return await stack.enter_async_context(self._gateway.listen(self._concerns))
            except StoreError as error:
                if not error.passes:
                    raise
                _log.warning("cannot follow the event log, trying again: %s", error)
            await self._clock.sleep(self._limits.sweep)
        return None

    async def _dispatch(self, changes: AsyncIterator[Change]) -> None:
        async with asyncio.TaskGroup() as group:
            duties = (self._watch(changes), self._recover(), self._beat(), self._guard())
            tasks = [group.create_task(duty) for duty in duties]
            await self._claim()
            await self._drain()
            for task in tasks:
                task.cancel()

    async def _claim(self) -> None:
        """Start turns while there is room and work; wait for a wake-up when there is not."""
        while not self._stopping:
            self._wake.clear()
            try:
                await self._fill()
            except StoreError as error:
                if not error.passes:
                    raise
                _log.warning("cannot claim, trying again: %s", error)
            await self._wake.wait()

    async def _fill(self) -> None:
        """Claim until there is no room, or nothing that may run."""
        full = True
        while full and not self._stopping and (room := self._limits.turns - len(self._running)) > 0:
            most = min(room, _CLAIMS)
            claims = await self._gateway.claims(self._owner, self._serving, most=most)
            for claim in claims:
                self._start(claim)
            full = len(claims) == most

    def _start(self, claim: Claim) -> None:
        task = asyncio.create_task(self._attend(claim), name=f"turn {claim.prompt.id}")
        self._running[claim.fence] = _Run(claim.prompt.id, task, self._clock.monotonic())
        task.add_done_callback(lambda task: self._ended(claim, task))

    async def _attend(self, claim: Claim) -> None:
        self._running[claim.fence].begun = True
        try:
            await self._work(claim)
        except asyncio.CancelledError:
            await self._release(claim.fence, requeue=True)
            raise
        except BaseException as error:
            # Not even the failure could be stored. A store comes back; for a bug the slow recovery is soon enough.
            self._running[claim.fence].stopped = True  # it must not be cut off while it waits for the store
            await self._clock.sleep(self._limits.beat)
            await self._release(claim.fence, requeue=isinstance(error, StoreError))
            raise

    async def _release(self, fence: Fence, *, requeue: bool) -> None:
        """Give the prompt back; nothing happens if it was finished, interrupted or taken over."""
        while True:
            try:
                return await self._gateway.release(fence, requeue=requeue)
            except StoreError as error:
                # A process that ends takes its leases along: recovery takes them back.
                if self._stopping or not error.passes:
                    raise
                _log.warning("cannot release %s, trying again: %s", fence.session_id, error)
            await self._clock.sleep(self._limits.beat)

    def _ended(self, claim: Claim, task: asyncio.Task[None]) -> None:
        run = self._running.pop(claim.fence)
        self._wake.set()
        if not run.begun:
            release = asyncio.create_task(self._release(claim.fence, requeue=True))
            self._releases.add(release)
            release.add_done_callback(self._releases.discard)
        if not task.cancelled() and (error := task.exception()) is not None:
            _log.error("turn %s ended without a trace in the store", claim.prompt.id, exc_info=error)

    def _concerns(self, change: Change) -> bool:
        """Work that we serve, or the interruption of a prompt that runs here."""
        ended = change.record.status is MessageStatus.INTERRUPTED
        return self._is_work(change) or (
            ended and any(run.prompt_id == change.record.id for run in self._running.values())
        )

    def _is_work(self, change: Change) -> bool:
        """Whether a prompt waits that we serve, or another process ended a turn behind which one may wait."""
        waits = change.record.status is MessageStatus.PENDING_AGENT
        freed = change.before is MessageStatus.PROCESSING and change.actor != self._owner
        return (waits or freed) and self._serving.covers(change.record.address)

    async def _watch(self, changes: AsyncIterator[Change]) -> None:
        """Wake up for new work; stop turns whose prompt was interrupted, whoever did it (C-30).

        Only what is final counts here: a record may have been read before its claim. A turn that was taken back has
        lost its lease, which the next beat or its next write finds out.
        """
        while True:
            change = await self._patiently("read the event log", changes.__anext__)
            if self._is_work(change):
                self._wake.set()
            if change.record.status is MessageStatus.INTERRUPTED:
                self._interrupt(change.record)

    def _interrupt(self, prompt: Record) -> None:
        for run in self._running.values():
            if run.prompt_id == prompt.id:
                run.stop(f"its prompt is {prompt.status}")

    async def _recover(self) -> None:
        """Take back what dead workers left, at once and then regularly; look for work meanwhile."""
        while True:
            if count := await self._patiently("recover", self._gateway.recover):
                _log.warning("taken back from dead or stalled workers: %s", counted(count, "prompt"))
            self._wake.set()
            await self._clock.sleep(self._limits.sweep)

    async def _beat(self) -> None:
        """Renew the leases of this process; a turn that has lost its lease is stopped."""
        while True:
            await self._clock.sleep(self._limits.beat)
            before = dict(self._running)
            held = await self._patiently("renew leases", lambda: self._gateway.renew(self._owner))
            for fence, run in before.items():
                if fence in held:
                    run.renewed = self._clock.monotonic()
                else:
                    run.stop("its lease was lost")
            await self._free(held - before.keys())

    async def _free(self, idle: frozenset[Fence]) -> None:
        """Give back leases of this process that no turn has used for two beats, for they would be renewed for ever: of
        a claim whose outcome was not seen, or a turn whose release failed."""
        for fence in idle & self._idle:
            await self._release(fence, requeue=True)
        self._idle = idle - self._running.keys()

    async def _guard(self) -> None:
        """Stop turns whose lease could not be renewed, even while a renewal hangs."""
        while True:
            await self._clock.sleep(1.0)
            for run in self._running.values():
                if self._clock.monotonic() - run.renewed > self._limits.patience:
                    run.stop("its lease could not be renewed")

    async def _patiently(self, what: str, operation: Callable[[], Awaitable[T]]) -> T:
        return await retry(what, operation, sleep=self._clock.sleep, pause=self._limits.beat)

    async def _drain(self) -> None:
        """Let running turns end, for a while."""
        alarm = asyncio.create_task(self._clock.sleep(self._limits.drain))
        try:
            while self._running and not alarm.done():
                tasks = [run.task for run in self._running.values()]
                await asyncio.wait([alarm, *tasks], return_when=asyncio.FIRST_COMPLETED)
        finally:
            alarm.cancel()

    async def _put_back(self) -> None:
        self._stopping = True
        runs = tuple(self._running.values())
        for run in runs:
            run.stop("this process ends")
        await asyncio.gather(*(run.task for run in runs), return_exceptions=True)
        await asyncio.gather(*self._releases, return_exceptions=True)
