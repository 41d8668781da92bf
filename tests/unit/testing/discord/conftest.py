"""A loopback Discord, asked by hand and by the real client library."""

import asyncio
import base64
import contextlib
import json
import zlib
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass
from typing import Any

import aiohttp
import discord
import httpx
import pytest
import pytest_asyncio
import yarl

from kesoku.testing.discord import Channel, Guild, LoopbackDiscord, User
from kesoku.testing.waiting import PATIENCE

INTENTS = 37377
"""Guilds, messages there and direct ones, and their content."""


@dataclass
class Clock:
    """Wall-clock time that a test moves."""

    seconds: float = 1_800_000_000.0

    def __call__(self) -> float:
        return self.seconds


@dataclass
class Band:
    """One guild, one channel, one person."""

    guild: Guild
    general: Channel
    ada: User


class Hand:
    """Requests by hand, with the bot's token."""

    def __init__(self, server: LoopbackDiscord, http: httpx.AsyncClient) -> None:
        self.server, self._http = server, http

    async def __call__(self, method: str, path: str, body: Any = None, *, token: str | None = None) -> httpx.Response:
        headers = {"Authorization": f"Bot {self.server.token}" if token is None else token}
        return await self._http.request(method, self.server.api_base_url + path, json=body, headers=headers)

    async def send(self, channel: Channel, **body: Any) -> httpx.Response:
        return await self("POST", f"/channels/{channel.id}/messages", body)

    async def upload(
        self, channel: Channel, body: Any, *files: tuple[str, bytes], kind: str = "application/octet-stream"
    ) -> httpx.Response:
        parts: list[Any] = [("payload_json", (None, json.dumps(body).encode(), "application/json"))]
        parts += [(f"files[{number}]", (name, data, kind)) for number, (name, data) in enumerate(files)]
        headers = {"Authorization": f"Bot {self.server.token}"}
        url = f"{self.server.api_base_url}/channels/{channel.id}/messages"
        return await self._http.post(url, files=parts, headers=headers)

    async def fetch(self, url: str) -> httpx.Response:
        return await self._http.get(url)


class Socket:
    """A connection to the gateway by hand."""

    def __init__(self, server: LoopbackDiscord, socket: aiohttp.ClientWebSocketResponse) -> None:
        self._server, self._socket = server, socket
        self._inflate = zlib.decompressobj()

    async def send(self, op: int, d: Any = None) -> None:
        await self._socket.send_str(json.dumps({"op": op, "d": d}))

    async def raw(self, text: str) -> None:
        await self._socket.send_str(text)

    async def identify(self, intents: int = INTENTS, **more: Any) -> dict[str, Any]:
        """HELLO and IDENTIFY; returns READY."""
        assert (await self.receive())["op"] == 10
        properties = {"os": "linux", "browser": "hand", "device": "hand"}
        await self.send(2, {"token": self._server.token, "properties": properties, "intents": intents, **more})
        ready = await self.receive()
        assert ready["t"] == "READY"
        return dict(ready["d"])

    async def receive(self) -> dict[str, Any]:
        got = await self._socket.receive(5)
        data = self._inflate.decompress(got.data) if got.type is aiohttp.WSMsgType.BINARY else got.data
        assert got.type in {aiohttp.WSMsgType.BINARY, aiohttp.WSMsgType.TEXT}, got
        return dict(json.loads(data))

    async def event(self, name: str) -> dict[str, Any]:
        """The next event of this name."""
        while (frame := await self.receive())["t"] != name:
            pass
        return frame

    async def code(self) -> int | None:
        """The code with which the server closes."""
        while (await self._socket.receive(5)).type in {aiohttp.WSMsgType.BINARY, aiohttp.WSMsgType.TEXT}:
            pass
        return self._socket.close_code

    async def close(self, code: int = 4000) -> None:
        await self._socket.close(code=code)


class Bot(discord.Client):
    """The real client; what it hears is in queues."""

    def __init__(self, **options: Any) -> None:
        super().__init__(intents=discord.Intents(INTENTS), guild_ready_timeout=0, **options)
        self.told = asyncio.Event()
        self.heard: asyncio.Queue[discord.Message] = asyncio.Queue()
        self.pressed: asyncio.Queue[discord.Interaction] = asyncio.Queue()

    async def on_ready(self) -> None:
        self.told.set()

    async def on_message(self, message: discord.Message) -> None:
        self.heard.put_nowait(message)

    async def on_interaction(self, interaction: discord.Interaction) -> None:
        self.pressed.put_nowait(interaction)

    async def hears(self, text: str) -> discord.Message:
        """The next message with this text."""
        async with asyncio.timeout(PATIENCE):
            while (message := await self.heard.get()).content != text:
                pass
            return message

    async def before_identify_hook(self, shard_id: int | None, *, initial: bool = False) -> None:
        """No five seconds before a second IDENTIFY."""


Connect = Callable[..., AbstractAsyncContextManager[Bot]]
Open = Callable[..., AbstractAsyncContextManager[Socket]]


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest_asyncio.fixture
async def server(clock: Clock) -> AsyncIterator[LoopbackDiscord]:
    async with LoopbackDiscord(now=clock) as server:
        yield server


@pytest.fixture
def band(server: LoopbackDiscord) -> Band:
    guild = server.guild("Band")
    ada = server.user("Ada", username="ada99")
    server.join(guild, ada)
    return Band(guild, server.channel("general", guild=guild), ada)


@pytest_asyncio.fixture
async def hand(server: LoopbackDiscord) -> AsyncIterator[Hand]:
    async with httpx.AsyncClient(trust_env=False) as http:
        yield Hand(server, http)


@pytest.fixture
def bot(server: LoopbackDiscord, monkeypatch: pytest.MonkeyPatch) -> Connect:
    """The real client, connected and ready."""
    monkeypatch.setattr(discord.http.Route, "BASE", server.api_base_url)
    monkeypatch.setattr(discord.gateway.DiscordWebSocket, "DEFAULT_GATEWAY", yarl.URL(server.gateway_url))

    @asynccontextmanager
    async def connected(**options: Any) -> AsyncIterator[Bot]:
        async with Bot(**options) as bot:
            running = asyncio.create_task(bot.start(server.token))
            await asyncio.wait_for(bot.told.wait(), PATIENCE)
            try:
                yield bot
            finally:
                await bot.close()
                with contextlib.suppress(asyncio.CancelledError):
                    await running

    return connected


@pytest.fixture
def gateway(server: LoopbackDiscord) -> Open:
    """A connection by hand."""

    @asynccontextmanager
    async def opened(query: str = "v=10&encoding=json") -> AsyncIterator[Socket]:
        async with aiohttp.ClientSession() as http, http.ws_connect(f"{server.gateway_url}?{query}") as socket:
            yield Socket(server, socket)

    return opened


def voice(**more: Any) -> dict[str, Any]:
    """The body of a voice message."""
    entry = {"id": 0, "filename": "voice.ogg", "duration_secs": 1.0, "waveform": base64.b64encode(b"\0").decode()}
    return {"flags": 8192, "attachments": [entry], **more}
