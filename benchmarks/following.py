"""How soon a listener sees a message, and whether the loop stays free meanwhile.

Prompts are taken in by the gateway as an adapter does it, each committed for good, and read back by cursor.
"""

import asyncio
import gc
import statistics
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

from figure import Figure, Physical, amount, at_most
from machine import fsync

from kesoku.app.clock import SystemClock
from kesoku.gateway import BusyPolicy, Presence, StoreGateway
from kesoku.messages.record import Address, Post
from kesoku.store import SqlStore
from kesoku.testing.store_material import add, prompt

RATE = 1_000
CHANNELS = 200
POSTERS = 50
BURST = 5_000
WARM = 200
BUSY = (
    "The processor: Python runs one thread at a time, so at 1,000 posts a second all the work of one must fit into a"
    " millisecond. The nearer its CPU time comes to that, the longer the next posts queue."
)
PAUSED = "Python's threads wait up to 5 ms for each other, and so does the loop while the posts are made and settled."
AFAR = "Another process looks every 20 ms; beyond that, the posts queue for the processor."
LISTENER = """
import asyncio, sys, time
from pathlib import Path
from following import gateway

async def main(folder, count):
    async with gateway(folder) as (_, there), there.listen(lambda change: True) as news:
        print("ready", flush=True)
        seen = [(change.record.id, time.time()) async for change in upto(news, count)]
    for each, at in seen:
        print(each, at)

async def upto(news, count):
    for _ in range(count):
        yield await anext(news)

asyncio.run(main(Path(sys.argv[1]), int(sys.argv[2])))
"""


@dataclass(kw_only=True)
class Heard:
    """Times of one run, in milliseconds."""

    waits: list[float] = field(default_factory=list)
    """From each post until the listener had it."""
    lags: list[float] = field(default_factory=list)
    """How late the loop came back to somebody who slept for a millisecond."""
    cost: float = 0.0
    """CPU of one post, all threads, its listener included."""


def measure(room: Path) -> Iterator[Figure]:
    """One poster at a steady rate, fifty posters, a burst, and a listener in another process."""
    disk = Physical(name="one fsync", value=fsync(room / "fsync") * 1000)
    rounds = [asyncio.run(_heard(room / f"steady{n}", posters=1)) for n in range(amount(5, 1))]
    crowds = [asyncio.run(_heard(room / f"crowd{n}", posters=POSTERS)) for n in range(amount(3, 1))]
    cost = Physical(name="CPU of a post and its listener", value=statistics.median(h.cost for h in rounds))
    near = "Somebody who watches a conversation sees it without a delay."
    yield _figure(f"post to listener at {RATE:,}/s, p50", [h.waits for h in rounds], 0.5, 1, near, cost, BUSY)
    yield _figure(f"post to listener at {RATE:,}/s, p99", [h.waits for h in rounds], 0.99, 3, near, cost, BUSY)
    many = "Many people at once do not hold up the one who watches."
    yield _figure(f"{POSTERS} posters to one listener, p99", [h.waits for h in crowds], 0.99, 3, many, cost, BUSY)
    free = "Streams, typing signs and keys go on while messages are stored."
    yield _figure(f"loop lag at {RATE:,} posts/s, p99", [h.lags for h in rounds], 0.99, 3, free)
    bursts = [asyncio.run(_burst(room / f"burst{n}")) for n in range(amount(5, 1))]
    longest = f"loop lag while {amount(BURST, 100):,} posts come at once, the longest"
    yield _figure(longest, bursts, 1, 30, free, obstacle=PAUSED)
    far = [_elsewhere(room / f"elsewhere{n}") for n in range(amount(3, 1))]
    told = "A chat window follows the bot that runs as a service."
    elsewhere = f"post to a listener in another process at {RATE:,}/s, p99"
    yield _figure(elsewhere, far, 0.99, 25, told, disk, AFAR)


def _figure(
    name: str,
    rounds: list[list[float]],
    share: float,
    limit: float,
    meaning: str,
    physical: Physical | None = None,
    obstacle: str = "",
) -> Figure:
    return Figure(
        name=name,
        samples=tuple(quantile(each, share) for each in rounds),
        unit="ms",
        limit=at_most(limit),
        meaning=meaning,
        physical=physical,
        obstacle=obstacle,
    )


