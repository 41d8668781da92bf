"""Points at which a process may die: around every commit, and wherever an actor calls `Watch.passing`."""

import os
import signal
import time
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from typing import TypeVar

from kesoku.errors import Deposed
from kesoku.ports import Store, Transaction
from kesoku.testing.crash.trace import Trace
from kesoku.testing.faulty_store import name_of

T = TypeVar("T")

_LAST_WRITES = 0.1
"""Seconds in which the writes end that a process has under way."""


class Side(StrEnum):
    """On which side of a point."""

    ASKED = "asked"
    """Before the write is handed to the store; nothing is locked."""
    BEFORE = "before"
    """Everything is done but the commit, or the call of the platform."""
    AFTER = "after"
    """It is done, and the caller does not know yet."""


class Action(StrEnum):
    """What a tripwire does to its process."""

    KILL = "kill"
    """SIGKILL."""
    STOP = "stop"
    """SIGSTOP: it stands still until it gets SIGCONT."""


@dataclass(frozen=True, slots=True, order=True)
class Point:
    """A place in the work of an actor, such as the commit of `StoreGateway.finish`."""

    name: str
    side: Side

    def __str__(self) -> str:
        return f"{self.side} {self.name}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Tripwire:
    """Ends the process that passes `point` for the `nth` time."""

    point: Point
    nth: int = 1
    action: Action = Action.KILL
    part: str = ""
    """The one process that a plan gives it to, such as `worker-0`."""


class Watch:
    """Records the points that its process passes, and ends it at its tripwire."""

    def __init__(self, trace: Trace, tripwire: Tripwire | None = None) -> None:
        self.trace = trace
        self._tripwire, self._left = tripwire, tripwire.nth if tripwire else 0
        self._passed: set[Point] = set()
        self._group: list[str] = []
        self._commits = 0

    def passing(self, name: str, side: Side) -> None:
        """A point is passed; the process may not survive this. The first time is written down."""
        point = Point(name, side)
        if point not in self._passed:
            self._passed.add(point)
            self.trace.write("passed", name=name, side=side)
        if self._tripwire and self._tripwire.point == point:
            self._left -= 1
            if self._left == 0:
                self.end(point, self._tripwire.action)

    def end(self, point: Point, action: Action = Action.KILL) -> None:
        """Kill or stop this process here, and say so first.

        What stops on the loop lets its writes end before: one who stands still in a commit holds up all the others.
        """
        if action is Action.STOP:
            time.sleep(_LAST_WRITES)
        self.trace.write("point", name=point.name, side=point.side, how=action)
        os.kill(os.getpid(), signal.SIGSTOP if action is Action.STOP else signal.SIGKILL)

    def first(self, name: str) -> bool:
        """Whether no process of this run asked before; the answer is kept beside the traces."""
        try:
            os.close(os.open(self.trace.path.with_name(name), os.O_CREAT | os.O_EXCL, 0o600))
        except FileExistsError:
            return False
        return True

    def ran(self, name: str) -> None:
        """An operation ran in the open transaction."""
        self._group.append(name)

    def statement(self, sql: str, run: Callable[[], T]) -> T:
        """Run a statement of the writing connection; a commit is a point of every operation in it.

        Where nobody names the operations, it is the point `commit 7`, counted from 1.
        """
        if sql != "COMMIT":
            if sql == "BEGIN IMMEDIATE":
                self._group = []
            return run()
        self._commits += 1
        group = self._group or [f"commit {self._commits}"]
        for name in group:
            self.passing(name, Side.BEFORE)
        result = run()
        for name in group:
            self.passing(name, Side.AFTER)
        return result


class WatchedStore:
    """A store whose writes are points, named after the function that they run; it tells which were of the deposed."""

    def __init__(self, store: Store, watch: Watch) -> None:
        self._store, self._watch = store, watch

    async def write(self, operation: Callable[[Transaction], T]) -> T:
        """Run and commit."""
        name = name_of(operation)
        self._watch.passing(name, Side.ASKED)

        def watched(tx: Transaction) -> T:
            try:
                result = operation(tx)
            except Deposed:
                self._watch.trace.write("refused", name=name)
                raise
            self._watch.ran(name)
            return result

        return await self._store.write(watched)

    async def read(self, operation: Callable[[Transaction], T]) -> T:
        """Run on a snapshot."""
        return await self._store.read(operation)

    async def scrub(self) -> None:
        """Leave nothing but what is stored."""
        await self._store.scrub()

    def on_commit(self, callback: Callable[[], None]) -> Callable[[], None]:
        """Call back after commits."""
        return self._store.on_commit(callback)

    async def aclose(self) -> None:
        """Close."""
        await self._store.aclose()
