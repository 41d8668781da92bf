"""Event hooks over a real database: what survives a process, and what does not come twice."""

import asyncio
import sqlite3
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, closing, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from kesoku.errors import HookUnreachable, StoreCorrupt
from kesoku.gateway import BusyPolicy, Presence, StoreGateway
from kesoku.hooks.call import Call
from kesoku.hooks.filter import Filter
from kesoku.hooks.hook import EventHook
from kesoku.hooks.pace import Pace
from kesoku.hooks.room import EventHooks
from kesoku.hooks.standing import standing
from kesoku.messages.hook_failure import HookFailure
from kesoku.ports import Store, Transaction
from kesoku.store import SqlStore
from kesoku.testing.clock import WallClock
from kesoku.testing.faulty_store import BEFORE, FaultyStore, StoreFault, When
from kesoku.testing.gateway_harness import prompt
from kesoku.testing.waiting import until


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


class FaultyStores:
    """Puts a store that fails when it is told to between a process and its database."""

    made: FaultyStore

    def __call__(self, store: Store) -> Store:
        self.made = FaultyStore(store, WallClock())
        return self.made


@dataclass
class Process:
    gateway: StoreGateway
    store: Store
    hooks: EventHooks

    async def say(self, *texts: str) -> None:
        for text in texts:
            await self.gateway.accept([prompt(text)], catch_up=True)


PACE = Pace(tick=0.02, rest=0.02)


@asynccontextmanager
async def process(
    path: Path,
    receiver: Receiver,
    *,
    first_pause: float = 0.01,
    through: Callable[[Store], Store] = lambda store: store,
) -> AsyncIterator[Process]:
    """What one process does with its database, `through` another store; in the end hooks hear of everything."""
    hook = EventHook(name="ops", wants=Filter(events=["prompt"]), target=receiver, first_pause=first_pause)
    with Presence(path.with_suffix(".run")) as presence:
        async with await SqlStore.open(path) as opened:
            store = through(opened)
            gateway = StoreGateway(store, WallClock(), BusyPolicy(), presence)
            hooks = EventHooks([hook], store=store, gateway=gateway, clock=WallClock(), keys=presence, pace=PACE)
            await hooks.begin()
            running = asyncio.create_task(hooks.run())
            yield Process(gateway=gateway, store=store, hooks=hooks)
            await hooks.finish(30)
            running.cancel()
            with suppress(asyncio.CancelledError):
                await running


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


@pytest.mark.parametrize(("when", "attempts"), [(When.AFTER, 1), (When.BEFORE, 2)], ids=["durable", "rolled back"])
async def test_cursor_and_failure_are_one_commit(tmp_path: Path, when: When, attempts: int) -> None:
    path, receiver, faulty = tmp_path / "kesoku.db", Receiver(failures=2), FaultyStores()
    async with process(path, receiver, first_pause=60, through=faulty) as one:
        broken = StoreFault(when=when, error=lambda: StoreCorrupt(path=path, reason="made by a test"))
        faulty.made.script("Follower._tell", broken)  # the hook breaks down, and begins again with what is durable
        await one.say("one")
        await one.hooks.finish(30)

        def both(tx: Transaction) -> Any:
            known = standing(tx, "ops")
            return known and known.cursor, tx.hooks.count("ops")

        async def noted() -> bool:
            return bool(await one.store.read(both) == (1, (1, 0)))

        await until(noted, what="the failure is kept, and the cursor behind it")
    assert len(receiver.calls) == attempts


async def test_a_store_that_is_away_for_a_while_costs_no_event(tmp_path: Path) -> None:
    path, receiver, faulty = tmp_path / "kesoku.db", Receiver(), FaultyStores()
    async with process(path, receiver, through=faulty) as one:
        faulty.made.script("Follower._event", BEFORE, BEFORE, BEFORE)
        await one.say("one", "two")

        async def complete() -> bool:
            return len(receiver.taken) >= 2

        await until(complete, what="it begins again")
        assert faulty.made.hits["Follower._event"] == 3
    assert receiver.taken == [1, 2]


DAMAGED: dict[str, dict[str, Any]] = {
    "attempts": {"attempts": "many"},
    "attempts without a beginning": {"attempts": -(10**18)},
    "when it is due": {"next_at": b"x"},
    "a fraction": {"next_at": 1.5, "at": "x"},
    "which event": {"event_seq": "one"},
    "an event that never was": {"event_seq": -5},
    "what is said": {"message_id": b"\xff", "error": b"\xff"},
}
SOUND: dict[str, Any] = {
    "hook": "ops",
    "event_seq": 1,
    "message_id": "m",
    "attempts": 1,
    "next_at": 1,
    "error": "x",
    "at": 1,
}


@pytest.mark.parametrize("damage", DAMAGED.values(), ids=DAMAGED)
async def test_a_damaged_failure_keeps_no_other_event_from_a_hook(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, damage: dict[str, Any]
) -> None:
    path, receiver = tmp_path / "kesoku.db", Receiver()
    async with process(path, receiver) as one:
        await one.say("one")
    row = SOUND | damage
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute(
            f"INSERT INTO hook_failures ({', '.join(row)}) VALUES (?, ?, ?, ?, ?, ?, ?)", [*row.values()]
        )
    async with process(path, receiver) as two:
        await two.say("two")
        await two.store.write(lambda tx: tx.hooks.put(HookFailure(**SOUND | {"event_seq": 2, "next_at": 2})))

        async def told_again() -> bool:
            return receiver.taken.count(2) == 2

        await until(told_again, what="the next event was told, and another failure tried again")
        listed = await two.store.read(lambda tx: tx.hooks.of("ops", limit=9))
        assert all(type(each.attempts) is int for each in listed)
    assert "broke down" not in caplog.text