def quantile(values: list[float], share: float) -> float:
    """The value that this share of the values does not exceed."""
    return sorted(values)[min(len(values) - 1, int(len(values) * share))]


@asynccontextmanager
async def gateway(folder: Path) -> AsyncIterator[tuple[SqlStore, StoreGateway]]:
    """A gateway over the database of a folder, in a process that is ready as an application is."""
    with Presence(folder / "run") as presence:
        async with await SqlStore.open(folder / "kesoku.db") as store:
            gc.collect()
            gc.freeze()
            yield store, StoreGateway(store, SystemClock(), BusyPolicy(), presence)


def posts(count: int) -> list[Post]:
    """Prompts of many people in many channels, within what admission allows."""
    return [
        prompt(
            "hello " * 10,
            user_id=f"u{n}",
            at=Address(chatbot_id="discord", channel_id=f"c{n % CHANNELS}"),
            keys=(f"k{n}",),
        )
        for n in range(count)
    ]


async def _heard(folder: Path, *, posters: int) -> Heard:
    """Post at the rate, whoever posts, and listen."""
    heard, sent, count = Heard(), dict[str, float](), amount(3 * RATE, 100)
    each = posts(WARM + count)
    async with gateway(folder) as (_, there), there.listen(lambda change: change.record.kind == "user_prompt") as news:

        async def post(first: int) -> None:
            for number in range(first, count, posters):
                await asyncio.sleep(max(0, began + number / RATE - time.perf_counter()))
                sending.append(asyncio.ensure_future(send(each[WARM + number])))

        async def send(one: Post) -> None:
            sent[one.message.id] = time.perf_counter()
            await there.accept([one])

        async def listen() -> None:
            for _ in range(count):
                change = await anext(news)
                heard.waits.append((time.perf_counter() - sent[change.record.id]) * 1000)

        sending = list[asyncio.Future[None]]()
        for one in each[:WARM]:
            await send(one)
            await anext(news)
        began, busy = time.perf_counter(), time.process_time()
        async with watched(heard.lags), asyncio.TaskGroup() as group:
            group.create_task(listen())
            for number in range(posters):
                group.create_task(post(number))
        await asyncio.gather(*sending)
        heard.cost = (time.process_time() - busy) / count * 1000
    return heard


async def _burst(folder: Path) -> list[float]:
    """Lags while many posts come at once."""
    lags = list[float]()
    async with gateway(folder) as (store, _):
        await store.write(add(prompt()))
        operations = [add(post) for post in posts(amount(BURST, 100))]
        async with watched(lags):
            await asyncio.sleep(0.01)
            await asyncio.gather(*(store.write(operation) for operation in operations))
    return lags


@asynccontextmanager
async def watched(lags: list[float]) -> AsyncIterator[None]:
    """Within, note how late the loop comes back to somebody who sleeps for a millisecond, in milliseconds."""

    async def watch() -> None:
        while True:
            before = time.perf_counter()
            await asyncio.sleep(0.001)
            lags.append((time.perf_counter() - before) * 1000 - 1)

    watching = asyncio.ensure_future(watch())
    try:
        yield
    finally:
        watching.cancel()


def _elsewhere(folder: Path) -> list[float]:
    """Milliseconds until another process had each message."""
    count = amount(2 * RATE, 50)
    command = [sys.executable, "-c", LISTENER, str(folder), str(count)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=Path(__file__).parent) as listener:
        assert listener.stdout
        listener.stdout.readline()
        sent = asyncio.run(_posted(folder, count))
        seen = dict(line.split() for line in listener.stdout)
    return [(float(seen[each]) - at) * 1000 for each, at in sent.items()]


async def _posted(folder: Path, count: int) -> dict[str, float]:
    """When each message was posted, by wall clock."""
    sent, sending = dict[str, float](), list[asyncio.Future[object]]()
    async with gateway(folder) as (_, there):
        began = time.perf_counter()
        for number, post in enumerate(posts(count)):
            await asyncio.sleep(max(0, began + number / RATE - time.perf_counter()))
            sent[post.message.id] = time.time()
            sending.append(asyncio.ensure_future(there.accept([post])))
        await asyncio.gather(*sending)
    return sent
