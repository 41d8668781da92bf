"""Every operation fails once, in every way, in the middle of a day: and nobody notices but by the clock."""

import asyncio
from collections.abc import AsyncIterator
from functools import partial
from pathlib import Path

import pytest

from kesoku.errors import StoreFailed, StoreFull, StoreLocked, StoreReadOnly
from kesoku.ports import Store, Transaction
from kesoku.store import SqlStore
from kesoku.testing.clock import VirtualClock
from kesoku.testing.faulty_store import (
    AFTER,
    BEFORE,
    FULL,
    LOCKED,
    READ_ONLY,
    FaultyStore,
    Hints,
    Plan,
    StoreFault,
    When,
    dice,
    name_of,
)
from kesoku.testing.memory import MemoryStore
from kesoku.testing.store_contract import StoreContract

from .day import Day

GATEWAY = (
    *(f"StoreGateway.{name}" for name in ("accept", "post", "step", "respond", "finish", "join", "repair")),
    *(f"StoreGateway.{name}" for name in ("recover", "renew", "release", "interrupt")),
    "Claiming.claims",
)
OUTBOX = tuple(f"Ledger.{name}" for name in ("plan", "move", "sent", "close", "edit", "forget"))
READS = (
    *("Journal.open", "Journal.join", "Journal.read", "Tail._read", "GatewayInbox._is_special"),
    *("Outbox._snapshot", "Outbox._show", "Outbox._answered_later", "LiveBoard._made", "LiveBoard._rows"),
)
WAYS = {"before": (BEFORE, 0.0), "after": (AFTER, 0.0), "locked": (LOCKED, 3.0), "full": (FULL, 11.0)}
"""How the first operation fails, and for how many seconds all writes fail in the same way then."""


def once(day: Day, fault: StoreFault, seconds: float, *names: str, accepted: int = 0) -> Plan:
    """The first operation of each name fails, once so many prompts came in, and for a while everything does; of the
    claims, one that finds work."""
    left = set(names)

    def plan(name: str) -> StoreFault | None:
        if name not in left or day.store.calls["StoreGateway.accept"] < max(accepted, name == "Claiming.claims"):
            return None
        left.remove(name)
        if seconds:
            day.store.outage(fault, seconds)
        return fault

    return plan


@pytest.fixture
async def sql(tmp_path: Path) -> AsyncIterator[Store]:
    async with await SqlStore.open(tmp_path / "kesoku.db") as store:
        yield store


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("name", [*GATEWAY, *OUTBOX])
async def test_one_write_fails(name: str, way: str, tmp_path: Path) -> None:
    fault, seconds = WAYS[way]
    day = Day(MemoryStore(rerun=True), tmp_path)
    day.store.plan = once(day, fault, seconds, name)
    await day.live()
    assert day.store.hits[name] > 0, "it was tried"
    await day.judge()


@pytest.mark.parametrize("name", READS)
async def test_one_read_fails(name: str, tmp_path: Path) -> None:
    day = Day(MemoryStore(), tmp_path)
    day.store.script(name, BEFORE)
    await day.live()
    assert day.store.hits[name] == 1
    await day.judge()


@pytest.mark.parametrize("way", ["before", "after"])
async def test_everything_fails_once(way: str, sql: Store, tmp_path: Path) -> None:
    day = Day(sql, tmp_path)
    day.store.plan = once(day, *WAYS[way], *GATEWAY, *OUTBOX)
    await day.live()
    assert set(day.store.hits) == {*GATEWAY, *OUTBOX}
    await day.judge()


@pytest.mark.parametrize("name", ["StoreGateway.respond", "Ledger.sent"])
async def test_a_database_is_full_for_a_while(name: str, sql: Store, tmp_path: Path) -> None:
    day = Day(sql, tmp_path)
    day.store.plan = once(day, *WAYS["full"], name)
    await day.live()
    assert day.store.hits[name] > 1
    await day.judge()


