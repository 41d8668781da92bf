"""Commits groups of operations on the one writing connection. Knows nothing of threads and loops."""

import asyncio
import contextlib
import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import takewhile
from typing import Any, cast

from kesoku.errors import StoreError, StoreLocked
from kesoku.ports import Transaction
from kesoku.store.baton import Baton
from kesoku.store.cache import RecordCache
from kesoku.store.engine import Database
from kesoku.store.mapping import forget_rows
from kesoku.store.memo import Memo
from kesoku.store.migrations import prepare
from kesoku.store.queues import recount
from kesoku.store.transaction import SqlTransaction

GROUP_WEIGHT = 1024 * 1024
"""Bytes: a group that has written this much is committed before the rest of what is waiting."""
COMMIT_WEIGHT = 64 * 1024
"""Bytes that a commit adds to the log however little it changes: a page of each index."""
CHECKPOINT_WEIGHT = 8 * 1024 * 1024
"""Bytes in the log, of all processes together, until a checkpoint moves it into the file."""
_LONG = 2 * CHECKPOINT_WEIGHT
"""Bytes: a log of this length is cut when it begins anew; until then its file is used again as it is."""
_AGAIN = 1024 * 1024
"""Bytes after which a checkpoint is tried again, if a reader was in its way."""
_CHECKPOINT_PATIENCE = 20
"""Milliseconds that a checkpoint waits for short readers. It does not wait once a long one has let the log grow."""
_TOO_LONG = 64 * 1024 * 1024
"""Bytes: a log of this length is worth a warning."""
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


class Chore(Job):
    """Work on the connection itself, alone and outside of any transaction; its operation is given None."""


class Committer:
    """The writing connection of a file. Raises StoreError leaves when it cannot be opened."""

    def __init__(self, database: Database) -> None:
        with contextlib.ExitStack() as undo:
            self._write_lock, self._patience = database.write_lock(), database.failures.patience
            undo.callback(self._write_lock.close)
            database.touch()
            self.link = database.link(readonly=False)
            undo.callback(self.link.close)
            prepare(database, self.link, self._write_lock)
            recount(self.link, self._write_lock)
            undo.pop_all()
        self.cache, self.baton = RecordCache(), Baton()
        self._memo = Memo()
        self._transaction = SqlTransaction(self.link, self.cache, self._memo)
        self._others: object = None
        self._due = self._warned = False

    def commit(self, jobs: Sequence[Job]) -> tuple[int, bool]:
        """Run jobs from the front, as one transaction if none raises and each alone otherwise.

        Returns how many of them are settled, at least one, and whether anything was written. There are no savepoints:
        they cost more than the seldom repetition. A chore runs alone.
        """
        if isinstance(jobs[0], Chore):
            jobs[0].run(cast("Any", None))
            return 1, False
        jobs = list(takewhile(lambda job: not isinstance(job, Chore), jobs))
        settled, wrote = self._group(jobs)
        if settled:
            return settled, wrote
        for number, job in enumerate(jobs):
            wrote |= self._group([job])[1]
            if isinstance(job.error, StoreLocked):
                _fail(jobs[number:], job.error)
                break
        return len(jobs), wrote

    def checkpoint(self) -> None:
        """Move the log into the file if it has grown long: after the callers were told, for it takes a while.

        A failure costs nobody a commit: the log is durable itself.
        """
        if not self._due:
            return
        self._due = False
        try:
            with self._write_lock:
                if self._write_lock.log_bytes >= CHECKPOINT_WEIGHT:
                    self._checkpoint()
        except StoreError as error:
            _log.warning("the log of the database was not moved into it and will grow: %s", error)

    def scrub(self) -> None:
        """Build the file anew out of what is stored, and empty the log, so that neither holds anything else.

        Raises StoreLocked: somebody reads an older state, which stays until they end. StoreFull: it needs as much room
        again as the database has.
        """
        with self._write_lock:
            self.link.script("VACUUM")
            ((blocked, *_),) = self.link.script("PRAGMA wal_checkpoint(TRUNCATE)")
            if blocked:
                raise StoreLocked(path=self.link.path, seconds=self._patience)
            self._write_lock.log_bytes = 0
        forget_rows()

    def close(self) -> None:
        """Fold the log into the file and close, both under the lock if it can be had."""
        with contextlib.suppress(StoreError), self._write_lock:
            with self.link.patient(_CLOSING_PATIENCE):
                self.link.script("PRAGMA wal_checkpoint(TRUNCATE)")
            self._write_lock.log_bytes = 0
            self.link.close()
        with contextlib.suppress(StoreError):
            self.link.close()
        self._write_lock.close()

    def _group(self, jobs: Sequence[Job]) -> tuple[int, bool]:
        """One transaction. Settles nothing if one of several jobs raised: they must run again."""
        before = self.link.changes
        try:
            with self._write_lock:
                count = self._run(jobs)
        except StoreError as error:
            _fail(jobs, error)
            return len(jobs), False
        if count:
            return count, self.link.changes > before
        return int(len(jobs) == 1), False

    def _run(self, jobs: Sequence[Job]) -> int:
        self.link.begin()
        self._memo.begin()
        try:
            self._look()
            with self.baton.held():
                count = self._perform(jobs)
            if not count:
                return 0
            with self.cache.changing(self.link.touched):
                self.link.commit()
            self._memo.committed()
        finally:
            self.link.rollback()
        self._note()
        return count

    def _perform(self, jobs: Sequence[Job]) -> int:
        """How many ran before the group was large enough; none if one raised."""
        for count, job in enumerate(jobs, 1):
            if not job.run(self._transaction):
                return 0
            if self.link.weight >= GROUP_WEIGHT:
                return count
        return len(jobs)

    def _look(self) -> None:
        """Empty the caches if somebody else has written to the file: other processes, and people with an SQL shell."""
        others = self.link.script("PRAGMA data_version")
        if others != self._others:
            self._others = others
            self.cache.clear()
            self._memo.clear()

    def _note(self) -> None:
        """Add what was committed to the length of the log, which all processes share."""
        if self.link.weight:
            with contextlib.suppress(StoreError):  # the commit itself is safe
                size = self._write_lock.log_bytes + COMMIT_WEIGHT + self.link.weight
                self._write_lock.log_bytes = size
                self._due = size >= CHECKPOINT_WEIGHT

    def _checkpoint(self) -> None:
        size = self.link.log_size
        mode, patience = ("TRUNCATE", 0) if size > _LONG else ("RESTART", _CHECKPOINT_PATIENCE)
        with self.link.patient(patience):
            ((blocked, *_),) = self.link.script(f"PRAGMA wal_checkpoint({mode})")
        self._write_lock.log_bytes = CHECKPOINT_WEIGHT - _AGAIN if blocked else 0
        if size > _TOO_LONG and not self._warned:
            _log.warning("the log of the database has %d MB: a program reads without an end", size >> 20)
        self._warned = size > _TOO_LONG


def _fail(jobs: Sequence[Job], error: StoreError) -> None:
    for job in jobs:
        job.error = error
