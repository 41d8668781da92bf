"""Carries the mail of sessions: answers of agents to whoever gave them their task, letters to their inboxes, and what
lies in the inbox of a session that rests into a turn of it.

Every step is one transaction and a compare-and-set, so any number of processes may do this on one database, and each
may be killed at any moment: what was not done is found again.
"""

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable
from functools import partial
from typing import TypeVar
from uuid import UUID

from kesoku.errors import StoreError
from kesoku.exchange import delivery
from kesoku.exchange.rest import WAKES
from kesoku.messages.enums import MessageStatus
from kesoku.messages.lifecycle import Change, ChangeKind, Serving
from kesoku.messages.mail import Letter, Report
from kesoku.messages.record import Record
from kesoku.ports import Clock, Gateway, Store, Transaction
from kesoku.tools.patience import retry

_log = logging.getLogger(__name__)
T = TypeVar("T")

_SAID = frozenset({MessageStatus.PENDING, MessageStatus.RESPONDED})
_OVER = frozenset({MessageStatus.PROCESSED, MessageStatus.INTERRUPTED, MessageStatus.ERROR})


class Postman:
    """One a process, beside its dispatcher. `desks` are those for which the process works; `sweep` seconds bound what a
    lost wake-up costs; mail begins at most `wakes` turns of a session in a row."""

    def __init__(
        self,
        store: Store,
        gateway: Gateway,
        clock: Clock,
        *,
        desks: Serving,
        sweep: float = 5.0,
        wakes: int = WAKES,
    ) -> None:
        self._store, self._gateway, self._clock = store, gateway, clock
        self._desks, self._sweep_every, self._wakes = desks, sweep, wakes
        self._said: set[str] = set()
        self._rested: set[str] = set()
        self._news = asyncio.Event()

    async def run(self) -> None:
        """Carry until cancelled."""
        while True:
            try:
                await self._serve()
            except StoreError as error:
                if not error.passes:
                    raise
                _log.warning("the mail waits for the store: %s", error)
            await self._clock.sleep(self._sweep_every)

    async def carry(self, letters: Iterable[Letter], *, told: bool = False) -> Report:
        """Route letters, each in a transaction of its own (C-26), and wake who got one. `told`: the caller says itself
        what was not delivered."""
        report = Report()
        for each in letters:
            report += await self._write("route mail", partial(self._route, each, told))
        for owner in {owner for _, owner in report.delivered}:
            if (session_id := await self._read(partial(_session_of, owner))) is not None:
                await self._wake(session_id)
        return report

    async def _serve(self) -> None:
        async with self._gateway.listen(self._concerns) as changes:
            follow = asyncio.create_task(self._follow(changes))
            try:
                await self._look()
                while not follow.done():
                    await self._wait(follow)
                    await (self._work() if self._news.is_set() else self._look())
                follow.result()
            finally:
                follow.cancel()
                await asyncio.gather(follow, return_exceptions=True)

    async def _wait(self, follow: asyncio.Task[None]) -> None:
        """Until there are news, it is time to look, or the log cannot be followed any more."""
        alarm = asyncio.create_task(self._clock.sleep(self._sweep_every))
        news = asyncio.create_task(self._news.wait())
        try:
            await asyncio.wait({alarm, news, follow}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for task in (alarm, news):
                task.cancel()
            await asyncio.gather(alarm, news, return_exceptions=True)

    def _concerns(self, change: Change) -> bool:
        """What an agent says at its desk, and the end of any turn."""
        return self._is_said(change.record) or _is_rest(change)

    def _is_said(self, record: Record) -> bool:
        return record.status in _SAID and self._desks.covers(record.address)

    async def _follow(self, changes: AsyncIterator[Change]) -> None:
        async for change in changes:
            if self._is_said(change.record):
                self._said.add(change.record.id)
            if _is_rest(change):
                self._rested.add(change.record.session_id)
            self._news.set()

    async def _work(self) -> None:
        """Do what the log asked for."""
        self._news.clear()
        said, rested = self._said, self._rested
        self._said, self._rested = set(), set()
        await self._pass_on(said)
        if woken := await self._read(lambda tx: [each for each in rested if delivery.may_wake(tx, each)]):
            for session_id in woken:
                await self._wake(session_id)

    async def _look(self) -> None:
        """Do whatever there is to do, whoever left it."""
        said, letters, sessions = await self._read(partial(_left_over, self._desks))
        await self._pass_on(said)
        await self.carry(letters)
        for session_id in sessions:
            await self._wake(session_id)

    async def _pass_on(self, said: Iterable[str]) -> None:
        letters: list[Letter] = []
        for each in said:
            at = self._clock.now()
            letters += await self._write("pass an answer on", partial(delivery.pass_on, record_id=each, at=at))
        await self.carry(letters)

    def _route(self, letter: Letter, told: bool, tx: Transaction) -> Report:
        return delivery.route(tx, letter, told=told, at=self._clock.now())

    async def _wake(self, session_id: str) -> None:
        at = self._clock.now()
        await self._write("wake a session", partial(delivery.wake, session_id=session_id, at=at, wakes=self._wakes))

    async def _read(self, operation: Callable[[Transaction], T]) -> T:
        return await self._retry("look for mail", lambda: self._store.read(operation))

    async def _write(self, what: str, operation: Callable[[Transaction], T]) -> T:
        return await self._retry(what, lambda: self._store.write(operation))

    async def _retry(self, what: str, operation: Callable[[], Awaitable[T]]) -> T:
        return await retry(what, operation, sleep=self._clock.sleep, pause=self._sweep_every)


def _is_rest(change: Change) -> bool:
    """Whether a turn ended, or people got its answer."""
    record = change.record
    told = record.kind == "answer" and record.status is MessageStatus.DELIVERED
    return change.kind is ChangeKind.MOVED and (told or record.status in _OVER)


def _left_over(desks: Serving, tx: Transaction) -> tuple[list[str], list[Letter], list[str]]:
    """What was said at desks, letters in outboxes, and sessions that have mail."""
    said = [each.id for each in tx.messages.waiting(desks)]
    letters = [letter for sender in tx.mail.senders() for letter in tx.mail.outbox(sender)]
    boxes = [tx.mail.mailbox(owner) for owner in tx.mail.receivers()]
    sessions = [box.session_id for box in boxes if box is not None and box.session_id is not None]
    return said, letters, [each for each in sessions if delivery.may_wake(tx, each)]


def _session_of(owner: UUID, tx: Transaction) -> str | None:
    box = tx.mail.mailbox(owner)
    return None if box is None else box.session_id
