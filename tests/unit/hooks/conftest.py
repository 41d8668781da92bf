"""Hooks over a gateway in memory, whose targets and clock are under the test's hand."""

import asyncio
import json
from collections import deque
from collections.abc import AsyncIterator, Iterable
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

import pytest

from kesoku.errors import ServedElsewhere
from kesoku.hooks.call import Call
from kesoku.hooks.filter import Filter
from kesoku.hooks.hook import EventHook
from kesoku.hooks.pace import Pace
from kesoku.hooks.room import EventHooks
from kesoku.hooks.standing import Standing, standing
from kesoku.messages.hook_failure import HookFailure
from kesoku.messages.record import Address
from kesoku.testing.clock import VirtualClock, settle
from kesoku.testing.faulty_store import FaultyStore
from kesoku.testing.gateway_harness import GatewayHarness
from kesoku.testing.memory import MemoryStore

USUAL = Pace()


@dataclass
class RecordingTarget:
    """Keeps every call. Each of `failures` is raised once, in order; while `shut`, a call does not end."""

    failures: deque[BaseException] = field(default_factory=deque)
    calls: list[Call] = field(default_factory=list)
    taken: list[Call] = field(default_factory=list)
    shut: asyncio.Event | None = None
    closed: int = 0
    inside: int = 0
    most: int = 0
    """How many calls there were at once."""

    async def send(self, call: Call) -> None:
        self.calls.append(call)
        self.inside += 1
        self.most = max(self.most, self.inside)
        try:
            if self.shut is not None:
                await self.shut.wait()
        finally:
            self.inside -= 1
        if self.failures:
            raise self.failures.popleft()
        self.taken.append(call)

    async def aclose(self) -> None:
        self.closed += 1

    @property
    def texts(self) -> list[str]:
        return [text_of(call) for call in self.taken]


def text_of(call: Call) -> str:
    body: dict[str, Any] = json.loads(call.body)
    return str(body["message"]["content"]["text"])


class SharedKeys:
    """The keys of one process; all that share `taken` are processes on one database."""

    def __init__(self, taken: dict[Address, "SharedKeys"]) -> None:
        self._taken = taken

    def holder(self, address: Address) -> int | None:
        return 1 if address in self._taken else None

    def serve(self, addresses: Iterable[Address]) -> None:
        for address in addresses:
            if address in self._taken:
                raise ServedElsewhere(key=str(address), pid=1)
            self._taken[address] = self

    def die(self) -> None:
        for address in [each for each, keys in self._taken.items() if keys is self]:
            del self._taken[address]


@dataclass
class Process:
    """One process that runs hooks."""

    hooks: EventHooks
    keys: SharedKeys
    task: "asyncio.Task[None]"

    async def die(self) -> None:
        self.task.cancel()
        with suppress(asyncio.CancelledError):
            await self.task
        self.keys.die()


class Bench(GatewayHarness):
    """A gateway, and processes that run hooks."""

    def __init__(self) -> None:
        clock = VirtualClock()
        self.faults = FaultyStore(MemoryStore(rerun=True), clock)
        super().__init__(self.faults, clock=clock)
        self.target = RecordingTarget()
        self._taken: dict[Address, SharedKeys] = {}
        self._processes: list[Process] = []

    def hook(self, name: str = "ops", *events: str, target: Any = None, **settings: Any) -> EventHook:
        wants = Filter(events=events or ("prompt", "answer", "error"))
        return EventHook(name=name, wants=wants, target=target or self.target, **settings)

    async def run(self, *hooks: EventHook, secrets: Iterable[str] = (), pace: Pace = USUAL) -> Process:
        """Start a process."""
        keys = SharedKeys(self._taken)
        room = EventHooks(
            hooks or (self.hook(),),
            store=self.store,
            gateway=self.process(),
            clock=self.clock,
            keys=keys,
            secrets=secrets,
            pace=pace,
        )
        await room.begin()
        process = Process(hooks=room, keys=keys, task=asyncio.create_task(room.run()))
        self._processes.append(process)
        await settle()
        return process

    async def settled(self) -> None:
        """Let everything run that is ready, the listeners' reads included."""
        for _ in range(5):
            await settle()

    async def failures(self, name: str = "ops") -> list[HookFailure]:
        return await self.store.read(lambda tx: tx.hooks.of(name, limit=100))

    async def standing(self, name: str = "ops") -> Standing | None:
        return await self.store.read(lambda tx: standing(tx, name))

    async def aclose(self) -> None:
        for process in self._processes:
            await process.die()
        await self.store.aclose()


@pytest.fixture
async def bench() -> AsyncIterator[Bench]:
    made = Bench()
    yield made
    await made.aclose()
