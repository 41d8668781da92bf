"""The connection over the loopback Discord, with the real library."""

import asyncio
import logging
import threading
from collections.abc import AsyncIterator
from dataclasses import replace

import discord
import pytest
from discord.gateway import KeepAliveHandler

from kesoku.adapter import LoginNeeded
from kesoku.testing.discord import Broken, Channel, LoopbackDiscord, User
from kesoku_discord.wire.client import INTENTS
from kesoku_discord.wire.connection import Timing
from kesoku_discord.wire.lanes import Lanes
from kesoku_discord.wire.serve import ended

from .wire_stage import OUTSIDE, QUICK, SECONDS, Bot, configured, connected, holds, proxy_to, started

pytestmark = pytest.mark.usefixtures("no_proxy")


@pytest.fixture
async def server() -> AsyncIterator[LoopbackDiscord]:
    async with LoopbackDiscord(heartbeat_interval=0.05) as made:
        yield made


@pytest.fixture
def room(server: LoopbackDiscord) -> Channel:
    return server.channel("room", guild=server.guild("Band"))


@pytest.fixture
def ada(server: LoopbackDiscord, room: Channel) -> User:
    made = server.user("Ada")
    assert room.guild is not None
    server.join(room.guild, made)
    return made


def test_the_intents_are_those_of_a_bot_that_reads_and_writes() -> None:
    assert INTENTS.value == 37377


async def test_events_of_one_channel_come_in_order(server: LoopbackDiscord, room: Channel, ada: User) -> None:
    async with connected(server) as bot:
        bot.heard.on = lambda said: asyncio.sleep(0.01 if said == "0" else 0)
        said = [await server.say(room, ada, str(number)) for number in range(10)]
        await server.edit(said[0], "changed")
        await server.delete(said[1])
        await bot.heard.has("ready", *map(str, range(10)), "edited changed", f"deleted {said[1].id}")


async def test_channels_do_not_wait_for_each_other(server: LoopbackDiscord, room: Channel, ada: User) -> None:
    gate = asyncio.Event()

    async def held(said: str) -> None:
        if said == "first":
            await gate.wait()

    assert room.guild is not None
    other = server.channel("other", guild=room.guild)
    async with connected(server) as bot:
        bot.heard.on = held
        await server.say(room, ada, "first")
        await server.say(room, ada, "second")
        await server.say(other, ada, "beside")
        await bot.heard.has("ready", "beside")
        gate.set()
        await bot.heard.has("ready", "beside", "first", "second")


async def test_an_interaction_waits_for_nothing(server: LoopbackDiscord, room: Channel, ada: User) -> None:
    async with connected(server) as bot:
        row = {"type": 1, "components": [{"type": 2, "style": 2, "label": "Stop", "custom_id": "stop::1"}]}
        body = {"content": "a question", "components": [row]}
        await bot.client.http.request(discord.http.Route("POST", f"/channels/{room.id}/messages"), json=body)
        await bot.heard.has("ready", "a question")
        bot.heard.on = lambda said: asyncio.Event().wait()  # type: ignore[assignment, return-value]
        await server.say(room, ada, "held up for ever")
        await server.press(server.messages(room)[0], "Stop", by=ada)
        await holds(lambda: bot.heard.interactions, "the press")


async def test_a_listener_that_raises_ends_nothing(
    server: LoopbackDiscord, room: Channel, ada: User, caplog: pytest.LogCaptureFixture
) -> None:
    async def raising(said: str) -> None:
        if said == "bad":
            raise ZeroDivisionError("of a test")

    async with connected(server) as bot:
        bot.heard.on = raising
        for said in ("good", "bad", "better"):
            await server.say(room, ada, said)
        await bot.heard.has("ready", "good", "better")
    assert "ZeroDivisionError: of a test" in caplog.text


