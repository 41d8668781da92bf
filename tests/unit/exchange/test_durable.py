"""The exchange over a store: what was sent survives, and is delivered once whoever routes it."""

import asyncio
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any, TypeVar
from uuid import UUID

import pytest

from kesoku.errors import NotStorable, OwnerKnown, OwnerUnknown
from kesoku.exchange import StoreExchange
from kesoku.messages.mail import DeadReason
from kesoku.ports import Store, Transaction
from kesoku.store import SqlStore
from kesoku.testing.memory import MemoryStore
from kesoku.testing.waiting import PATIENCE

T = TypeVar("T")
A, B, C = (UUID(int=n) for n in range(1, 4))


@pytest.fixture(params=["memory", "rerun", "sql"])
async def store(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Store]:
    opened: Store
    if request.param == "sql":
        opened = await SqlStore.open(tmp_path / "kesoku.db")
    else:
        opened = MemoryStore(rerun=request.param == "rerun")
    yield opened
    await opened.aclose()


@pytest.fixture
async def exchange(store: Store) -> StoreExchange:
    """Three owners."""
    exchange = StoreExchange(store, now=lambda: 7)
    for owner in (A, B, C):
        await exchange.register(owner)
    return exchange


async def test_mail_goes_its_whole_way(exchange: StoreExchange) -> None:
    await exchange.name("bob", B)
    first = await exchange.send(A, "bob", "x", channel="result")
    second = await exchange.send(A, None, "y")
    flow = await exchange.get(A)
    assert flow is not None
    assert flow.progressions == {"outbox": (first.id, second.id)}
    report = await exchange.route(A)
    assert report.delivered == ((first.id, B), (second.id, B), (second.id, C))
    assert report.count == 2
    assert await exchange.receive(B) == [first, second]
    assert await exchange.receive(B, A, channel="result") == [first]
    assert await exchange.pop(B, A) == first
    assert await exchange.take(B, second)
    assert await exchange.receive(B) == []
    assert await exchange.names() == {"bob": B}


async def test_what_cannot_be_delivered_is_kept_and_delivered_later(exchange: StoreExchange) -> None:
    sent = await exchange.send(A, UUID(int=9), "x")
    assert await exchange.collect(A) == 0
    (dead,) = await exchange.dead_letters(A)
    assert (dead.id, dead.reason, dead.at) == (sent.id, DeadReason.NO_SUCH_OWNER, 7)
    assert (await exchange.redeliver(sent.id, C)).delivered == ((sent.id, C),)
    assert await exchange.dead_letters() == []


async def test_errors_are_those_of_the_exchange(exchange: StoreExchange) -> None:
    with pytest.raises(OwnerKnown):
        await exchange.register(A)
    for sender in (UUID(int=9), "bob"):
        with pytest.raises(OwnerUnknown):
            await exchange.send(sender, A, "x")
        with pytest.raises(OwnerUnknown):
            await exchange.route(sender)
    assert await exchange.get(UUID(int=9)) is None
    assert await exchange.unregister(UUID(int=9)) is None


async def test_collecting_for_all_skips_who_leaves_meanwhile(exchange: StoreExchange, store: Store) -> None:
    # L-173, L-174
    for sender, to in ((A, C), (B, C), (C, A)):
        await exchange.send(sender, to, "x")

    class Impatient(StoreExchange):
        """B leaves while A's mail is routed."""

        async def route(self, owner: Any) -> Any:
            report = await super().route(owner)
            await exchange.unregister(B)
            return report

    assert await Impatient(store).sync() == 2
    assert await exchange.owners() == [A, C]


async def test_what_several_route_at_once_arrives_once(exchange: StoreExchange, store: Store) -> None:
    sent = [await exchange.send(A, to, n) for n, to in enumerate((B, C, None, B))]
    others = [StoreExchange(store) for _ in range(4)]
    reports = await asyncio.gather(*(each.route(A) for each in others))
    assert sum(report.count for report in reports) == 4
    assert await exchange.receive(B) == [sent[0], *sent[2:]]
    assert await exchange.receive(C) == sent[1:3]


async def test_each_message_is_routed_in_a_transaction_of_its_own(exchange: StoreExchange, store: Store) -> None:
    # C-26
    class Interrupted(Exception):
        pass

    class Failing:
        """A store that takes two more writes."""

        writes = 2

        async def write(self, operation: Callable[[Transaction], T]) -> T:
            if not self.writes:
                raise Interrupted
            self.writes -= 1
            return await store.write(operation)

        def __getattr__(self, name: str) -> Any:
            return getattr(store, name)

    sent = [await exchange.send(A, B, n) for n in range(4)]
    with pytest.raises(Interrupted):
        await StoreExchange(Failing()).route(A)
    assert await exchange.receive(B) == sent[:2]
    assert await exchange.collect(A) == 2
    assert await exchange.receive(B) == sent


async def test_a_commit_of_mail_wakes_those_who_ask(exchange: StoreExchange, store: Store) -> None:
    woken = asyncio.Event()
    undo = store.on_commit(woken.set)
    await asyncio.sleep(0)
    woken.clear()
    await exchange.send(A, B, "x")
    await asyncio.wait_for(woken.wait(), PATIENCE)
    undo()


async def test_mail_survives_the_end_of_the_program(tmp_path: Path) -> None:
    # C-26
    path = tmp_path / "kesoku.db"
    async with await SqlStore.open(path) as store:
        before = StoreExchange(store)
        for owner in (A, B):
            await before.register(owner, session_id=f"s{owner.int}", capacity=9)
        sent = await before.send(A, B, {"text": "Zoë \ud800"}, channel="result")
    async with await SqlStore.open(path) as store:
        after = StoreExchange(store)
        assert await after.collect(A) == 1
    async with await SqlStore.open(path) as store:
        (received,) = await StoreExchange(store).receive(B)
        assert received.to_dict() == sent.to_dict()


async def test_content_that_is_no_json_cannot_be_sent_through_a_database(tmp_path: Path) -> None:
    async with await SqlStore.open(tmp_path / "kesoku.db") as store:
        exchange = StoreExchange(store)
        await exchange.register(A)
        with pytest.raises(NotStorable, match="JSON"):
            await exchange.send(A, None, object())
        assert await exchange.collect(A) == 0
