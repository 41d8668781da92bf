"""Commits groups of operations on the one writing connection. Knows nothing of threads and loops."""

import asyncio
import contextlib
import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from kesoku.errors import StoreError, StoreLocked
from kesoku.ports import Transaction
from kesoku.store.engine import Database
from kesoku.store.migrations import prepare
from kesoku.store.transaction import SqlTransaction

GROUP_WEIGHT = 1024 * 1024
"""Bytes: a group that has written this much is committed before the rest of what is waiting."""
CHECKPOINT_WEIGHT = 4 * 1024 * 1024
"""Bytes written until the log is folded into the file, about SQLite's own 1,000 pages."""
_CLOSING_PATIENCE = 200
"""Milliseconds that closing waits for readers of other processes, before it leaves the log to them."""

_log = logging.getLogger(__name__)


@dataclass(slots=True, eq=False)
class Job:
    """One operation and what came of it: written by the writer's thread, settled on the loop."""

    operation: Callable[[Transaction], Any]
    future: asyncio.Future[Any]
    result: Any = None
    error: Exception | None = None

    def run(self, transaction: Transaction) -> bool:
        """Run it; False if it raised."""
        self.error = None
        try:
            self.result = self.operation(transaction)
        except Exception as error:  # noqa: BLE001 - the one place where an operation may fail with anything
            self.error = error
            return False
        return True

    def settle(self) -> None:
        """Tell the caller, if it still waits."""
        if self.future.done():
            return
        if self.error is not None:
            self.future.set_exception(self.error)
        else:
            self.future.set_result(self.result)


class Committer:
    """The writing connection of a file. Raises StoreError leaves when it cannot be opened."""

    def __init__(self, database: Database) -> None:
        with contextlib.ExitStack() as undo:
            self._turnstile = database.turnstile()
            undo.callback(self._turnstile.close)
            database.touch()
            self.link = database.link(readonly=False)
            undo.callback(self.link.close)
            prepare(database, self.link, self._turnstile)
            undo.pop_all()
        self._transaction = SqlTransaction(self.link)
        self._unfolded = 0

    def commit(self, jobs: Sequence[Job]) -> tuple[int, bool]:
        """Run jobs from the front, as one transaction if none raises and each alone otherwise.

        Returns how many of them are settled, at least one, and whether anything was written. There are no savepoints:
        they cost more than the seldom repetition.
        """
        settled, wrote = self._group(jobs)
        if settled:
            return settled, wrote
        for number, job in enumerate(jobs):
            wrote |= self._group([job])[1]
            if isinstance(job.error, StoreLocked):
                _fail(jobs[number:], job.error)
                break
        return len(jobs), wrote

    def close(self) -> None:
        """Fold the log into the file and close, both under the lock if it can be had."""
        with contextlib.suppress(StoreError), self._turnstile:
            self.link.script(f"PRAGMA busy_timeout = {_CLOSING_PATIENCE}")
            self.link.script("PRAGMA wal_checkpoint(TRUNCATE)")
            self.link.close()
        with contextlib.suppress(StoreError):
            self.link.close()
        self._turnstile.close()

    def _group(self, jobs: Sequence[Job]) -> tuple[int, bool]:
        """One transaction. Settles nothing if one of several jobs raised: they must run again."""
        before = self.link.changes
        try:
            with self._turnstile:
                count = self._run(jobs)
        except StoreError as error:
            _fail(jobs, error)
            return len(jobs), False
        if count:
            return count, self.link.changes > before
        return int(len(jobs) == 1), False

    def _run(self, jobs: Sequence[Job]) -> int:
        self.link.begin()
        try:
            count = 0
            for job in jobs:
                if not job.run(self._transaction):
                    return 0
                count += 1
                if self.link.weight >= GROUP_WEIGHT:
                    break
            self.link.commit()
        finally:
            self.link.rollback()
        self._fold()
        return count

    def _fold(self) -> None:
        """Move the log into the file from time to time. A failure costs nobody a commit: the log is durable itself."""
        self._unfolded += self.link.weight
        if self._unfolded < CHECKPOINT_WEIGHT:
            return
        self._unfolded = 0
        try:
            self.link.script("PRAGMA wal_checkpoint(PASSIVE)")
        except StoreError as error:
            _log.warning("the log of the database was not folded into it and will grow: %s", error)


def _fail(jobs: Sequence[Job], error: StoreError) -> None:
    for job in jobs:
        job.error = error