async def test_what_goes_is_told_by_its_channels(server: LoopbackDiscord, room: Channel) -> None:
    """With a channel its threads, with a server all that is in it; not where Discord only has trouble."""
    assert room.guild is not None
    hall = server.channel("hall", guild=room.guild)
    in_room, in_hall, other = (server.thread(each, "t", by=server.world.bot) for each in (room, hall, hall))
    async with connected(server) as bot:
        server.outage(room.guild)
        server.back(room.guild)
        for each in (other, room):
            server.remove(each)
        await bot.heard.has("ready", *(f"gone {each.id}" for each in (other, room, in_room)))
        bot.heard.events.clear()
        server.expel(room.guild)
        await holds(lambda: len(bot.heard.events) == 2, "the rest is gone")
        assert set(bot.heard.events) == {f"gone {each.id}" for each in (hall, in_hall)}


async def test_many_deleted_at_once_are_single_ones(server: LoopbackDiscord, room: Channel, ada: User) -> None:
    async with connected(server) as bot:
        first, second = [await server.say(room, ada, text) for text in ("one", "two")]
        data = {"ids": [str(second.id), str(first.id)], "channel_id": str(room.id)}
        server.world.emit("MESSAGE_DELETE_BULK", data, channel=room)
        await bot.heard.has("ready", "one", "two", f"deleted {first.id}", f"deleted {second.id}")


@pytest.mark.parametrize("how", ["reconnect", "drop", "invalid"])
async def test_a_drop_resumes_with_what_was_missed(
    server: LoopbackDiscord, room: Channel, ada: User, how: str, caplog: pytest.LogCaptureFixture
) -> None:
    async with connected(server) as bot:
        if how == "drop":
            await server.drop(4000)
        elif how == "invalid":
            await server.invalid(resumable=True)
        else:
            await server.reconnect()
        await server.say(room, ada, "meanwhile")
        await bot.heard.has("ready", "meanwhile")
        assert (server.identifies, server.resumes) == (1, 1)
        assert {healthy for healthy, _ in bot.heard.health} == {True}
    assert [each for each in caplog.records if each.levelno >= logging.ERROR] == []


async def test_a_session_that_is_lost_is_followed_by_a_new_one(server: LoopbackDiscord, room: Channel) -> None:
    async with connected(server) as bot:
        await server.invalid()
        await bot.heard.has("ready", "ready")
        assert (server.identifies, server.resumes) == (2, 0)


async def test_between_new_sessions_there_is_a_pause(server: LoopbackDiscord) -> None:
    async with connected(server, timing=replace(QUICK, identify=0.1)) as bot:
        loop = asyncio.get_running_loop()
        before = loop.time()
        await server.invalid()
        await bot.heard.has("ready", "ready")
        assert loop.time() - before >= 0.1


async def test_a_connection_that_breaks_before_its_session_begins_one(server: LoopbackDiscord) -> None:
    """Nothing is there to resume: a bot that tries it nevertheless does so for ever."""
    left = 2

    async def cut(shard_id: int | None, *, initial: bool = False) -> None:
        nonlocal left
        if left:
            left -= 1
            await server.drop()

    async with connected(server) as bot:
        bot.client.before_identify_hook = cut  # type: ignore[method-assign]
        await server.invalid()
        await bot.heard.has("ready", "ready")
        assert (left, server.identifies, server.resumes) == (0, 2, 0)


async def test_a_gateway_that_ends_every_connection_is_not_stormed(server: LoopbackDiscord) -> None:
    async with connected(server, timing=replace(QUICK, dial=0.05)) as bot:
        loop, ended = asyncio.get_running_loop(), list[float]()
        while len(ended) < 4:
            await holds(lambda: server.connections, "a connection")
            ended.append(loop.time())
            await server.drop(4000)
        assert ended[-1] - ended[0] >= 0.1
        assert bot.heard.events == ["ready"]


