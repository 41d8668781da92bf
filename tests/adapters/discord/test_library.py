"""What is used of discord.py that it does not promise: another version that does it otherwise fails here first."""

import asyncio
import inspect
import threading
import tomllib
from pathlib import Path

import discord
import pytest
from discord.gateway import KeepAliveHandler
from discord.http import Route

from kesoku.testing.discord import LoopbackDiscord
from kesoku_discord.library import State, end_global_limit, end_leftovers, message_from, role_ids
from kesoku_discord.wire.client import Gateway
from kesoku_discord.wire.http import Http

from .made import GENERAL, Library, facts_on_the_wire, member, user
from .wire_stage import Heard, configured, holds

pytestmark = pytest.mark.usefixtures("no_proxy")


PYPROJECT = Path(__file__).parents[3] / "pyproject.toml"


def test_the_versions_are_bounded() -> None:
    wanted = tomllib.loads(PYPROJECT.read_text("utf-8"))["project"]["optional-dependencies"]["discord"]
    assert wanted == ["discord.py>=2.7,<3", "aiohttp>=3.11,<4"]
    assert discord.version_info[:2] >= (2, 7)


def test_the_roles_are_those_that_discord_sent() -> None:
    """The library knows none of the name 7."""
    library = Library()
    data = {"user": user(8, "Eve"), **member(roles=["7"])}
    eve = discord.Member(data=data, guild=library.guild, state=library.client._connection)  # type: ignore[arg-type]
    assert [each.id for each in eve.roles] == [library.guild.id]
    assert role_ids(eve) == (7,)
    assert role_ids(eve._user) == ()


def test_a_message_is_made_of_its_json() -> None:
    library = Library()
    made = message_from(library.client, library.guild.text_channels[0], facts_on_the_wire("hello"))
    assert (made.content, made.channel.id, made.guild) == ("hello", GENERAL, library.guild)


async def test_the_client_makes_its_http_client_before_its_state_and_its_state_once() -> None:
    async with LoopbackDiscord() as server:
        heard = Heard()
        client = Gateway(configured(server), heard, heard.report)
        assert isinstance(client._connection, State)
        assert client._connection.http is client.http
        assert isinstance(client.http, Http)
        assert {"READY", "MESSAGE_CREATE"} <= client._connection.parsers.keys()


async def test_a_session_that_never_was_is_not_resumed() -> None:
    """The library asks for a session to go on with `resume`, and tells its state of each socket."""

    class Socket:
        session_id: str | None = None

        async def identify(self) -> None: ...

        async def resume(self) -> None: ...

        async def send_heartbeat(self, data: object) -> None: ...

    async with LoopbackDiscord() as server:
        heard = Heard()
        state = Gateway(configured(server), heard, heard.report)._connection
        fresh, begun = Socket(), Socket()
        begun.session_id = "s"
        for each in (fresh, begun):
            state._update_references(each)  # type: ignore[arg-type]
        assert (fresh.resume == fresh.identify, begun.resume == begun.identify) == (True, False)
        assert "_update_references" in inspect.getsource(discord.gateway.DiscordWebSocket.from_client)


async def test_the_time_of_a_heartbeat_is_noted_before_it_goes_out() -> None:
    """Else the library complains of an answer that came at once: it takes it for one to the last heartbeat."""
    said: list[object] = []

    class Heart:
        def beat(self) -> None:
            said.append("noted")

    class Socket:
        session_id = "s"
        _keep_alive: Heart | None = None

        async def send_heartbeat(self, data: object) -> None:
            said.append(data)

    async with LoopbackDiscord() as server:
        heard = Heard()
        socket = Socket()
        Gateway(configured(server), heard, heard.report)._connection._update_references(socket)  # type: ignore[arg-type]
        await socket.send_heartbeat(1)
        socket._keep_alive = Heart()
        await socket.send_heartbeat(2)
        assert said == [1, "noted", 2]
        assert "self.ws.send_heartbeat(" in inspect.getsource(KeepAliveHandler.run)


async def test_a_limit_over_all_routes_can_be_ended() -> None:
    async with LoopbackDiscord() as server:
        http = Http(base=server.api_base_url, gateway=server.gateway_url)
        await http.static_login(server.token)
        http._global_over.clear()
        asked = asyncio.create_task(http.request(Route("GET", "/gateway")))
        for _ in range(5):
            await asyncio.sleep(0)
        assert not asked.done()
        end_global_limit(http)
        await asked
        await http.close()


async def test_nothing_is_left_behind() -> None:
    library = Library()

    class Socket:
        _connection = library.client._connection
        thread_id = threading.get_ident()
        _max_heartbeat_timeout = 60.0

    heart = KeepAliveHandler(ws=Socket(), interval=60.0)  # type: ignore[arg-type]
    heart.start()
    waiting = library.client._connection._ready_task = asyncio.create_task(asyncio.Event().wait())
    await end_leftovers(library.client)
    assert waiting.cancelled()
    await holds(lambda: not heart.is_alive(), "the end of the thread")
    assert "_ready_task = asyncio.create_task" in inspect.getsource(discord.state.ConnectionState)
