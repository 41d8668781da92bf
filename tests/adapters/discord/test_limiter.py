"""The pace of one bot, with a clock that stands still until the test lets time pass."""

import asyncio

from kesoku.testing.clock import VirtualClock, settle
from kesoku_discord.wire.limiter import MOST, WINDOW, Limiter, Rank

SECOND = round(MOST / WINDOW)
"""Requests of a full second."""


class Bot:
    """A limiter, and when each request got its turn."""

    def __init__(self) -> None:
        self.clock = VirtualClock()
        self.limiter = Limiter(now=self.clock.monotonic, sleep=self.clock.sleep)
        self.went: list[tuple[float, str]] = []
        self.tasks: list[asyncio.Task[bool]] = []

    def ask(self, rank: Rank, name: str = "", count: int = 1) -> None:
        self.tasks += [asyncio.create_task(self._one(rank, name or rank.name)) for _ in range(count)]

    async def _one(self, rank: Rank, name: str) -> bool:
        taken = await self.limiter.turn(rank)
        if taken:
            self.went.append((self.clock.monotonic(), name))
        return taken

    async def busy(self, seconds: float = 10.0) -> None:
        """Let time pass in small steps until everybody went."""
        for _ in range(round(seconds / 0.25)):
            await self.clock.advance(0.25)

    def names(self) -> list[str]:
        return [name for _, name in self.went]


async def test_no_second_sees_more_than_the_limit() -> None:
    bot = Bot()
    for step in range(40):
        bot.ask(Rank.ANSWER, count=step % 9)
        await bot.clock.advance(0.05)
    await bot.busy()
    times = [at for at, _ in bot.went]
    assert len(times) == sum(step % 9 for step in range(40))
    assert SECOND <= 40
    assert all(later - earlier >= WINDOW for earlier, later in zip(times, times[MOST:], strict=False))


async def test_a_quiet_bot_waits_for_nothing() -> None:
    bot = Bot()
    bot.ask(Rank.ANSWER, count=MOST)
    await settle()
    assert [at for at, _ in bot.went] == [0.0] * MOST
    assert bot.clock.sleeping == 0


async def test_answers_go_first_then_live_then_typing() -> None:
    bot = Bot()
    bot.ask(Rank.ANSWER, "first", count=MOST)
    await settle()
    for rank in (Rank.TYPING, Rank.LIVE, Rank.ANSWER):
        bot.ask(rank)
        await settle()
    await bot.busy(3)
    assert bot.names()[MOST:] == ["ANSWER", "LIVE", "TYPING"]


async def test_requests_of_one_rank_go_in_their_order() -> None:
    bot = Bot()
    bot.ask(Rank.ANSWER, "first", count=MOST)
    for number in range(10):
        bot.ask(Rank.LIVE, str(number))
    await bot.busy(3)
    assert bot.names()[MOST:] == [str(number) for number in range(10)]


async def test_typing_that_is_late_is_dropped() -> None:
    bot = Bot()
    bot.ask(Rank.ANSWER, count=4 * SECOND)
    bot.ask(Rank.TYPING)
    await bot.busy()
    assert bot.tasks[-1].result() is False
    assert len(bot.went) == 4 * SECOND


async def test_an_edit_does_not_starve_below_a_stream_of_answers() -> None:
    bot = Bot()
    bot.ask(Rank.ANSWER, "before", count=SECOND)
    bot.ask(Rank.LIVE)
    for step in range(20):
        bot.ask(Rank.ANSWER, "early" if step < 4 else "late", count=SECOND)
        await bot.clock.advance(0.5)
    await bot.busy(30)
    names = bot.names()
    place = names.index("LIVE")
    assert names[place:].count("late") >= 15 * SECOND  # only who asked within two seconds of it goes before it
    assert len(names) == 21 * SECOND + 1


async def test_who_gave_up_takes_no_turn() -> None:
    bot = Bot()
    bot.ask(Rank.ANSWER, "first", count=MOST)
    bot.ask(Rank.LIVE, "gone", count=5)
    await settle()
    for task in bot.tasks[MOST:]:
        task.cancel()
    bot.ask(Rank.LIVE, "there", count=MOST)
    await bot.clock.advance(1.1)
    assert bot.names()[MOST:] == ["there"] * MOST


async def test_closing_cancels_who_waits_and_leaves_no_task() -> None:
    bot = Bot()
    bot.ask(Rank.ANSWER, count=MOST + 3)
    await settle()
    await bot.limiter.aclose()
    await settle()
    assert [task.cancelled() for task in bot.tasks[MOST:]] == [True] * 3
    assert len(asyncio.all_tasks()) == 1
