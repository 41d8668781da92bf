"""The readers: two threads with a connection each, which read for all who wait, on one snapshot, beside the writer."""

import asyncio
import contextlib
import queue
import threading
from collections.abc import Callable, Sequence
from typing import Any

from kesoku.errors import StoreError
from kesoku.ports import Transaction
from kesoku.store.baton import Baton
from kesoku.store.cache import RecordCache
from kesoku.store.committer import Job
from kesoku.store.engine import Database
from kesoku.store.transaction import SqlTransaction
from kesoku.store.wake import tell

READERS = 2
GROUP_JOBS = 16
"""Operations on one snapshot at most: a long one holds up those behind it."""


class Reader:
    """Runs reading operations; what this process was acknowledged for is in their snapshot."""

    def __init__(self, database: Database, loop: asyncio.AbstractEventLoop, cache: RecordCache, baton: Baton) -> None:
        self._database, self._loop, self._cache, self._baton = database, loop, cache, baton
        self._jobs: queue.SimpleQueue[Job | None] = queue.SimpleQueue()
        self._threads: list[threading.Thread] = []

    async def run(self, operation: Callable[[Transaction], Any]) -> Any:
        """Run an operation."""
        if len(self._threads) < READERS:
            thread = threading.Thread(target=self._main, name=f"store-reader_{len(self._threads)}", daemon=True)
            self._threads.append(thread)
            thread.start()
        job = Job(operation=operation, future=self._loop.create_future())
        self._jobs.put(job)
        return await job.future

    def close(self) -> None:
        """Finish what waits and close the connections; blocks."""
        for _ in self._threads:
            self._jobs.put(None)
        for thread in self._threads:
            thread.join()

    def _main(self) -> None:
        with contextlib.ExitStack() as end:
            transaction: SqlTransaction | None = None
            while (first := self._jobs.get()) is not None:
                with self._baton.held():
                    jobs = self._gather(first)
                    try:
                        if transaction is None:
                            link = self._database.link(readonly=True)
                            end.callback(link.close)
                            transaction = SqlTransaction(link, self._cache)
                        self._read(transaction, jobs)
                    except StoreError as error:
                        for job in jobs:
                            job.error = error
                tell(self._loop, _settle, jobs)

    def _read(self, transaction: SqlTransaction, jobs: Sequence[Job]) -> None:
        transaction.link.since = self._cache.commits
        transaction.link.begin()
        try:
            for job in jobs:
                job.run(transaction)
        finally:
            transaction.link.rollback()

    def _gather(self, first: Job) -> list[Job]:
        """The first and what else is waiting, without waiting for more."""
        jobs = [first]
        with contextlib.suppress(queue.Empty):
            while len(jobs) < GROUP_JOBS:
                job = self._jobs.get_nowait()
                if job is None:
                    self._jobs.put(None)
                    break
                jobs.append(job)
        return jobs


def _settle(jobs: Sequence[Job]) -> None:
    for job in jobs:
        job.settle()
