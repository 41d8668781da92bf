"""A Discord bot at work: 200 channels at once, and a connection that breaks off again and again.

The real discord.py talks to a loopback Discord in another process, which counts, limits and refuses as Discord does. At
the end every answer is looked for where its question was asked.
"""

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from itertools import cycle, islice
from pathlib import Path
from typing import Any

from figure import Figure, Physical, amount, at_least, at_most
from following import quantile, watched

from kesoku.app import App, Job
from kesoku.app.cast import cast
from kesoku.config import load
from kesoku.gateway.intake import QUEUED
from kesoku.messages.enums import MessageStatus
from kesoku.messages.lifecycle import Serving
from kesoku.messages.record import EVERY_CHANNEL, Address
from kesoku.testing.discord import DiscordProcess
from kesoku.testing.waiting import until
from kesoku_discord.manifest import MANIFEST

CHANNELS = 200
ALLOWED = 50
"""Requests that Discord takes from one bot in a second."""
FLOWING = 20
"""Channels in which people write while the connection breaks off."""
EVERY = 0.5
"""Seconds between two of their messages."""
PATIENCE = 120.0
QUESTIONS = (
    "calculate {n} * 1009",
    "calculate {n} * 1009 and then slow 3",
    "think about drum {n}\ncalculate {n} * 1009",
    "calculate {n} + 1 and then calculate {n} * 1009 and then think about drum {n}\nslow 6",
)
Drop = Callable[[DiscordProcess], Coroutine[Any, Any, Any]]
DROPS: tuple[Drop, ...] = (
    lambda discord: discord.drop(),
    lambda discord: discord.ask("reconnect"),
    lambda discord: discord.drop(4000),
    lambda discord: discord.ask("invalid", resumable=False),
    lambda discord: discord.ask("invalid", resumable=True),
    lambda discord: discord.drop(4009),
    lambda discord: discord.drop(1001),
)
"""Broken off; asked to come again; unknown error; session over; session not over; timed out and over; going away."""
CONFIG = """\
[store]
path = "{folder}/kesoku.db"

[agent]
model = "offline"
busy = "queue"
concurrent_turns = 200

[limits]
per_person_per_minute = 1000000
per_channel_per_minute = 1000000

[adapters.discord]
token = "{discord.token}"
allow = ["everyone"]
api_base_url = "{discord.api_base_url}"
gateway_url = "{discord.gateway_url}"
"""


def measure(room: Path) -> Iterator[Figure]:
    """A turn in every channel, then a storm of reconnects."""
    channels, drops = amount(CHANNELS, 8), amount(20, 3)
    rounds = [asyncio.run(_crowd(room / f"crowd{n}", channels)) for n in range(amount(3, 1))]
    yield from _faults(f"{channels} Discord channels with a turn each", rounds)
    yield from _paces(f"{channels} Discord channels with a turn each", rounds)
    every = amount(6, 1)
    storms = [asyncio.run(_storm(room / "storm", drops, every))]
    yield from _faults(f"{drops} drops in {drops * every} s, {storms[0].said} messages", storms)


@dataclass(frozen=True, slots=True, kw_only=True)
class Said:
    """A question, and what its answer must hold."""

    id: int
    channel: int
    answer: str


@dataclass(kw_only=True)
class Seen:
    """What one run came to."""

    said: int = 0
    lost: int = 0
    extra: int = 0
    seconds: float = 0.0
    """From the first question to the last answer."""
    lags: list[float] = field(default_factory=list)
    """How late the loop came back, in milliseconds."""
    told: Mapping[str, Any] = field(default_factory=dict)
    """What the loopback Discord counted."""


def judge(said: Sequence[Said], shown: Mapping[int, list[Mapping[str, Any]]]) -> tuple[int, int]:
    """How many answers are missing, and how many messages are there beside those that should be.

    `shown` are the messages of the bot by channel. An answer refers to its question.
    """
    answered = sum(
        any(each["reply_to"] == one.id and one.answer in each["content"] for each in shown[one.channel]) for one in said
    )
    return len(said) - answered, sum(map(len, shown.values())) - answered


def _faults(name: str, rounds: list[Seen]) -> Iterator[Figure]:
    yield Figure(
        name=f"{name}: answers lost",
        samples=tuple(float(each.lost) for each in rounds),
        unit="answers",
        limit=at_most(0),
        meaning="Everybody is answered.",
    )
    yield Figure(
        name=f"{name}: messages doubled or left behind",
        samples=tuple(float(each.extra) for each in rounds),
        unit="messages",
        limit=at_most(0),
        meaning="Nobody is answered twice, and no status stays.",
    )
    yield Figure(
        name=f"{name}: requests that Discord refused as too many",
        samples=tuple(float(each.told["limited"]) for each in rounds),
        unit="requests",
        limit=at_most(0),
        meaning="A bot that keeps its pace is not banned.",
    )


def _paces(name: str, rounds: list[Seen]) -> Iterator[Figure]:
    yield Figure(
        name=f"{name}: most requests in a second",
        samples=tuple(float(each.told["rate"]) for each in rounds),
        unit="requests",
        limit=at_most(ALLOWED),
        meaning="However much there is to say, Discord's limit for a bot is kept.",
    )
    yield Figure(
        name=f"{name}: shortest time between two forms of a message",
        samples=tuple(float(each.told["edit_gap"] or 0.0) for each in rounds),
        unit="s",
        limit=at_least(1.15),
        meaning="A status is redrawn no faster than Discord likes it.",
    )
    yield Figure(
        name=f"{name}: loop lag, p99",
        samples=tuple(quantile(each.lags, 0.99) for each in rounds),
        unit="ms",
        limit=at_most(50),
        meaning="The connection, the commands and the buttons go on meanwhile.",
    )
    least = Physical(name="the answers alone at 50 a second", value=rounds[0].said / ALLOWED)
    yield Figure(
        name=f"{name}: until the last answer",
        samples=tuple(each.seconds for each in rounds),
        unit="s",
        physical=least,
        meaning="How long the last one waits when everybody writes at once.",
    )


