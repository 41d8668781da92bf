"""How much mail the exchange carries: in memory, and durable beside what the same store takes in posts."""

import asyncio
import statistics
import time
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path
from uuid import UUID, uuid4

from figure import Figure, Physical, amount, at_least, at_most, samples

from kesoku.exchange import Exchange, MemoryMailStore, StoreExchange
from kesoku.store import SqlStore
from kesoku.testing.store_material import add, prompt

CALLERS = 64
MAIL = amount(20_000, 200)
OWNERS = amount(100, 10)
BACKLOGS = (250, amount(5_000, 500))


def measure(room: Path) -> Iterator[Figure]:
    """Mail to one and to all, with and without unread mail; then the same with a commit behind it."""
    yield from direct()
    yield from broadcast()
    yield from durable(room)


def direct() -> Iterator[Figure]:
    """One message after the other, sent and collected."""
    empty = samples(lambda: _direct(0))
    yield Figure(
        name="direct mail in memory, sent, collected and popped",
        samples=empty,
        unit="letters/s",
        limit=at_least(50_000),
        meaning="Agents of one process can talk to each other all the time without anybody noticing.",
    )
    for backlog in BACKLOGS:
        # In turns, so that a machine that slows down slows both.
        pairs = [(_direct(0), _direct(backlog)) for _ in empty]
        yield Figure(
            name=f"direct mail, {backlog:,} unread against none",
            samples=tuple(none / full for none, full in pairs),
            unit="x",
            limit=at_most(1.2),
            meaning="A mailbox that nobody reads slows nobody down.",
        )


def broadcast() -> Iterator[Figure]:
    """One message to everybody."""
    yield Figure(
        name=f"broadcast in memory to {OWNERS} owners",
        samples=samples(_broadcast),
        unit="deliveries/s",
        limit=at_least(300_000),
        meaning="An announcement reaches every session at once.",
    )


def durable(room: Path) -> Iterator[Figure]:
    """With a commit for each sending and each routing, for many callers at once."""
    rates: dict[str, list[float]] = {"post": [], "send": [], "route": []}
    for number in range(amount(5, 1)):
        for name, rate in asyncio.run(_durable(room / f"mail{number}.db")).items():
            rates[name].append(rate)
    posts = Physical(name="posts of the same store", value=statistics.median(rates["post"]))
    yield Figure(
        name=f"durable mail sent, {CALLERS} callers",
        samples=tuple(rates["send"]),
        unit="letters/s",
        physical=posts,
        meaning="How many letters a second survive a power cut from the moment they are acknowledged.",
    )
    yield Figure(
        name=f"durable mail routed, {CALLERS} outboxes",
        samples=tuple(rates["route"]),
        unit="letters/s",
        physical=posts,
        meaning="How many letters a second arrive, each in a transaction of its own.",
    )


def _direct(backlog: int) -> float:
    """Letters a second to somebody who has so many unread."""
    exchange, (one, other) = _exchange(2)
    for _ in range(backlog):
        exchange.send(one, other, "hello")
    exchange.collect(one)
    began = time.perf_counter()
    for _ in range(MAIL):
        exchange.send(one, other, "hello")
        exchange.collect(one)
        exchange.pop(other, one)
    return MAIL / (time.perf_counter() - began)


def _broadcast() -> float:
    exchange, owners = _exchange(OWNERS + 1)
    count = MAIL // 20
    began = time.perf_counter()
    for _ in range(count):
        exchange.send(owners[0], None, "hello")
        exchange.collect(owners[0])
    return count * OWNERS / (time.perf_counter() - began)


def _exchange(count: int) -> tuple[Exchange, list[UUID]]:
    exchange, owners = Exchange(MemoryMailStore()), [uuid4() for _ in range(count)]
    for owner in owners:
        exchange.register(owner)
    return exchange, owners


async def _durable(path: Path) -> dict[str, float]:
    """Posts, letters sent and letters routed a second, one after the other in one store."""
    count = amount(50, 2)
    async with await SqlStore.open(path) as store:
        exchange = StoreExchange(store)
        owners = [uuid4() for _ in range(CALLERS)]
        for owner in owners:
            await exchange.register(owner)
        await store.write(add(prompt()))

        async def post(_: UUID) -> None:
            for _number in range(count):
                given = prompt("hello")
                await store.write(lambda tx: tx.messages.insert(given, session_id="s1", at=1))  # noqa: B023

        async def send(owner: UUID) -> None:
            for _ in range(count):
                await exchange.send(owner, owners[0], "hello")

        async def route(owner: UUID) -> None:
            await exchange.collect(owner)

        works: dict[str, Callable[[UUID], Awaitable[None]]] = {"post": post, "send": send, "route": route}
        return {name: await _rate(work, owners, count) for name, work in works.items()}


async def _rate(work: Callable[[UUID], Awaitable[None]], owners: list[UUID], count: int) -> float:
    began = time.perf_counter()
    await asyncio.gather(*(work(owner) for owner in owners))
    return count * len(owners) / (time.perf_counter() - began)
