"""A process of the crash kit: its specification, and the open store and gateway that every role works with."""

import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from enum import StrEnum
from functools import partial
from typing import Self

from kesoku.gateway import BusyPolicy, Presence
from kesoku.ports import Gateway, Store
from kesoku.store import SqlStore
from kesoku.store.driver import driver
from kesoku.testing.clock import FastClock
from kesoku.testing.crash.audit import identify
from kesoku.testing.crash.layout import Layout
from kesoku.testing.crash.plan import Plan
from kesoku.testing.crash.trace import Trace
from kesoku.testing.crash.watch import Tripwire, Watch, WatchedStore
from kesoku.testing.driver import intercepted
from kesoku.testing.gateway_harness import UNBOUNDED


class Role(StrEnum):
    """What a process does."""

    WORKER = "worker"
    """Claims prompts of all bots and answers them; several claim the same sessions."""
    HOST = "host"
    """Runs the adapter of one bot: inbox, outbox and the platform's journal."""
    POSTER = "poster"
    """People: speaks on the platforms, and hands in prompts with keys of its own, some of them twice."""
    FOLLOWER = "follower"
    """Reads the event log, from where the process that it replaces got to."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ProcessSpec:
    """What a process is to be. `name` is unique in a run; `part` is kept by its replacements: `worker-2`, `keyed`."""

    name: str
    part: str
    role: Role
    layout: Layout
    plan: Plan
    clock: FastClock
    tripwire: Tripwire | None = None


class Actor:
    """The open parts of a process, made as the product makes them, over a watched driver of SQLite."""

    def __init__(self, spec: ProcessSpec, watch: Watch, presence: Presence, store: Store) -> None:
        self.spec, self.watch, self.trace = spec, watch, watch.trace
        self.layout, self.clock, self.wiring = spec.layout, spec.clock, spec.plan.wiring
        self.presence, self.store = presence, WatchedStore(self.wiring.store(store), watch)
        self.gateway: Gateway = self.wiring.gateway(self.store, self.clock, BusyPolicy(), presence, bounds=UNBOUNDED)

    @classmethod
    @asynccontextmanager
    async def open(cls, spec: ProcessSpec) -> AsyncIterator[Self]:
        """Open everything."""
        watch = Watch(Trace(spec.layout.traces / f"{spec.name}.jsonl"), spec.tripwire)
        with Presence(spec.layout.run) as presence:
            watch.trace.write("up", name=spec.name, owner=presence.owner, role=spec.role, pid=os.getpid())
            opened = partial(identify, owner=presence.owner, now=spec.clock.now)
            module = intercepted(driver(), watch.statement, opened=opened)
            async with await SqlStore.open(spec.layout.database, module=module) as store:
                yield cls(spec, watch, presence, store)
        watch.trace.write("down")
