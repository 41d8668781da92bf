"""The living processes of a run, by the part that each of them plays."""

import time
from collections.abc import Iterator
from dataclasses import dataclass
from signal import SIGCONT, SIGKILL
from types import TracebackType
from typing import Any, Self

from kesoku.testing.crash.actor import Birth
from kesoku.testing.crash.nursery import Nursery
from kesoku.testing.crash.trace import Trace


@dataclass(slots=True, eq=False)
class Child:
    """One process. It is killed at `due` (monotonic seconds), whatever it does, but not while it is stopped."""

    birth: Birth
    pid: int
    due: float
    stopped: float | None = None
    """When it was found stopped."""
    code: int | None = None
    """How it ended; a signal is negative."""

    @property
    def name(self) -> str:
        """Its own for ever."""
        return self.birth.name


class Cast:
    """All that live. A context manager: leaving it kills them."""

    def __init__(self, nursery: Nursery, trace: Trace) -> None:
        self._nursery, self._trace = nursery, trace
        self._living: dict[int, Child] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for child in self:
            self.kill(child)
        while self._living:
            self.dead(1.0)

    def __iter__(self) -> Iterator[Child]:
        return iter(tuple(self._living.values()))

    def spawn(self, birth: Birth, seconds: float) -> None:
        """Start a process that is due in so many seconds."""
        pid = self._nursery.bear(birth)
        self._living[pid] = Child(birth, pid, time.monotonic() + seconds)
        self._tell("spawned", self._living[pid])

    def dead(self, seconds: float) -> list[Child]:
        """Those that ended, out of the cast now; waits so long for a first one."""
        found = []
        for pid, code in self._nursery.ended(seconds):
            if child := self._living.pop(pid, None):
                child.code = code
                found.append(child)
        return found

    def kill(self, child: Child) -> None:
        """SIGKILL; it is among the dead soon."""
        self._tell("killing", child)
        self._nursery.signal(child.pid, SIGKILL)

    def stopped(self, child: Child) -> None:
        """It stopped itself."""
        child.stopped = time.monotonic()
        self._tell("stopped", child)

    def resume(self, child: Child) -> None:
        """SIGCONT."""
        child.stopped = None
        self._tell("continued", child)
        self._nursery.signal(child.pid, SIGCONT)

    def _tell(self, op: str, child: Child, **facts: Any) -> None:
        self._trace.write(op, name=child.name, role=child.birth.role, pid=child.pid, **facts)
