"""The virtual clock."""

import asyncio

from kesoku.testing.clock import START, VirtualClock


async def test_sleepers_wake_in_the_order_of_their_times() -> None:
    clock = VirtualClock()
    woken: list[tuple[str, float]] = []

    async def sleeper(name: str, *naps: float) -> None:
        for nap in naps:
            await clock.sleep(nap)
            woken.append((name, clock.monotonic()))

    naps = [sleeper("late", 3), sleeper("often", 1, 1, 1, 1), sleeper("same", 3)]
    everyone = asyncio.gather(*naps)
    await clock.advance(2.5)
    assert woken == [("often", 1), ("often", 2)]
    assert clock.monotonic() == 2.5
    await clock.advance(1)
    assert woken[2:] == [("late", 3), ("same", 3), ("often", 3)]
    assert clock.sleeping == 1
    await clock.advance(10)
    await everyone
    assert (woken[-1], clock.now()) == (("often", 4), START + 13_500_000)


async def test_time_stands_still_by_itself() -> None:
    clock = VirtualClock()
    sleeping = asyncio.ensure_future(clock.sleep(0.001))
    await asyncio.sleep(0.01)
    assert not sleeping.done()
    sleeping.cancel()
    await asyncio.wait([sleeping])
    assert clock.sleeping == 0
    await clock.advance(1)
    await clock.sleep(0)
    await clock.sleep(-1)
