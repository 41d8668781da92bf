"""One hook at work: follows the event log, hands over what it wants, and tries again what failed.

At least once: an event is over when the cursor that was moved past it is durable. A process that dies before that
leaves it to the next one, which sends the same event with the same message id and seq.
"""

import asyncio
from collections.abc import Awaitable, Callable, Iterable
from typing import Protocol, TypeVar

from kesoku.errors import ServedElsewhere
from kesoku.hooks.attempt import attempt
from kesoku.hooks.hook import EventHook
from kesoku.hooks.pace import Pace
from kesoku.hooks.standing import advance, begin
from kesoku.messages.hook_failure import HookFailure
from kesoku.messages.lifecycle import Change
from kesoku.messages.record import Address
from kesoku.ports import Clock, Gateway, Store, Transaction
from kesoku.render.mask import Mask
from kesoku.tools.patience import retry

T = TypeVar("T")


class Keys(Protocol):
    """Which process runs which hook, among those on one database; a key is freed by any death of its holder."""

    def holder(self, address: Address) -> int | None:
        """The process that has this key, or None."""
        ...

    def serve(self, addresses: Iterable[Address]) -> object:
        """Take keys until this process ends. Raises ServedElsewhere."""
        ...


class Follower:
    """Runs one hook, as soon as no other process does. `cursor` is None until then.

    Its target is called by one task at a time, so that events do not overtake each other inside of it.
    """

    def __init__(
        self, hook: EventHook, *, store: Store, gateway: Gateway, clock: Clock, keys: Keys, mask: Mask, pace: Pace
    ) -> None:
        self.hook, self._pace = hook, pace
        self.cursor: int | None = None
        self._store, self._gateway, self._clock, self._keys, self._mask = store, gateway, clock, keys, mask
        self._key = Address(chatbot_id="[[hooks]]", channel_id=hook.name)
        self._is_mine = self._is_ending = False
        self._stored = 0
        self._turn = asyncio.Lock()
        self._moved = asyncio.Event()

    async def run(self) -> None:
        """Wait until no other process runs this hook, then follow the log, until cancelled."""
        while not self._take():
            await self._clock.sleep(self._pace.tick)
        known = await self._keep("begin", lambda tx: begin(tx, self.hook.name))
        self._stored = known.cursor
        self._reach(known.cursor)
        async with asyncio.TaskGroup() as group:
            group.create_task(self._follow(known.cursor))
            group.create_task(self._try_again())

    async def finish(self, seq: int) -> None:
        """Begin no other attempt of what failed, and wait until everything up to `seq` was handed over or passed by.

        Returns at once where the hook does not run here.
        """
        self._is_ending = True
        while self.cursor is not None and self.cursor < seq:
            self._moved.clear()
            await self._moved.wait()
        async with self._turn:
            await self._note_passed()

    def _take(self) -> bool:
        """Whether the hook is ours now."""
        # To try in vain would hold the loop up for a moment.
        if not self._is_mine and self._keys.holder(self._key) is None:
            try:
                self._keys.serve([self._key])
            except ServedElsewhere:
                return False
            self._is_mine = True
        return self._is_mine

    async def _follow(self, cursor: int) -> None:
        async with self._gateway.listen(self._accepts, cursor=cursor) as news:
            async for change in news:
                async with self._turn:
                    await self._tell(change.seq)
                self._reach(change.seq)

    def _accepts(self, change: Change) -> bool:
        wanted = self.hook.wants.accepts(change)
        if not wanted:
            self._reach(change.seq)
        return wanted

    def _reach(self, seq: int) -> None:
        self.cursor = seq
        self._moved.set()

    async def _tell(self, seq: int) -> None:
        """The first attempt for an event, and how it went, with the cursor behind it."""
        change = await self._event(seq)
        failure = await self._attempt(change, 1) if change else None
        taken_at = self._clock.now() if change and not failure else None

        def operation(tx: Transaction) -> None:
            if failure is not None:
                tx.hooks.put(failure)
            advance(tx, self.hook.name, cursor=seq, succeeded_at=taken_at)

        await self._keep("note an event", operation)
        self._stored = seq

    async def _try_again(self) -> None:
        while True:
            while not self._is_ending and (failed := await self._due()):
                async with self._turn:
                    await self._once_more(failed)
            if self.cursor is not None and self.cursor - self._stored >= self._pace.passed:
                await self._note_passed()
            await self._clock.sleep(self._pace.tick)

    async def _due(self) -> HookFailure | None:
        now = self._clock.now()
        due = await self._store.read(lambda tx: tx.hooks.due(self.hook.name, at=now, limit=1))
        return due[0] if due else None

    async def _once_more(self, failed: HookFailure) -> None:
        """Another attempt; an event that is gone is forgotten."""
        name, seq = self.hook.name, failed.event_seq
        change = await self._event(seq)
        failure = await self._attempt(change, failed.attempts + 1) if change else None
        taken_at = self._clock.now() if change and not failure else None

        def operation(tx: Transaction) -> None:
            if failure is not None:
                tx.hooks.put(failure)
            else:
                tx.hooks.forget(name, seq)
                advance(tx, name, succeeded_at=taken_at)

        await self._keep("note another attempt", operation)

    async def _event(self, seq: int) -> Change | None:
        """An event with its message as it is now: what was redacted meanwhile is not sent, nor what was deleted."""
        found = await self._store.read(lambda tx: tx.events.after(seq - 1, 1))
        return found[0] if found and found[0].seq == seq else None

    async def _attempt(self, change: Change, number: int) -> HookFailure | None:
        return await attempt(self.hook, change, number, clock=self._clock, mask=self._mask)

    async def _note_passed(self) -> None:
        cursor = self.cursor or 0
        if cursor > self._stored:
            await self._keep("note what passed by", lambda tx: advance(tx, self.hook.name, cursor=cursor))
            self._stored = cursor

    async def _keep(self, what: str, operation: Callable[[Transaction], T]) -> T:
        def write() -> Awaitable[T]:
            return self._store.write(operation)

        return await retry(f"{what} of hook {self.hook.name}", write, sleep=self._clock.sleep)
