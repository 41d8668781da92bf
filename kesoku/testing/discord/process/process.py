"""A loopback Discord in a process of its own, so that its work is not measured with the work of the bot.

async with DiscordProcess.spawn(rate_limits=True) as server:
    general, ada = await server.channel("general"), await server.user("Ada")
    await server.say(general, ada, "hello")
    print((await server.stats())["rate"])
"""

import asyncio
import json
import sys
from asyncio.subprocess import PIPE, Process
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import asdict
from typing import Any, Self

from kesoku.testing.discord.script import Fault
from kesoku.testing.discord.world.entity import Json

_LINE = 1 << 26
_PATIENCE = 10.0


class DiscordProcess:
    """The driver: what is done is said in JSON, and things are named by their ids."""

    def __init__(self, process: Process, greeting: Mapping[str, Any]) -> None:
        self._process, self._turn = process, asyncio.Lock()
        self.token: str = greeting["token"]
        self.api_base_url: str = greeting["api_base_url"]
        self.gateway_url: str = greeting["gateway_url"]
        self.bot_id: int = greeting["bot_id"]
        self.application_id: int = greeting["application_id"]
        self.guild_id: int = greeting["guild_id"]

    @classmethod
    @asynccontextmanager
    async def spawn(cls, *, rate_limits: bool = False, port: int = 0) -> AsyncIterator[Self]:
        """A running server; leaving the context ends it."""
        options = [f"--port={port}", *(["--rate-limits"] if rate_limits else [])]
        process = await asyncio.create_subprocess_exec(
            sys.executable, "-m", "kesoku.testing.discord", *options, stdin=PIPE, stdout=PIPE, limit=_LINE
        )
        try:
            assert process.stdout is not None  # noqa: S101  it was asked for
            greeting = json.loads(await asyncio.wait_for(process.stdout.readline(), _PATIENCE))
            yield cls(process, greeting)
        finally:
            if process.stdin is not None:
                process.stdin.close()
            try:
                await asyncio.wait_for(process.wait(), _PATIENCE)
            except TimeoutError:
                process.kill()
                await process.wait()

    async def ask(self, do: str, **facts: Any) -> Any:
        """Have something done that `control.py` knows; returns its answer. Raises RuntimeError if that is an error."""
        async with self._turn:
            stdin, stdout = self._process.stdin, self._process.stdout
            assert stdin is not None  # noqa: S101  it was asked for
            assert stdout is not None  # noqa: S101  it was asked for
            stdin.write(f"{json.dumps({'do': do, **facts})}\n".encode())
            await stdin.drain()
            answer = json.loads(await stdout.readline())
        if isinstance(answer, dict) and "error" in answer:
            raise RuntimeError(answer["error"])
        return answer

    async def channel(self, name: str) -> int:
        """A channel of the guild."""
        return int((await self.ask("channel", name=name))["id"])

    async def user(self, name: str) -> int:
        """A member of the guild."""
        return int((await self.ask("user", name=name))["id"])

    async def direct(self, user: int) -> int:
        """The talk between a user and the bot."""
        return int((await self.ask("direct", user=user))["id"])

    async def say(self, channel: int, by: int, text: str, **more: Any) -> int:
        """Somebody writes; `more` as for `LoopbackDiscord.say`, `reply_to` and `ago`."""
        return int((await self.ask("say", channel=channel, by=by, text=text, **more))["id"])

    async def drop(self, code: int | None = None) -> None:
        """End all gateway connections."""
        await self.ask("drop", code=code)

    async def script(self, fault: Fault, *, on: str, channel: int | None = None) -> None:
        """Plan a fault for the next request of a route."""
        await self.ask("script", fault=type(fault).__name__, on=on, channel=channel, **asdict(fault))

    async def messages(self, channel: int) -> list[Json]:
        """What everybody sees in a channel: see `stats.shown`."""
        found: list[Json] = await self.ask("messages", channel=channel)
        return found

    async def stats(self) -> Json:
        """The figures so far: see `stats.stats`."""
        found: Json = await self.ask("stats")
        return found
