"""The unit of work over the dict tables."""

import asyncio
from collections.abc import Callable
from typing import TypeVar

from kesoku.errors import StoreClosed
from kesoku.ports import Transaction
from kesoku.testing.memory.archive import MemoryArchive
from kesoku.testing.memory.branches import MemoryBranches, MemoryRequests
from kesoku.testing.memory.hooks import MemoryHooks
from kesoku.testing.memory.ledger import MemoryDeliveries, MemoryQuestions, MemoryState
from kesoku.testing.memory.mail import MemoryMail
from kesoku.testing.memory.messages import MemoryEvents, MemoryMessages
from kesoku.testing.memory.table import PATH, Tables
from kesoku.testing.memory.turns import MemoryLeases, MemorySessions, MemorySteps

T = TypeVar("T")


class MemoryTransaction:
    """All repositories over one set of tables."""

    def __init__(self, tables: Tables) -> None:
        self.events = MemoryEvents(tables)
        self.messages = MemoryMessages(tables, self.events)
        self.events.read = self.messages.get
        self.sessions = MemorySessions(tables)
        self.leases = MemoryLeases(tables, self.messages)
        self.deliveries = MemoryDeliveries(tables)
        self.steps = MemorySteps(tables)
        self.state = MemoryState(tables)
        self.questions = MemoryQuestions(tables)
        self.branches = MemoryBranches(tables)
        self.requests = MemoryRequests(tables)
        self.mail = MemoryMail(tables)
        self.archive = MemoryArchive(tables, self.messages, self.mail)
        self.hooks = MemoryHooks(tables)


class MemoryStore:
    """A `Store` without a database. Several gateways on one `MemoryStore` behave like processes on one file.

    `rerun` runs every writing operation once more after undoing the first run, as a group commit may; an operation
    that is not re-runnable fails its test. `hints` off drops every wake-up, so that only re-reading finds news.
    """

    def __init__(self, *, rerun: bool = False, hints: bool = True) -> None:
        self.rerun, self.hints = rerun, hints
        self._tables = Tables()
        self._transaction: Transaction = MemoryTransaction(self._tables)
        self._callbacks: dict[object, Callable[[], None]] = {}
        self._hinted = False
        self._closed = False

    async def write(self, operation: Callable[[Transaction], T]) -> T:
        """See the port. Others run before the operation, never during it."""
        await self._turn()
        journal = self._tables.journal
        journal.writing = True
        try:
            if self.rerun:
                operation(self._transaction)
                journal.rollback()
            result = operation(self._transaction)
        except BaseException:
            journal.rollback()
            raise
        finally:
            journal.writing = False
        if journal.commit():
            self._hint()
        return result

    async def read(self, operation: Callable[[Transaction], T]) -> T:
        """See the port."""
        await self._turn()
        return operation(self._transaction)

    async def scrub(self) -> None:
        """See the port. What was overwritten in memory is gone."""
        await self._turn()

    def on_commit(self, callback: Callable[[], None]) -> Callable[[], None]:
        """See the port."""
        token = object()
        self._callbacks[token] = callback
        return lambda: self._callbacks.pop(token, None) and None

    @property
    def listeners(self) -> int:
        """How many callbacks wait for commits."""
        return len(self._callbacks)

    async def aclose(self) -> None:
        """See the port."""
        self._closed = True
        self._callbacks.clear()

    async def _turn(self) -> None:
        await asyncio.sleep(0)
        if self._closed:
            raise StoreClosed(path=PATH)

    def _hint(self) -> None:
        if self.hints and not self._hinted:
            self._hinted = True
            asyncio.get_running_loop().call_soon(self._call)

    def _call(self) -> None:
        self._hinted = False
        for callback in tuple(self._callbacks.values()):
            callback()
