"""The writer: one thread that commits what is waiting as one group, so that many callers share one fsync."""

import asyncio
import queue
import threading
from collections.abc import Callable, Sequence

from kesoku.store.committer import Committer, Job
from kesoku.store.wake import tell

GROUP_JOBS = 64
"""Operations of one group at most."""

Settled = Callable[[Sequence[Job], bool], None]
"""Called on the loop with the jobs of a group and whether it wrote anything."""


class Writer:
    """Runs jobs in the order in which they were put. `ended` is done when the last of them is settled."""

    def __init__(self, committer: Committer, loop: asyncio.AbstractEventLoop, settled: Settled) -> None:
        self._committer, self._loop, self._settled = committer, loop, settled
        self._jobs: queue.SimpleQueue[Job | None] = queue.SimpleQueue()
        self._rest: list[Job] = []
        self.ended: asyncio.Future[None] = loop.create_future()
        threading.Thread(target=self._main, name="store-writer", daemon=True).start()

    def put(self, job: Job) -> None:
        """Queue a job."""
        self._jobs.put(job)

    def finish(self) -> None:
        """End after what was put."""
        self._jobs.put(None)

    def _main(self) -> None:
        try:
            while jobs := self._gather():
                count, wrote = self._committer.commit(jobs)
                self._rest = jobs[count:]
                tell(self._loop, self._settled, jobs[:count], wrote)
                self._committer.checkpoint()
        finally:
            tell(self._loop, self.ended.set_result, None)

    def _gather(self) -> list[Job]:
        """What is waiting, without waiting for more; empty at the end."""
        jobs = self._rest
        if not jobs:
            first = self._jobs.get()
            jobs = [] if first is None else [first]
        while jobs and len(jobs) < GROUP_JOBS:
            try:
                job = self._jobs.get_nowait()
            except queue.Empty:
                break
            if job is None:
                self._jobs.put(None)
                break
            jobs.append(job)
        return jobs
