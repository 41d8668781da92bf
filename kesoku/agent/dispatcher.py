"""Gives queued prompts to workers, keeps their leases alive, stops what was interrupted (store rules 3 to 7, 15)."""

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass
from typing import TypeVar

from kesoku.errors import StoreError
from kesoku.messages.enums import MessageStatus
from kesoku.messages.lifecycle import Change, Claim, Fence, Serving
from kesoku.messages.record import Record
from kesoku.ports import Clock, Gateway

_log = logging.getLogger(__name__)

T = TypeVar("T")

_CLAIMS = 16
"""Claims that are made at once."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DispatchLimits:
    """Bounds and intervals of a dispatcher, in seconds but for the first."""

    turns: int = 8
    """Turns that run at once."""
    beat: float = 5.0
    """Between two renewals, two recoveries, and two looks for work that no event announced."""
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
        self._wake = asyncio.Event()
        self._stopping = False

    def stop(self) -> None:
        """Claim nothing more; `run` returns once the running turns are over or were put back."""
        self._stopping = True
        self._wake.set()

    async def run(self) -> None:
        """Dispatch until `stop`, or until cancelled; then every turn that is not over goes back to its queue."""
        try:
            async with self._gateway.listen(self._concerns) as changes, asyncio.TaskGroup() as group:
                duties = (self._watch(changes), self._recover(), self._beat(), self._guard())
                tasks = [group.create_task(duty) for duty in duties]
                await self._claim()
                await self._drain()
                for task in tasks:
                    task.cancel()
        finally:
            await self._put_back()

    async def _claim(self) -> None:
        """Start turns while there is room and work; wait for a wake-up when there is not."""
        while not self._stopping:
            self._wake.clear()
            try:
                await self._fill()
            except StoreError as error:
                _log.warning("cannot claim, trying again: %s", error)
            await self._wake.wait()

    async def _fill(self) -> None:
        """Claim one, then twice as many at once while all of them find something: the store commits them together."""
        batch, found = 1, [True]
        while all(found) and not self._stopping and (room := self._limits.turns - len(self._running)) > 0:
            found = await asyncio.gather(*(self._claim_one() for _ in range(min(batch, room))))
            batch = min(2 * batch, _CLAIMS)

    async def _claim_one(self) -> bool:
        claim = await self._gateway.claim(self._owner, self._serving)
        if claim is not None:
            self._start(claim)
        return claim is not None

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
            await self._clock.sleep(self._limits.beat)
            await self._release(claim.fence, requeue=isinstance(error, StoreError))
            raise

    async def _release(self, fence: Fence, *, requeue: bool) -> None:
        """Give the prompt back; nothing happens if it was finished, interrupted or taken over."""
        try:
            await self._gateway.release(fence, requeue=requeue)
        except StoreError as error:
            if self._stopping:  # this process ends, and its leases with it: recovery takes them back
                raise
            _log.warning("cannot release %s, trying again: %s", fence.session_id, error)
            await self._clock.sleep(self._limits.beat)
            await self._release(fence, requeue=requeue)

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
        """New work that we serve, or anything about a prompt that runs here."""
        record = change.record
        waits = record.status is MessageStatus.PENDING_AGENT and self._serving.covers(record.address)
        return waits or any(run.prompt_id == record.id for run in self._running.values())

    async def _watch(self, changes: AsyncIterator[Change]) -> None:
        """Wake up for new work; stop turns whose prompt was interrupted, whoever did it (C-30).

        Only what is final counts here: a record may have been read before its claim. A turn that was taken back has
        lost its lease, which the next beat or its next write finds out.
        """
        while True:
            change = await self._patiently("read the event log", changes.__anext__)
            if change.record.status is MessageStatus.PENDING_AGENT:
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
                _log.warning("%d prompt(s) of dead or stalled workers wait again", count)
            self._wake.set()
            await self._clock.sleep(self._limits.beat)

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

    async def _guard(self) -> None:
        """Stop turns whose lease could not be renewed, even while a renewal hangs."""
        while True:
            await self._clock.sleep(1.0)
            for run in self._running.values():
                if self._clock.monotonic() - run.renewed > self._limits.patience:
                    run.stop("its lease could not be renewed")

    async def _patiently(self, what: str, operation: Callable[[], Awaitable[T]]) -> T:
        """Do it as soon as the store allows it: it may be locked or full for a while."""
        while True:
            try:
                return await operation()
            except StoreError as error:
                _log.warning("cannot %s, trying again: %s", what, error)
                await self._clock.sleep(self._limits.beat)

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
