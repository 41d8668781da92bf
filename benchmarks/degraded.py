"""What a flood costs: very many prompts at once, of which half are refused, and a listener that sleeps meanwhile."""

import asyncio
import os
import time
from collections.abc import Iterable, Iterator
from pathlib import Path

from figure import Figure, amount, at_least, at_most

from kesoku.gateway import BusyPolicy, FloodBounds, StoreGateway
from kesoku.messages import make
from kesoku.messages.record import Address, Post
from kesoku.store import SqlStore
from kesoku.testing.presence import NullPresence
from kesoku.testing.station import WallClock

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


class Flood:
    """What was measured."""

    slowdown = growth = notices = caught_up = 0.0
    missed = 0


async def _flood(path: Path, offered: int) -> Flood:
    found, people = Flood(), min(PEOPLE, offered // 20)
    bounds = FloodBounds(
        per_person_per_minute=1_000_000, per_channel_per_minute=1_000_000, queued_per_channel=10, queued_total=1_000_000
    )
    async with await SqlStore.open(path) as store:
        gateway = StoreGateway(store, WallClock(), BusyPolicy(), NullPresence(), bounds=bounds)
        async with gateway.listen(lambda _: True) as sleeper:
            await _offer(gateway, range(people, 2 * people))  # everybody has a session, everything is warm
            before, costs = _resident(), list[float]()
            tenth = offered // 10
            for start in range(0, offered, tenth):
                began = time.process_time()
                await _offer(gateway, [number % people for number in range(start, start + tenth)])
                costs.append(time.process_time() - began)
            found.slowdown, found.growth = max(costs) / costs[0], _resident() - before
            found.missed = await store.read(lambda tx: tx.events.head()) - sleeper.cursor
            began = time.perf_counter()
            seen, notices = sleeper.cursor, 0
            for _ in range(found.missed):
                change = await anext(sleeper)
                assert change.seq == seen + 1, "each once, in order"
                seen, notices = change.seq, notices + (change.record.kind == "notice")
            found.caught_up = found.missed / (time.perf_counter() - began)
            found.notices = notices / people
    return found


async def _offer(gateway: StoreGateway, people: Iterable[int]) -> None:
    left = iter(people)

    async def caller() -> None:
        for person in left:
            message = make.user_prompt("hello", author=f"Person {person}", user_id=f"p{person}")
            address = Address(chatbot_id="somewhere", channel_id=f"c{person}")
            await gateway.accept([Post(message=message, address=address)])

    await asyncio.gather(*(caller() for _ in range(CALLERS)))


def _resident() -> float:
    """Megabytes."""
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 1e6
