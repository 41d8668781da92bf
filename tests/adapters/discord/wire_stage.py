"""The wire alone: a bot of the real library at a loopback Discord, and a listener that keeps what it hears."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import discord

from kesoku.testing.discord import LoopbackDiscord
from kesoku.testing.waiting import until
from kesoku_discord.config import DiscordConfig
from kesoku_discord.wire.client import Gateway
from kesoku_discord.wire.connection import Timing
from kesoku_discord.wire.serve import serve

SECONDS = 5.0
QUICK = Timing(guilds=0.02, identify=0.0, dial=0.0)
"""Nobody waits longer than needed."""

_HOST = "discord.invalid"
OUTSIDE: Mapping[str, Any] = {"api_base_url": f"http://{_HOST}/api/v10", "gateway_url": f"ws://{_HOST}/gw"}
"""Where a server is that can only be reached through a proxy."""


async def holds(condition: Callable[[], object], what: str) -> None:
    """Wait until it is so."""

    async def held() -> bool:
        return bool(condition())

    await until(held, what=what, seconds=SECONDS)


async def _nothing(said: str) -> None:
    pass


@dataclass(eq=False)
class Heard:
    """A listener: what came, in order, and how the connection was said to stand."""

    events: list[str] = field(default_factory=list)
    interactions: list[discord.Interaction] = field(default_factory=list)
    health: list[tuple[bool, str]] = field(default_factory=list)
    arrivals: list[int] = field(default_factory=list)
    dropped: list[int] = field(default_factory=list)
    on: Callable[[str], Awaitable[None]] = _nothing
    """What is done with a message before it is kept, given its text."""

    async def ready(self) -> None:
        """A new session."""
        self.events.append("ready")

    def arrived(self, message_id: int) -> None:
        """A message came."""
        self.arrivals.append(message_id)

    def left_out(self, message_id: int) -> None:
        """It does not follow."""
        self.dropped.append(message_id)

    async def message(self, message: discord.Message) -> None:
        """Somebody wrote."""
        await self.on(message.content)
        self.events.append(message.content)

    async def edited(self, payload: discord.RawMessageUpdateEvent) -> None:
        """A message changed."""
        self.events.append(f"edited {payload.data.get('content')}")

    async def deleted(self, payload: discord.RawMessageDeleteEvent) -> None:
        """A message is gone."""
        self.events.append(f"deleted {payload.message_id}")

    async def gone(self, channel_id: int) -> None:
        """A channel is gone."""
        self.events.append(f"gone {channel_id}")

    async def interaction(self, interaction: discord.Interaction) -> None:
        """Somebody pressed."""
        self.interactions.append(interaction)

    def report(self, healthy: bool, text: str) -> None:
        """How the connection stands."""
        self.health.append((healthy, text))

    async def has(self, *events: str) -> None:
        """Wait until exactly these have come."""
        await holds(lambda: len(self.events) >= len(events), f"{len(events)} events")
        assert self.events == list(events)


def configured(server: LoopbackDiscord, **changes: Any) -> DiscordConfig:
    """The config of a bot at this server."""
    where = {"token": server.token, "api_base_url": server.api_base_url, "gateway_url": server.gateway_url}
    return DiscordConfig.model_validate(where | changes)


@dataclass(eq=False, kw_only=True)
class Bot:
    """A bot that runs."""

    client: Gateway
    heard: Heard
    task: asyncio.Task[None]

    async def stop(self) -> None:
        """Cancel it, and wait for its end."""
        self.task.cancel()
        await asyncio.wait({self.task})


async def started(config: DiscordConfig, *, timing: Timing = QUICK) -> Bot:
    """A bot that begins to connect."""
    heard = Heard()
    client = Gateway(config, heard, heard.report, timing=timing)
    token = config.token.get_secret_value() if config.token else ""
    return Bot(client=client, heard=heard, task=asyncio.create_task(serve(client, token)))


@asynccontextmanager
async def connected(server: LoopbackDiscord, *, timing: Timing = QUICK, **changes: Any) -> AsyncIterator[Bot]:
    """A bot that is ready; stopped when the context is left."""
    bot = await started(configured(server, **changes), timing=timing)
    try:
        await ready(bot)
        yield bot
    finally:
        await bot.stop()


async def ready(bot: Bot) -> None:
    """Wait until a bot is ready. Raises what it ended with instead."""

    def there() -> bool:
        if bot.task.done():
            bot.task.result()
        return "ready" in bot.heard.events

    await holds(there, "ready")


@dataclass(eq=False)
class Proxy:
    """A web proxy to one server, which it knows as `OUTSIDE`."""

    port: int
    address: str = ""
    seen: list[bytes] = field(default_factory=list)
    """The first line of all that came through."""
    dead: bool = False
    """Whether it takes everything and hands on nothing, like a cable that was pulled."""

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """One connection."""
        there, back = await asyncio.open_connection("127.0.0.1", self.port)
        async with asyncio.TaskGroup() as both:
            both.create_task(self._copy(reader, back))
            both.create_task(self._copy(there, writer))

    async def _copy(self, source: asyncio.StreamReader, target: asyncio.StreamWriter) -> None:
        with contextlib.suppress(ConnectionError):
            while data := await source.read(65536):
                self.seen.append(data.partition(b"\r\n")[0])
                if not self.dead:
                    target.write(data.replace(f" http://{_HOST}".encode(), b" "))
                    await target.drain()
        target.close()


@asynccontextmanager
async def proxy_to(server: LoopbackDiscord) -> AsyncIterator[Proxy]:
    """A proxy that leads to this server."""
    proxy = Proxy(int(server.api_base_url.split(":")[2].partition("/")[0]))
    async with await asyncio.start_server(proxy.serve, "127.0.0.1") as listening:
        host, port = listening.sockets[0].getsockname()[:2]
        proxy.address = f"http://{host}:{port}"
        yield proxy
