"""The examples of docs/how-to/test-your-bot.md on Discord."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from kesoku.app import App, Job
from kesoku.app.cast import cast
from kesoku.config import load
from kesoku.testing.discord import LoopbackDiscord
from kesoku.testing.waiting import until
from kesoku_discord.manifest import MANIFEST

CONFIG = """
[store]
path = "{folder}/kesoku.db"

[agent]
model = "offline"

[adapters.discord]
token = "{server.token}"
allow = ["everyone"]
api_base_url = "{server.api_base_url}"
gateway_url = "{server.gateway_url}"
"""


@asynccontextmanager
async def at_work(folder: Path, server: LoopbackDiscord) -> AsyncIterator[None]:
    file = folder / "config.toml"
    file.write_text(CONFIG.format(folder=folder, server=server))
    loaded = load(file, environment={})
    bots = {"discord": (MANIFEST, loaded.config.adapters["discord"].settings)}
    async with App(loaded, Job(bots=bots), cast(loaded, bots, offline_fallback=False)) as app:
        running = asyncio.create_task(app.run())

        async def connected() -> bool:
            return server.connections > 0

        await until(connected, what="the bot connects")
        yield
        app.stop()
        await running


@pytest.mark.slow
async def test_the_bot_answers_who_mentions_it(tmp_path: Path) -> None:
    async with LoopbackDiscord() as server:
        guild = server.guild("Band")
        general, ada = server.channel("general", guild=guild), server.user("Ada")
        server.join(guild, ada)
        async with at_work(tmp_path, server):
            await server.say(general, ada, "is it 42?")
            asked = await server.say(general, ada, "<@BOT> what is 6 * 7?")

            async def answered() -> bool:
                return any("42" in each.content and each.reply_to == asked.id for each in server.messages(general))

            await until(answered, what="an answer")
            pressed = await server.press(server.messages(general)[-1], "Context", by=ada)
            (told,) = await pressed.answered()
            assert told.ephemeral
    assert len(server.messages(general)) == 3
