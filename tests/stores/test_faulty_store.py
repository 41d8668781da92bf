"""Every operation fails once, in every way, while a whole bot works: and nobody notices but by the clock."""

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
    FaultPlan,
    FaultyStore,
    Hints,
    StoreFault,
    When,
    name_of,
    random_faults,
)
from kesoku.testing.memory import MemoryStore
from kesoku.testing.store_contract import StoreContract

from .scenario import Scenario

GATEWAY = (
    *(f"StoreGateway.{name}" for name in ("accept", "post", "step", "respond", "finish", "join", "repair")),
    *(f"StoreGateway.{name}" for name in ("recover", "renew", "release", "interrupt")),
    "Claiming.claims",
)
OUTBOX = tuple(f"Ledger.{name}" for name in ("plan", "move", "sent", "close", "edit", "forget"))
READS = (
    *("Journal.open", "Journal.join", "Journal.read", "Tail._read", "Answering.open"),
    *("Backlog.snapshot", "Showing.show", "Outbox._answered_later", "LiveBoard._made", "LiveBoard._rows"),
)
WAYS = {"before": (BEFORE, 0.0), "after": (AFTER, 0.0), "locked": (LOCKED, 3.0), "full": (FULL, 11.0)}
"""How the first operation fails, and for how many seconds all writes fail in the same way then."""


def once(scenario: Scenario, fault: StoreFault, seconds: float, *names: str, accepted: int = 0) -> FaultPlan:
    """The first operation of each name fails, once so many prompts came in, and for a while everything does; of the
    claims, one that finds work."""
    left = set(names)

    def plan(name: str) -> StoreFault | None:
        if name not in left or scenario.store.calls["StoreGateway.accept"] < max(accepted, name == "Claiming.claims"):
            return None
        left.remove(name)
        if seconds:
            scenario.store.outage(fault, seconds)
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
    scenario = Scenario(MemoryStore(rerun=True), tmp_path)
    scenario.store.plan = once(scenario, fault, seconds, name)
    await scenario.run()
    assert scenario.store.hits[name] > 0, "it was tried"
    await scenario.check()


@pytest.mark.parametrize("name", READS)
async def test_one_read_fails(name: str, tmp_path: Path) -> None:
    scenario = Scenario(MemoryStore(), tmp_path)
    scenario.store.script(name, BEFORE)
    await scenario.run()
    assert scenario.store.hits[name] == 1
    await scenario.check()


@pytest.mark.parametrize("way", ["before", "after"])
async def test_everything_fails_once(way: str, sql: Store, tmp_path: Path) -> None:
    scenario = Scenario(sql, tmp_path)
    scenario.store.plan = once(scenario, *WAYS[way], *GATEWAY, *OUTBOX)
    await scenario.run()
    assert set(scenario.store.hits) == {*GATEWAY, *OUTBOX}
    await scenario.check()


@pytest.mark.parametrize("name", ["StoreGateway.respond", "Ledger.sent"])
async def test_a_database_is_full_for_a_while(name: str, sql: Store, tmp_path: Path) -> None:
    scenario = Scenario(sql, tmp_path)
    scenario.store.plan = once(scenario, *WAYS["full"], name)
    await scenario.run()
    assert scenario.store.hits[name] > 1
    await scenario.check()


@pytest.mark.parametrize("name", ["step", "respond", "finish"])
async def test_a_store_that_is_away_for_longer_than_a_lease(name: str, tmp_path: Path) -> None:
    # The turn is given up before its lease ends, and runs anew once it can be put back. The end of a turn fails after
    # the prompt that joined another one was taken in: who is cut off before he has written does not write it later.
    scenario = Scenario(MemoryStore(), tmp_path)
    scenario.store.plan = once(scenario, FULL, 45.0, f"StoreGateway.{name}", accepted=2 * (name == "finish"))
    await scenario.run()
    await scenario.check()


async def test_a_store_that_takes_everything_but_answers(tmp_path: Path) -> None:
    # Not even the failure can be stored: the turn goes back to its queue, again and again.
    scenario = Scenario(MemoryStore(), tmp_path)
    scenario.store.outage(FULL, 58.0, "StoreGateway.finish")
    await scenario.run()
    await scenario.check()


@pytest.mark.parametrize("seed", range(4))
async def test_the_dice_decide(seed: int, tmp_path: Path) -> None:
    scenario = Scenario(MemoryStore(rerun=True), tmp_path, hints=Hints.SHUFFLED, seed=seed)
    plan = random_faults(seed, chance=0.12)
    scenario.store.plan = lambda name: None if name == "StoreGateway.listen" else plan(name)
    await scenario.run()
    assert scenario.store.hits.total() > 3
    await scenario.check()


async def test_nobody_needs_a_wake_up(tmp_path: Path) -> None:
    scenario = Scenario(MemoryStore(), tmp_path, hints=Hints.DROPPED)
    await scenario.run()
    await scenario.check()


async def test_a_slow_disk_makes_everybody_slow_and_nothing_wrong(tmp_path: Path) -> None:
    scenario = Scenario(MemoryStore(rerun=True), tmp_path)
    slow = StoreFault(when=When.NEVER, seconds=0.7)
    names = {*GATEWAY, *OUTBOX} - {"StoreGateway.interrupt"}  # its caller lets no time pass meanwhile
    scenario.store.plan = lambda name: slow if name in names else None
    await scenario.run()
    await scenario.check()


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
    assert [name_of(each) for each in (inner, lambda: None, keep, Scenario.run)] == [here, here, "keep", "Scenario.run"]
    assert name_of(partial(keep)) == "partial"
