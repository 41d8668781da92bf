"""The readers: two threads with a connection each, every operation on a snapshot of its own."""

import asyncio
import queue
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from kesoku.ports import Transaction
from kesoku.store.engine import Database
from kesoku.store.transaction import SqlTransaction

READERS = 2


class Reader:
    """Runs reading operations beside the writer; what this process was acknowledged for is in their snapshot."""

    def __init__(self, database: Database, loop: asyncio.AbstractEventLoop) -> None:
        self._database, self._loop = database, loop
        self._threads = ThreadPoolExecutor(READERS, thread_name_prefix="store-reader")
        self._idle: queue.SimpleQueue[SqlTransaction] = queue.SimpleQueue()

    async def run(self, operation: Callable[[Transaction], Any]) -> Any:
        """Run an operation."""
        return await self._loop.run_in_executor(self._threads, self._run, operation)

    def close(self) -> None:
        """Finish what runs and close the connections; blocks."""
        self._threads.shutdown()
        while not self._idle.empty():
            self._idle.get().link.close()

    def _run(self, operation: Callable[[Transaction], Any]) -> Any:
        transaction = self._take()
        try:
            transaction.link.begin()
            try:
                return operation(transaction)
            finally:
                transaction.link.rollback()
        finally:
            self._idle.put(transaction)

    def _take(self) -> SqlTransaction:
        try:
            return self._idle.get_nowait()
        except queue.Empty:
            return SqlTransaction(self._database.link(readonly=True))
