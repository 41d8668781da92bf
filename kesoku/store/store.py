"""The store on SQLite: a writer, readers and a wake-up over one file."""

import asyncio
from collections.abc import Callable, Sequence
from os import PathLike
from pathlib import Path
from types import ModuleType
from typing import Any, Self, TypeVar

from kesoku.errors import StoreClosed
from kesoku.ports import Transaction
from kesoku.store.committer import Chore, Committer, Job
from kesoku.store.damage import damage
from kesoku.store.driver import driver
from kesoku.store.engine import Database, Link
from kesoku.store.gauge import Gauge, gauge
from kesoku.store.reader import Reader
from kesoku.store.wake import Wake
from kesoku.store.writer import Writer

T = TypeVar("T")

ADMITTED = 256
"""Writes in flight at most; who comes later waits, which keeps the loop from drowning in wake-ups."""


class SqlStore:
    """See `kesoku.ports.store.Store`. Made by `open`, used on the loop that opened it."""

    def __init__(self, database: Database, committer: Committer, loop: asyncio.AbstractEventLoop) -> None:
        self._database, self._committer = database, committer
        self._admission = asyncio.Semaphore(ADMITTED)
        self._loop = loop
        self._wake = Wake(database, loop)
        self._reader = Reader(database, loop, committer.cache, committer.baton)
        self._writer = Writer(committer, loop, self._settle)
        self._closing: asyncio.Future[None] | None = None

    @classmethod
    async def open(cls, path: str | PathLike[str], *, module: ModuleType | None = None, patience: float = 5.0) -> Self:
        """Open or make a database.

        `module` is a driver with the interface of `sqlite3`, by default what `driver` gives; `patience` is how many
        seconds a write waits for other programs.

        Raises:
            StoreUnreachable: no such directory, or no permission.
            StoreForeign: the file is something else.
            StoreNewer: a newer Kesoku wrote it.
            StoreOutdated: this Python's SQLite is too old.
            StoreLocked, StoreFull, StoreReadOnly, StoreCorrupt, StoreFailed: what they say.
        """
        database = Database(Path(path), module=module or driver(), patience=patience)
        committer = await asyncio.to_thread(Committer, database)
        return cls(database, committer, asyncio.get_running_loop())

    @property
    def path(self) -> Path:
        """The file."""
        return self._database.path

    async def write(self, operation: Callable[[Transaction], T]) -> T:
        """Run an operation and commit; on return it is durable."""
        result: T = await self._do(Job(operation=operation, future=self._loop.create_future()))
        return result

    async def scrub(self) -> None:
        """Leave nothing in the file and its log but what is stored. No writer gets in meanwhile."""
        await self._do(Chore(operation=lambda _: self._committer.scrub(), future=self._loop.create_future()))

    async def read(self, operation: Callable[[Transaction], T]) -> T:
        """Run an operation on a snapshot."""
        if self._closing:
            raise StoreClosed(path=self.path)
        result: T = await self._reader.run(operation)
        return result

    async def check(self) -> list[str]:
        """What is wrong with the file, else with its rows, for doctor; empty when all is well. Reads everything."""
        return await asyncio.to_thread(self._inspect, _check)

    async def gauge(self) -> Gauge:
        """How much waits, runs and hangs now, for doctor. Only reads."""
        return await asyncio.to_thread(self._inspect, gauge)

    def on_commit(self, callback: Callable[[], None]) -> Callable[[], None]:
        """Call back on the loop after commits; returns the undo."""
        return self._wake.subscribe(callback)

    async def aclose(self) -> None:
        """Finish what is waiting, fold the log into the file, close. May be called twice."""
        if self._closing is None:
            self._closing = asyncio.ensure_future(self._finish())
        await asyncio.shield(self._closing)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()

    async def _do(self, job: Job) -> Any:
        await self._admission.acquire()
        if self._closing:
            self._admission.release()
            raise StoreClosed(path=self.path)
        self._writer.put(job)
        return await job.future

    def _inspect(self, look: Callable[[Link], T]) -> T:
        link = self._database.link(readonly=True)
        try:
            return look(link)
        finally:
            link.close()

    def _settle(self, jobs: Sequence[Job], wrote: bool) -> None:
        for job in jobs:
            job.settle()
            self._admission.release()
        if wrote:
            self._wake.fire()

    async def _finish(self) -> None:
        self._writer.finish()
        await self._writer.ended
        await asyncio.to_thread(self._close)

    def _close(self) -> None:
        self._wake.close()
        self._reader.close()
        self._committer.close()


def _check(link: Link) -> list[str]:
    return [text for (text,) in link.script("PRAGMA quick_check(20)") if text != "ok"] or damage(link)