@pytest.mark.parametrize("name", ["step", "respond", "finish"])
async def test_a_store_that_is_away_for_longer_than_a_lease(name: str, tmp_path: Path) -> None:
    # The turn is given up before its lease ends, and runs anew once it can be put back. The end of a turn fails after
    # the prompt that joined another one was taken in: who is cut off before he has written does not write it later.
    day = Day(MemoryStore(), tmp_path)
    day.store.plan = once(day, FULL, 45.0, f"StoreGateway.{name}", accepted=2 * (name == "finish"))
    await day.live()
    await day.judge()


async def test_a_store_that_takes_everything_but_answers(tmp_path: Path) -> None:
    # Not even the failure can be stored: the turn goes back to its queue, again and again.
    day = Day(MemoryStore(), tmp_path)
    day.store.outage(FULL, 58.0, "StoreGateway.finish")
    await day.live()
    await day.judge()


@pytest.mark.parametrize("seed", range(4))
async def test_the_dice_decide(seed: int, tmp_path: Path) -> None:
    day = Day(MemoryStore(rerun=True), tmp_path, hints=Hints.SHUFFLED, seed=seed)
    plan = dice(seed, chance=0.05)
    day.store.plan = lambda name: None if name == "StoreGateway.listen" else plan(name)
    await day.live()
    assert day.store.hits.total() > 3
    await day.judge()


async def test_nobody_needs_a_wake_up(tmp_path: Path) -> None:
    day = Day(MemoryStore(), tmp_path, hints=Hints.DROPPED)
    await day.live()
    await day.judge()


class TestFaultyStore(StoreContract):
    @pytest.fixture
    async def store(self) -> AsyncIterator[Store]:
        store = FaultyStore(MemoryStore(), VirtualClock(), hints=Hints.SHUFFLED)
        yield store
        await store.aclose()


def keep(tx: Transaction) -> None:
    tx.state.set("test", "kept", 1)


@pytest.mark.parametrize(
    ("fault", "error", "kept", "reads"),
    [
        (BEFORE, StoreFailed, None, False),
        (AFTER, StoreFailed, 1, False),
        (LOCKED, StoreLocked, None, True),
        (FULL, StoreFull, None, True),
        (READ_ONLY, StoreReadOnly, None, True),
    ],
    ids=["before", "after", "locked", "full", "read-only"],
)
async def test_a_fault_is_what_it_says(
    fault: StoreFault, error: type[Exception], kept: int | None, reads: bool
) -> None:
    clock = VirtualClock()
    store = FaultyStore(MemoryStore(), clock)
    store.script("keep", fault)
    with pytest.raises(error):
        await store.write(keep)
    assert await store.read(lambda tx: tx.state.get("test", "kept")) == kept
    store.outage(fault, 2.0)
    with pytest.raises(error):
        await store.write(keep)
    await clock.advance(1.9)
    look: object = await asyncio.gather(store.read(lambda tx: tx.state.get("test", "none")), return_exceptions=True)
    assert (look == [None]) is reads
    await clock.advance(0.2)
    await store.write(keep)
    assert (store.calls["keep"], store.hits["keep"], store.busy) == (3, 2, 0)
    store.outage(fault, 99.0)
    store.heal()
    await store.write(keep)


async def test_a_slow_store_is_slow_by_the_clock() -> None:
    clock = VirtualClock()
    store = FaultyStore(MemoryStore(), clock)
    store.script("keep", StoreFault(when=When.NEVER, seconds=3.0))
    task = asyncio.create_task(store.write(keep))
    await clock.advance(2.9)
    assert not task.done()
    await clock.advance(0.2)
    assert task.done()


def test_an_operation_is_named_after_where_it_was_made() -> None:
    def inner() -> None:
        """Nothing."""

    here = "test_an_operation_is_named_after_where_it_was_made"
    assert [name_of(each) for each in (inner, lambda: None, keep, Day.live)] == [here, here, "keep", "Day.live"]
    assert name_of(partial(keep)) == "partial"