async def test_a_missing_heartbeat_ack_leads_to_one_reconnect(server: LoopbackDiscord) -> None:
    """Complaint 150."""
    async with connected(server, timing=replace(QUICK, heartbeat=0.15)) as bot:
        server.mute_acks()
        await holds(lambda: server.resumes == 1, "a new connection")
        server.mute_acks(muted=False)
        acknowledged = set[float]()

        def steady() -> bool:
            acknowledged.add(bot.client.latency)
            return len(acknowledged) > 4  # which takes longer than a missing one is borne

        await holds(steady, "acks")
        assert (server.identifies, server.resumes, server.connections) == (1, 1, 1)
        assert bot.heard.events == ["ready"]


async def test_a_connection_that_stays_away_is_said_and_given_up(
    server: LoopbackDiscord, caplog: pytest.LogCaptureFixture
) -> None:
    """Complaint 149."""
    config = configured(server, gateway_url="ws://127.0.0.1:9/gw")
    bot = await started(config, timing=Timing(patience=0.02, outage=0.1))
    with pytest.raises(ConnectionError, match="no connection to Discord"):
        await bot.task
    assert [healthy for healthy, _ in bot.heard.health] == [False]
    assert [each for each in caplog.records if each.levelno >= logging.ERROR] == []
    assert "there is no connection: Discord cannot be reached" in caplog.text


async def test_a_connection_that_comes_back_late_is_well_again(server: LoopbackDiscord) -> None:
    async with connected(server, timing=replace(QUICK, identify=0.1, patience=0.02)) as bot:
        await holds(lambda: bot.heard.health and bot.heard.health[-1][0], "well")
        bot.heard.health.clear()
        await server.invalid()
        await holds(lambda: len(bot.heard.health) == 2, "well again")
        assert [healthy for healthy, _ in bot.heard.health] == [False, True]


async def ending(bot: Bot) -> LoginNeeded:
    with pytest.raises(LoginNeeded) as caught:
        await asyncio.wait_for(bot.task, SECONDS)
    return caught.value


async def test_a_wrong_token_needs_a_login(server: LoopbackDiscord) -> None:
    error = await ending(await started(configured(server, token="MTI.wrong.token")))
    assert "does not take the token" in error.reason
    assert "wrong" not in str(error)
    assert server.connections == 0


async def test_a_token_that_is_revoked_meanwhile_needs_a_login(server: LoopbackDiscord) -> None:
    async with connected(server) as bot:
        server.revoke()
        assert "does not take the token" in (await ending(bot)).reason


async def test_a_missing_intent_needs_clicks(server: LoopbackDiscord) -> None:
    server.disallow_intents()
    error = await ending(await started(configured(server)))
    assert "Message Content Intent" in error.reason


async def test_a_server_in_trouble_needs_no_login(server: LoopbackDiscord) -> None:
    server.script(Broken(503), on="GET /users/@me")
    bot = await started(configured(server))
    with pytest.raises(ConnectionError, match=r"Discord had trouble of its own \(Discord said 503"):
        await asyncio.wait_for(bot.task, SECONDS)


async def test_an_address_where_discord_is_not_is_named(server: LoopbackDiscord) -> None:
    bot = await started(configured(server, api_base_url=server.api_base_url.replace("v10", "v9")))
    with pytest.raises(ConnectionError, match="api/v9 is not Discord; check api_base_url"):
        await asyncio.wait_for(bot.task, SECONDS)


@pytest.mark.parametrize("lacking", ["/v10", "/api/v10"])
async def test_an_address_without_its_end_is_completed(server: LoopbackDiscord, lacking: str) -> None:
    async with connected(server, api_base_url=server.api_base_url.removesuffix(lacking)) as bot:
        assert bot.client.http.base == server.api_base_url


async def test_a_new_session_begins_where_the_config_says(server: LoopbackDiscord) -> None:
    """The other one does not know the session."""
    async with LoopbackDiscord() as other:
        at, server.gateway_url = configured(server).gateway_url, other.gateway_url
        async with connected(server, gateway_url=at) as bot:
            await server.drop(4000)
            await bot.heard.has("ready", "ready")
            assert (server.identifies, other.identifies) == (2, 0)


