"""The running processes of a round: start, kill, continue and reap them."""

import time
from collections.abc import Iterator
from dataclasses import dataclass
from signal import SIGCONT, SIGKILL
from types import TracebackType
from typing import Any, Self

from kesoku.testing.crash.actor import ProcessSpec
from kesoku.testing.crash.forkserver import ForkServer
from kesoku.testing.crash.trace import Trace


@dataclass(slots=True, eq=False)
class Child:
    """One process. It is killed at `due` (monotonic seconds), whatever it does, but not while it is stopped."""

    spec: ProcessSpec
    pid: int
    due: float
    stopped: float | None = None
    """When it was found stopped."""
    code: int | None = None
    """Action it ended; a signal is negative."""

    @property
    def name(self) -> str:
        """Unique in a run."""
        return self.spec.name


class Processes:
    """All that run. A context manager: leaving it kills them."""

    def __init__(self, forkserver: ForkServer, trace: Trace) -> None:
        self._forkserver, self._trace = forkserver, trace
        self._running: dict[int, Child] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for child in self:
            self.kill(child)
        while self._running:
            self.reap(1.0)

    def __iter__(self) -> Iterator[Child]:
        return iter(tuple(self._running.values()))

    def spawn(self, spec: ProcessSpec, seconds: float) -> None:
        """Start a process, to be killed in so many seconds."""
        pid = self._forkserver.start(spec)
        self._running[pid] = Child(spec, pid, time.monotonic() + seconds)
        self._note("spawned", self._running[pid])

    def reap(self, seconds: float) -> list[Child]:
        """Those that ended since the last call; waits so long for a first one."""
        found = []
        for pid, code in self._forkserver.ended(seconds):
            if child := self._running.pop(pid, None):
                child.code = code
                found.append(child)
        return found

    def kill(self, child: Child) -> None:
        """SIGKILL; `reap` returns it soon."""
        self._note("killing", child)
        self._forkserver.signal(child.pid, SIGKILL)

    def stopped(self, child: Child) -> None:
        """Note that it stopped itself."""
        child.stopped = time.monotonic()
        self._note("stopped", child)

    def resume(self, child: Child) -> None:
        """SIGCONT."""
        child.stopped = None
        self._note("continued", child)
        self._forkserver.signal(child.pid, SIGCONT)

    def _note(self, op: str, child: Child, **facts: Any) -> None:
        self._trace.write(op, name=child.name, role=child.spec.role, pid=child.pid, **facts)
