"""What a flood costs: very many prompts at once, of which half are refused, and a listener that sleeps meanwhile."""

import asyncio
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from figure import Figure, amount, at_least, at_most
from machine import resident

from kesoku.app.clock import SystemClock
from kesoku.gateway import BusyPolicy, StoreGateway
from kesoku.messages import make
from kesoku.messages.record import Address, Post
from kesoku.store import SqlStore
from kesoku.testing.fakes import FakePresence
from kesoku.testing.gateway_harness import UNBOUNDED

CALLERS = 64
PEOPLE = 5_000
"""Each in a channel of its own, whose queue takes ten of their prompts."""


def measure(room: Path) -> Iterator[Figure]:
    """Offer the prompts, then wake up the listener."""
    offered = amount(100_000, 2_000)
    flood = asyncio.run(_flood(room / "flood.db", offered))
    yield Figure(
        name=f"{offered:,} prompts at once: CPU for the dearest tenth of them, against the first",
        samples=(flood.slowdown,),
        unit="x",
        limit=at_most(2),
        meaning="A long queue does not slow down whoever comes next.",
    )
    yield Figure(
        name="growth of resident memory meanwhile",
        samples=(flood.growth,),
        unit="MB",
        limit=at_most(20),
        meaning="A flood fills the disk up to its bounds, and not the memory.",
    )
    yield Figure(
        name="answers to prompts that were refused, a person",
        samples=(flood.notices,),
        unit="notices",
        limit=at_most(2),
        meaning="Who writes too much is told once a minute, and not once a message.",
    )
    yield Figure(
        name=f"a listener that slept through {flood.missed:,} changes, catching up",
        samples=(flood.caught_up,),
        unit="changes/s",
        limit=at_least(5_000),
        meaning="Whoever was held up reads on from where it was, and misses nothing.",
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Flood:
    """What was measured."""

    slowdown: float
    """CPU time for the dearest tenth of the prompts, in that for the first."""
    growth: float
    """Megabytes of resident memory."""
    notices: float
    """For each person."""
    missed: int
    """Changes that were committed while the listener slept."""
    caught_up: float
    """Changes a second that it read then."""


async def _flood(path: Path, offered: int) -> Flood:
    people, bounds = min(PEOPLE, offered // 20), replace(UNBOUNDED, queued_per_channel=10)
    async with await SqlStore.open(path) as store:
        gateway = StoreGateway(store, SystemClock(), BusyPolicy(), FakePresence(), bounds=bounds)
        async with gateway.listen(lambda _: True) as sleeper:
            await _offer(gateway, range(people, 2 * people))  # everybody has a session, everything is warm
            before, costs = resident(), list[float]()
            tenth = offered // 10
            for start in range(0, offered, tenth):
                began = time.process_time()
                await _offer(gateway, [number % people for number in range(start, start + tenth)])
                costs.append(time.process_time() - began)
            growth = resident() - before
            missed = await store.read(lambda tx: tx.events.head()) - sleeper.cursor
            began = time.perf_counter()
            seen, notices = sleeper.cursor, 0
            for _ in range(missed):
                change = await anext(sleeper)
                assert change.seq == seen + 1, "each once, in order"
                seen, notices = change.seq, notices + (change.record.kind == "notice")
            caught_up = missed / (time.perf_counter() - began)
    return Flood(
        slowdown=max(costs) / costs[0], growth=growth, notices=notices / people, missed=missed, caught_up=caught_up
    )


async def _offer(gateway: StoreGateway, people: Iterable[int]) -> None:
    left = iter(people)

    async def caller() -> None:
        for person in left:
            message = make.user_prompt("hello", author=f"Person {person}", user_id=f"p{person}")
            address = Address(chatbot_id="somewhere", channel_id=f"c{person}")
            await gateway.accept([Post(message=message, address=address)])

    await asyncio.gather(*(caller() for _ in range(CALLERS)))