async def _crowd(folder: Path, channels: int) -> Seen:
    """Everybody asks at once."""
    async with _bot(folder, channels) as bot, watched(bot.seen.lags):
        began = time.perf_counter()
        await asyncio.gather(*(bot.ask(n, QUESTIONS[n % len(QUESTIONS)]) for n in range(channels)))
        await bot.answered()
        bot.seen.seconds = time.perf_counter() - began
    return bot.seen


async def _storm(folder: Path, drops: int, every: float) -> Seen:
    """The connection is ended in every way that there is, while people write."""
    async with _bot(folder, amount(FLOWING, 4)) as bot:
        flowing = asyncio.create_task(_flow(bot))
        for drop in islice(cycle(DROPS), drops):
            await asyncio.sleep(every)
            await bot.connected()
            await drop(bot.discord)
        await bot.connected()
        await asyncio.sleep(every)
        flowing.cancel()
        await asyncio.gather(flowing, return_exceptions=True)
        await bot.answered()
    return bot.seen


async def _flow(bot: "_Bot") -> None:
    for n in range(1_000_000):
        await asyncio.shield(bot.ask(n, QUESTIONS[n % len(QUESTIONS)]))
        await asyncio.sleep(EVERY)


@dataclass(kw_only=True)
class _Bot:
    """A bot at work, and those who ask it."""

    discord: DiscordProcess
    app: App
    channels: list[int]
    person: int
    said: list[Said] = field(default_factory=list)
    seen: Seen = field(default_factory=Seen)
    delivered: int = 0

    async def ask(self, n: int, question: str) -> None:
        """The n-th question, in the channel whose turn it is."""
        channel, number = self.channels[n % len(self.channels)], 10_000 + n
        said = await self.discord.say(channel, self.person, question.format(n=number))
        self.said.append(Said(id=said, channel=channel, answer=str(number * 1009)))

    async def follow(self) -> None:
        """Count the answers that are out, until cancelled."""
        async with self.app.gateway.listen(lambda change: change.record.kind == "answer") as changes:
            async for change in changes:
                self.delivered += change.record.status is MessageStatus.DELIVERED

    async def connected(self) -> None:
        """Wait until the bot has a session."""

        async def there() -> bool:
            return int((await self.discord.stats())["connections"]) > 0

        await until(there, what="the bot connects")

    async def answered(self) -> None:
        """Wait until so many answers are out as there are questions, or for long enough."""

        async def there() -> bool:
            return self.delivered >= len(self.said)

        await _patiently(there, "an answer to each question")

    async def quiet(self) -> None:
        """Wait until no status is shown any more, or for long enough."""
        here = Serving(addresses=frozenset({Address(chatbot_id="discord", channel_id=EVERY_CHANNEL)}))

        async def gone() -> bool:
            return not await self.app.store.read(lambda tx: tx.deliveries.live(here))

        await _patiently(gone, "no status left")

    async def judge(self) -> None:
        """Look at all channels."""
        shown = {each: await self._shown(each) for each in self.channels}
        self.seen.said, self.seen.told = len(self.said), await self.discord.stats()
        self.seen.lost, self.seen.extra = judge(self.said, shown)

    async def _shown(self, channel: int) -> list[Mapping[str, Any]]:
        """What the bot wrote, but for what it says to those whose turn comes later."""
        by, shown = self.discord.bot_id, await self.discord.messages(channel)
        return [each for each in shown if each["author_id"] == by and each["content"] != QUEUED]


async def _patiently(condition: Callable[[], Awaitable[bool]], what: str) -> None:
    """Wait; what never comes is seen in the figures."""
    with suppress(AssertionError):
        await until(condition, what=what, seconds=PATIENCE)


@asynccontextmanager
async def _bot(folder: Path, channels: int) -> AsyncIterator[_Bot]:
    """The whole product with the offline model; when it has ended, all that it has said is judged."""
    async with DiscordProcess.spawn(rate_limits=True) as discord:
        places, person = [await discord.channel(f"channel-{n}") for n in range(channels)], await discord.user("Ada")
        file = folder / "config.toml"
        listened = "".join(f"channels.{each} = {{}}\n" for each in places)
        folder.mkdir()  # noqa: ASYNC240  before anything is measured
        file.write_text(CONFIG.format(folder=folder, discord=discord) + listened, encoding="utf-8")
        loaded = load(file, environment={})
        bots = {"discord": (MANIFEST, loaded.config.adapters["discord"].settings)}

        async with App(loaded, Job(bots=bots), cast(loaded, bots, offline_fallback=False)) as app:
            bot = _Bot(discord=discord, app=app, channels=places, person=person)
            running, following = asyncio.create_task(app.run()), asyncio.create_task(bot.follow())
            await bot.connected()
            yield bot
            await bot.quiet()
            app.stop()
            await running
            following.cancel()
            await asyncio.gather(following, return_exceptions=True)
        await bot.judge()
