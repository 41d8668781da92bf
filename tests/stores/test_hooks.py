"""Event hooks over a real database: what survives a process, and what does not come twice."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from kesoku.errors import HookUnreachable, StoreFailed
from kesoku.gateway import BusyPolicy, Presence, StoreGateway
from kesoku.hooks.call import Call
from kesoku.hooks.filter import Filter
from kesoku.hooks.hook import EventHook
from kesoku.hooks.room import EventHooks
from kesoku.hooks.standing import standing
from kesoku.messages.hook_failure import HookFailure
from kesoku.ports import Store, Transaction
from kesoku.store import SqlStore
from kesoku.testing.clock import WallClock
from kesoku.testing.gateway_harness import prompt
from kesoku.testing.waiting import until

Operation = Callable[[Transaction], Any]


@dataclass
class Receiver:
    """Takes events after it has failed so many times."""

    failures: int = 0
    calls: list[Call] = field(default_factory=list)
    taken: list[int] = field(default_factory=list)

    async def send(self, call: Call) -> None:
        self.calls.append(call)
        if self.failures:
            self.failures -= 1
            raise HookUnreachable(where="http://ops", reason="refused")
        self.taken.append(call.event_seq)

    async def aclose(self) -> None: ...


@dataclass
class Process:
    gateway: StoreGateway
    store: Store
    hooks: EventHooks

    async def say(self, *texts: str) -> None:
        for text in texts:
            await self.gateway.accept([prompt(text)], catch_up=True)


@asynccontextmanager
async def process(path: Path, receiver: Receiver, *, first_pause: float = 0.01) -> AsyncIterator[Process]:
    """What one process does with its database; in the end hooks hear of everything."""
    hook = EventHook(name="ops", wants=Filter(events=["prompt"]), target=receiver, first_pause=first_pause)
    with Presence(path.with_suffix(".run")) as presence:
        async with await SqlStore.open(path) as store:
            gateway = StoreGateway(store, WallClock(), BusyPolicy(), presence)
            hooks = EventHooks([hook], store=store, gateway=gateway, clock=WallClock(), keys=presence)
            await hooks.begin()
            running = asyncio.create_task(hooks.run())
            yield Process(gateway=gateway, store=store, hooks=hooks)
            await hooks.finish(30)
            running.cancel()
            with suppress(asyncio.CancelledError):
                await running


@pytest.fixture(autouse=True)
def quick_ticks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("kesoku.hooks.follower.TICK", 0.02)


async def test_two_processes_tell_a_hook_of_everything_once(tmp_path: Path) -> None:
    path, receiver = tmp_path / "kesoku.db", Receiver()
    async with process(path, receiver) as first, process(path, receiver) as second:
        await asyncio.gather(first.say(*"abcdefghij"), second.say(*"klmnopqrst"))
        await first.hooks.finish(30)
    assert receiver.taken == list(range(1, 21))


async def test_the_other_process_takes_over_and_leaves_nothing_out(tmp_path: Path) -> None:
    path, receiver = tmp_path / "kesoku.db", Receiver()
    async with process(path, receiver) as second:
        async with process(path, receiver) as first:
            await first.say("one", "two")
        await second.say("three")

        async def complete() -> bool:
            return len(receiver.taken) >= 3

        await until(complete, what="the other process has told the hook of the rest")
    assert receiver.taken == [1, 2, 3]


async def test_a_failure_is_tried_again_after_a_restart(tmp_path: Path) -> None:
    path, receiver = tmp_path / "kesoku.db", Receiver(failures=1)
    async with process(path, receiver) as one:
        await one.say("one")
        await one.hooks.finish(30)
        (failure,) = await one.store.read(lambda tx: tx.hooks.of("ops", limit=9))
        assert (failure.event_seq, failure.attempts) == (1, 1)
    async with process(path, receiver) as two:

        async def taken() -> bool:
            return await two.store.read(lambda tx: tx.hooks.count("ops")) == (0, 0)

        await until(taken, what="it was tried again")
    assert receiver.taken == [1]
    assert len({call.message_id for call in receiver.calls}) == 1


async def test_a_failure_whose_event_is_gone_is_not_taken_for_the_next_event(tmp_path: Path) -> None:
    path, receiver = tmp_path / "kesoku.db", Receiver()
    gone = HookFailure(hook="ops", event_seq=0, message_id="m", attempts=1, next_at=1, error="x", at=1)
    async with process(path, receiver) as one:
        await one.say("one")
        await one.store.write(lambda tx: tx.hooks.put(gone))

        async def forgotten() -> bool:
            return await one.store.read(lambda tx: tx.hooks.count("ops")) == (0, 0)

        await until(forgotten, what="it is looked at and forgotten")
    assert receiver.taken == [1]


async def test_cursor_and_failure_are_one_commit(tmp_path: Path) -> None:
    path, receiver = tmp_path / "kesoku.db", Receiver(failures=1)
    async with process(path, receiver, first_pause=60) as one:
        write, seen = one.store.write, set()

        async def watched(operation: Operation) -> Any:
            def whole(tx: Transaction) -> Any:
                result, known = operation(tx), standing(tx, "ops")
                seen.add((known and known.cursor, tx.hooks.count("ops")))
                return result

            return await write(whole)

        one.store.write = watched  # type: ignore[method-assign]
        await one.say("one")
        await one.hooks.finish(30)
    assert seen == {(0, (0, 0)), (1, (1, 0))}


async def test_a_store_that_is_away_for_a_while_costs_no_event(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("kesoku.hooks.room._PAUSE", 0.02)
    path, receiver = tmp_path / "kesoku.db", Receiver()
    async with process(path, receiver) as one:
        read, broken = one.store.read, [StoreFailed(path=path, reason="away")] * 3

        async def failing(operation: Operation) -> Any:
            if broken:
                raise broken.pop()
            return await read(operation)

        one.store.read = failing  # type: ignore[method-assign]
        await one.say("one", "two")

        async def complete() -> bool:
            return len(receiver.taken) >= 2

        await until(complete, what="it begins again")
    assert receiver.taken == [1, 2]
