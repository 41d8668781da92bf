"""Messages older than an hour are edited so rarely that Discord does not mind."""

import asyncio
import time

from kesoku.adapter import Address, Outgoing
from kesoku.testing.clock import VirtualClock, settle
from kesoku.testing.discord import LoopbackDiscord
from kesoku_discord import snowflake
from kesoku_discord.wire.old_edits import EVERY, OLD, OldEdits
from kesoku_discord.wire.outbound import Outbound

from .wire_stage import connected

NOW = 1_800_000_000.0
EDITING = "PATCH /channels/{}/messages/{}"


class Pace:
    """The pace, and when each edit had its turn."""

    def __init__(self) -> None:
        self.clock = VirtualClock()
        self.edits = OldEdits(now=lambda: NOW + self.clock.monotonic(), sleep=self.clock.sleep)
        self.went: list[tuple[int, float]] = []

    def edit(self, channel: int, *, age: float) -> asyncio.Task[None]:
        return asyncio.create_task(self._one(channel, snowflake.at(NOW - age)))

    async def _one(self, channel: int, message: int) -> None:
        begun = self.clock.monotonic()
        await self.edits.turn(channel, message)
        self.went.append((channel, self.clock.monotonic() - begun))


async def test_old_messages_of_a_channel_wait_for_each_other_and_young_ones_for_nothing() -> None:
    pace = Pace()
    tasks = [
        pace.edit(1, age=OLD + 1),
        pace.edit(1, age=OLD + 9),
        pace.edit(2, age=OLD * 5),
        pace.edit(1, age=OLD - 60),
    ]
    await settle()
    assert sorted(pace.went) == [(1, 0.0), (1, 0.0), (2, 0.0)]
    await pace.clock.advance(EVERY - 1)
    assert len(pace.went) == 3
    await pace.clock.advance(2)
    assert len(pace.went) == 4
    await asyncio.gather(*tasks)


async def test_who_gives_up_takes_no_turn() -> None:
    """A status whose turn is over; what is remembered is bounded."""
    pace = Pace()
    await pace.edit(1, age=OLD * 2)
    waiting = pace.edit(1, age=OLD * 2)
    await settle()
    waiting.cancel()
    await pace.clock.advance(EVERY + 1)
    await pace.edit(2, age=OLD * 2)
    await pace.edit(1, age=OLD * 2)
    assert pace.went == [(1, 0.0), (2, 0.0), (1, 0.0)]
    assert len(pace.edits._last) == 2
    await pace.clock.advance(EVERY + 1)
    await pace.edit(3, age=OLD * 2)
    assert len(pace.edits._last) == 1


async def test_the_status_of_a_turn_that_runs_for_hours_never_meets_the_limit() -> None:
    """30046: the loopback takes three edits in 20 s, and refuses the fourth without naming a time."""
    ahead = [0.0]

    def now() -> float:
        return time.time() + ahead[0]

    async def sleep(seconds: float) -> None:
        ahead[0] += seconds

    async with LoopbackDiscord(rate_limits=True, now=now) as server:
        room = server.channel("room", guild=server.guild("Band"))
        status = await server.say(room, server.world.bot, "working", ago=2 * OLD)
        async with connected(server) as bot:
            outbound = Outbound(old_edits=OldEdits(now=now, sleep=sleep))
            outbound.client = bot.client
            address = Address(chatbot_id="discord", channel_id=str(room.id))
            for n in range(6):
                await outbound.edit(address, str(status.id), Outgoing(text=f"working {n}"))
        assert status.edits == [f"working {n}" for n in range(6)]
        assert [each.status for each in server.asked(EDITING)] == [200] * 6
