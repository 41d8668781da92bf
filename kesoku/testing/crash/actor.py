"""A process of the crash kit: what it is told at its birth, and what every role stands on."""

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
from kesoku.testing.bench import UNBOUNDED
from kesoku.testing.crash.audit import introduce
from kesoku.testing.crash.clock import FastClock
from kesoku.testing.crash.plan import Plan
from kesoku.testing.crash.scene import Scene
from kesoku.testing.crash.trace import Trace
from kesoku.testing.crash.watch import Tripwire, Watch, WatchedStore
from kesoku.testing.driver import intercepted


class Role(StrEnum):
    """What a process does."""

    WORKER = "worker"
    """Claims prompts of all bots and answers them; several claim the same sessions."""
    HOST = "host"
    """Runs the adapter of one bot: inbox, outbox and the platform's journal."""
    POSTER = "poster"
    """People: speaks on the platforms, and hands in prompts with keys of its own, some of them twice."""
    FOLLOWER = "follower"
    """Reads the event log from where its last life ended."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Birth:
    """Everything that a process is told. `name` is its own for ever; `part` is who it replaces: `worker-2`, `keyed`."""

    name: str
    part: str
    role: Role
    scene: Scene
    plan: Plan
    clock: FastClock
    tripwire: Tripwire | None = None


class Actor:
    """The open parts of a process, as the product makes them, over a driver that is watched."""

    def __init__(self, birth: Birth, watch: Watch, presence: Presence, store: Store) -> None:
        self.birth, self.watch, self.trace = birth, watch, watch.trace
        self.scene, self.clock, self.wiring = birth.scene, birth.clock, birth.plan.wiring
        self.presence, self.store = presence, WatchedStore(self.wiring.store(store), watch)
        self.gateway: Gateway = self.wiring.gateway(self.store, self.clock, BusyPolicy(), presence, bounds=UNBOUNDED)

    @classmethod
    @asynccontextmanager
    async def open(cls, birth: Birth) -> AsyncIterator[Self]:
        """Open everything."""
        watch = Watch(Trace(birth.scene.traces / f"{birth.name}.jsonl"), birth.tripwire)
        with Presence(birth.scene.run) as presence:
            watch.trace.write("up", name=birth.name, owner=presence.owner, role=birth.role, pid=os.getpid())
            hello = partial(introduce, owner=presence.owner, now=birth.clock.now)
            module = intercepted(driver(), watch.statement, opened=hello)
            async with await SqlStore.open(birth.scene.database, module=module) as store:
                yield cls(birth, watch, presence, store)
        watch.trace.write("down")