async def test_cancelling_closes_quickly_and_leaves_nothing(server: LoopbackDiscord, room: Channel, ada: User) -> None:
    before = asyncio.all_tasks()
    async with connected(server) as bot:
        bot.heard.on = lambda said: asyncio.sleep(60)
        await server.say(room, ada, "this takes long")
        await holds(lambda: bot.client._lanes._tasks, "the message")
        began = asyncio.get_running_loop().time()
        await bot.stop()
        assert asyncio.get_running_loop().time() - began < 1.0
    await holds(lambda: server.connections == 0, "no connection")
    await holds(lambda: _ours(before) == [], "no task")
    await holds(lambda: not _beating(), "no thread")


async def test_cancelling_while_it_begins_a_new_session_leaves_no_thread(server: LoopbackDiscord) -> None:
    async def stuck(shard_id: int | None, *, initial: bool = False) -> None:
        await asyncio.Event().wait()

    async with connected(server) as bot:
        bot.client.before_identify_hook = stuck  # type: ignore[method-assign]
        beats = _beating()
        await server.invalid()
        await holds(lambda: bool(_beating() - beats), "a new connection")
    await holds(lambda: not _beating(), "no thread")


async def test_cancelling_while_it_logs_in_leaves_nothing(server: LoopbackDiscord) -> None:
    before = asyncio.all_tasks()
    bot = await started(configured(server))
    await holds(lambda: server.requests, "the login")
    await bot.stop()
    await holds(lambda: _ours(before) == [], "no task")


async def test_cancelling_waits_for_no_goodbye() -> None:
    async with (
        LoopbackDiscord() as server,  # whose heart beats so slowly that it does not notice
        proxy_to(server) as proxy,
        connected(server, proxy=proxy.address, **OUTSIDE) as bot,
    ):
        proxy.dead = True
        began = asyncio.get_running_loop().time()
        await bot.stop()
        assert asyncio.get_running_loop().time() - began < 1.0


async def test_a_cancellation_that_the_library_swallows_is_repeated() -> None:
    swallowed: list[str] = []

    async def stubborn() -> None:
        while len(swallowed) < 2:
            try:
                await asyncio.Event().wait()
            except asyncio.CancelledError:
                swallowed.append("once more")
        await asyncio.Event().wait()

    task = asyncio.create_task(stubborn())
    await asyncio.sleep(0)
    await ended({task})
    assert task.cancelled()
    assert len(swallowed) == 2


def _beating() -> set[threading.Thread]:
    return {each for each in threading.enumerate() if isinstance(each, KeepAliveHandler)}


def _ours(before: set[asyncio.Task[object]]) -> list[str]:
    """What runs now and did not before; the server's own tasks are not ours."""
    return [task.get_name() for task in asyncio.all_tasks() - before if "RequestHandler" not in repr(task.get_coro())]


async def test_a_lane_that_is_full_leaves_events_out(caplog: pytest.LogCaptureFixture) -> None:
    lanes, gate, done = Lanes(waiting=2), asyncio.Event(), list[int]()

    async def work(number: int) -> None:
        await gate.wait()
        done.append(number)

    lanes.put("a", lambda: work(0))
    await asyncio.sleep(0)
    for number in range(1, 5):
        lanes.put("a", lambda number=number: work(number))  # type: ignore[misc]
    gate.set()
    await holds(lambda: len(done) == 3, "the lane")
    assert done == [0, 1, 2]
    assert "2 events of channel a wait already; no more are taken" in caplog.text
    assert "2 events of channel a were left out" in caplog.text
    await lanes.aclose()


async def test_closed_lanes_take_nothing_more() -> None:
    lanes, done = Lanes(), list[str]()

    async def work() -> None:
        done.append("done")

    await lanes.aclose()
    lanes.put("a", work)
    lanes.start(work)
    await asyncio.sleep(0)
    assert done == []


def test_the_times_are_those_of_the_library_and_of_discord() -> None:
    assert (Timing().heartbeat, Timing().identify) == (60.0, 5.0)
    assert QUICK.guilds < Timing().guilds
