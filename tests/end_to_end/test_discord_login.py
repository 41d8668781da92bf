"""Two Discord bots in one process, each at a Discord of its own: what one of them loses is nothing to the other."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack

import pytest

from kesoku.testing.discord import Channel, LoopbackDiscord, User
from kesoku.testing.waiting import PATIENCE, until

from .conftest import Home

pytestmark = pytest.mark.slow
BOT = """
[adapters.{name}]
type = "discord"
token = "{server.token}"
allow = ["everyone"]
channels.{room.id} = {{}}
api_base_url = "{server.api_base_url}"
gateway_url = "{server.gateway_url}"
"""


class Place:
    """A Discord with one room, and Ada in it."""

    def __init__(self, name: str) -> None:
        self.name, self.server = name, LoopbackDiscord(token=f"MTE.hunter2.{name}", bot_name=name)
        guild = self.server.guild("Band")
        self.room: Channel = self.server.channel("room", guild=guild)
        self.ada: User = self.server.user("Ada")
        self.server.join(guild, self.ada)

    async def answers(self, asked: str, text: str) -> None:
        """Wait until what Ada asks is answered with this text."""
        await self.server.say(self.room, self.ada, asked)

        async def there() -> bool:
            return any(text in each.content for each in self.server.messages(self.room))

        await until(there, what=f"{text!r} of {self.name}")

    async def revoke(self) -> None:
        """The token is taken back."""
        self.server.revoked = True
        await self.server.drop(4004)


@pytest.fixture
async def places(home: Home) -> AsyncIterator[tuple[Place, Place]]:
    first, second = Place("first"), Place("second")
    async with AsyncExitStack() as stack:
        text = '[agent]\nmodel = "offline"\n'
        for each in (first, second):
            await stack.enter_async_context(each.server)
            text += BOT.format(name=each.name, server=each.server, room=each.room)
        (home.work / "config.toml").write_text(text, encoding="utf-8")
        yield first, second


async def test_a_token_that_is_revoked_ends_its_bot_alone(home: Home, places: tuple[Place, Place]) -> None:
    first, second = places
    run = home.start("run")

    async def both() -> bool:
        return all(each.server.identifies for each in places)

    await until(both, what="both bots connect")
    await first.answers("what is 1 + 1?", "2")
    await first.revoke()
    await second.answers("what is 6 * 7?", "42")
    assert run.poll() is None
    await second.revoke()
    out, err = await asyncio.to_thread(run.communicate, timeout=PATIENCE)
    assert run.returncode == 69, err
    for each in places:
        assert f"connected to Discord as {each.name}" in err
    assert err.count("make a new token at") >= 2
    assert "hunter2" not in out + err
    for each in places:
        assert {seen.headers["authorization"] for seen in each.server.requests} == {f"Bot {each.server.token}"}
