"""The HTTP client of one bot: its own endpoint, its own proxy, its own pace."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
from discord.gateway import DiscordWebSocket
from discord.http import Route
from yarl import URL

from kesoku.adapter import LoginNeeded, RetryLater
from kesoku.testing.clock import VirtualClock
from kesoku.testing.discord import Limited, LoopbackDiscord
from kesoku_discord.config import DiscordConfig
from kesoku_discord.login import completed, proxy_of, shown, token_of
from kesoku_discord.wire.http import Http, rank_of
from kesoku_discord.wire.limiter import MOST, WINDOW, Limiter, Rank

from .wire_stage import OUTSIDE, SECONDS, connected, holds, proxy_to


@pytest.mark.usefixtures("no_proxy")
async def test_two_bots_at_two_endpoints_live_in_one_process() -> None:
    before = Route.BASE, DiscordWebSocket.DEFAULT_GATEWAY
    async with (
        LoopbackDiscord(token="MTE.one.token", bot_name="Ryo") as one,
        LoopbackDiscord(token="MTI.two.token", bot_name="Kita") as two,
        connected(one) as ryo,
        connected(two) as kita,
    ):
        for server, bot in ((one, ryo), (two, kita)):
            room, ada = server.channel("room", guild=server.guild("Band")), server.user("Ada")
            await server.say(room, ada, f"at {server.bot_name}")
            await bot.heard.has("ready", f"at {server.bot_name}")
            await bot.client.http.request(Route("POST", f"/channels/{room.id}/typing"))
            assert len(server.typing(room)) == 1
            await server.reconnect()
            await server.say(room, ada, "and on")
            await bot.heard.has("ready", f"at {server.bot_name}", "and on")
        assert before == (Route.BASE, DiscordWebSocket.DEFAULT_GATEWAY)
        assert (one.unknown, two.unknown) == ([], [])


@pytest.mark.usefixtures("no_proxy")
async def test_interactions_are_answered_at_the_endpoint_and_wait_for_no_turn() -> None:
    async with LoopbackDiscord() as server, connected(server) as bot:
        room, ada = server.channel("room", guild=server.guild("Band")), server.user("Ada")
        assert room.guild is not None
        server.join(room.guild, ada)
        row = {"type": 1, "components": [{"type": 2, "style": 2, "label": "Stop", "custom_id": "stop::1"}]}
        body = {"content": "a question", "components": [row]}
        await bot.client.http.request(Route("POST", f"/channels/{room.id}/messages"), json=body)
        press = await server.press(server.messages(room)[0], "Stop", by=ada)

        await holds(lambda: bool(bot.heard.interactions), "the press")
        clock = VirtualClock()  # stands still, so no turn becomes free
        bot.client.http.limiter = Limiter(now=clock.monotonic, sleep=clock.sleep)
        for _ in range(MOST):
            await bot.client.http.limiter.turn(Rank.ANSWER)
        with bot.client.http.here():  # this task is none of the client's
            await bot.heard.interactions[0].response.send_message("stopped", ephemeral=True)
            await bot.heard.interactions[0].followup.send("really", ephemeral=True)
        assert [each.text for each in press.answers] == ["stopped", "really"]


@asynccontextmanager
async def paced() -> AsyncIterator[tuple[LoopbackDiscord, Http, VirtualClock]]:
    async with LoopbackDiscord() as server:
        clock = VirtualClock()
        limiter = Limiter(now=clock.monotonic, sleep=clock.sleep)
        http = Http(base=server.api_base_url, gateway=server.gateway_url, limiter=limiter)
        await http.static_login(server.token)
        try:
            yield server, http, clock
        finally:
            await http.close()


async def test_requests_leave_at_the_pace() -> None:
    async with paced() as (server, http, clock):
        asked = [asyncio.create_task(http.request(Route("GET", "/gateway"))) for _ in range(2 * MOST)]

        await holds(lambda: len(server.requests) == MOST and clock.sleeping == 1, "a full window")
        await clock.advance(0.9 * WINDOW)
        assert len(server.requests) == MOST
        await clock.advance(0.2 * WINDOW)
        await asyncio.wait(asked[: MOST - 1])
        await clock.advance(WINDOW)
        await asyncio.gather(*asked)


async def test_who_is_cancelled_in_a_limit_over_all_routes_holds_nobody_up_for_ever() -> None:
    """The library lets nothing go on until the one request has slept. Limits are named in whole seconds."""
    async with paced() as (server, http, clock):
        server.script(Limited(0.5, everywhere=True), on="GET /gateway")
        limited = asyncio.create_task(http.request(Route("GET", "/gateway")))
        await holds(lambda: clock.sleeping == 1, "the limit")
        limited.cancel()
        waiting = asyncio.create_task(http.request(Route("GET", "/users/@me")))
        await clock.advance(1.0)
        assert not waiting.done()
        assert server.asked("GET /users/@me")[1:] == []
        await clock.advance(0.2)
        await asyncio.wait_for(waiting, SECONDS)


async def test_typing_that_is_late_is_not_sent() -> None:
    async with paced() as (server, http, clock):
        room = server.channel("room", guild=server.guild("Band"))
        busy = [asyncio.create_task(http.limiter.turn(Rank.ANSWER)) for _ in range(40 * MOST)]
        typing = asyncio.create_task(http.request(Route("POST", f"/channels/{room.id}/typing")))
        while not typing.done():
            await clock.advance(0.25)
        with pytest.raises(RetryLater):
            typing.result()
        await clock.advance(4.0)
        assert await asyncio.gather(*busy) == [True] * (40 * MOST)
        assert server.typing(room) == []


@pytest.mark.parametrize(
    ("method", "path", "rank"),
    [
        ("POST", "/channels/{channel_id}/messages", Rank.ANSWER),
        ("PUT", "/applications/{application_id}/commands", Rank.ANSWER),
        ("POST", "/channels/{channel_id}/messages/{message_id}/threads", Rank.ANSWER),
        ("PATCH", "/channels/{channel_id}/messages/{message_id}", Rank.LIVE),
        ("DELETE", "/channels/{channel_id}/messages/{message_id}", Rank.LIVE),
        ("GET", "/channels/{channel_id}/messages", Rank.LIVE),
        ("POST", "/channels/{channel_id}/typing", Rank.TYPING),
    ],
)
def test_what_a_request_is_for(method: str, path: str, rank: Rank) -> None:
    assert rank_of(Route(method, path, channel_id=1, message_id=2, application_id=3)) is rank


@pytest.mark.usefixtures("no_proxy")
@pytest.mark.parametrize("by", ["config", "environment"])
async def test_the_proxy_leads_to_the_gateway_and_to_everything_else(by: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Complaint 147."""
    async with LoopbackDiscord() as server, proxy_to(server) as proxy:
        changes = dict(OUTSIDE)
        if by == "config":
            changes["proxy"] = proxy.address
        else:
            monkeypatch.setenv("HTTP_PROXY", proxy.address)  # the loopback Discord is a plain one
        async with connected(server, **changes) as bot:
            assert bot.client.http.proxy == proxy.address
        assert any(b"/gw?" in line for line in proxy.seen)
        assert any(b"/api/v10/users/@me" in line for line in proxy.seen)


@pytest.mark.usefixtures("no_proxy")
def test_which_proxy_is_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    assert proxy_of(DiscordConfig()) is None
    monkeypatch.setenv("HTTPS_PROXY", "http://upper:1")
    assert proxy_of(DiscordConfig()) == "http://upper:1"
    monkeypatch.setenv("https_proxy", "http://lower:1")
    assert proxy_of(DiscordConfig()) == "http://lower:1"
    assert proxy_of(DiscordConfig(proxy="http://own:1")) == "http://own:1"
    monkeypatch.setenv("no_proxy", "example.org,discord.com")
    assert proxy_of(DiscordConfig()) is None
    monkeypatch.setenv("no_proxy", "example.org")
    monkeypatch.setenv("https_proxy", "socks5://lower:1")
    assert proxy_of(DiscordConfig()) is None


def test_a_proxy_is_shown_without_its_password() -> None:
    assert shown("http://me:hunter2@proxy.example.org:3128") == "http://proxy.example.org:3128"


@pytest.mark.parametrize(("given", "token"), [("MTE.x.y", "MTE.x.y"), (" Bot MTE.x.y \n", "MTE.x.y")])
def test_the_token_of_the_environment(given: str, token: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DISCORD_TOKEN", given)
    assert token_of(DiscordConfig()) == token


@pytest.mark.parametrize("given", ["", " ", "two words", "naïve"])
def test_what_is_no_token_is_said_at_once(given: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DISCORD_TOKEN", given)
    with pytest.raises(LoginNeeded, match="DISCORD_TOKEN") as caught:
        token_of(DiscordConfig())
    assert not given.strip() or given not in str(caught.value)


async def test_a_gateway_is_followed_to_another_port_but_to_no_other_host() -> None:
    """Discord says where to resume, and a relay hands that on as it is."""
    async with paced() as (server, http, _clock), LoopbackDiscord() as other:
        for named, port in (
            (other.gateway_url, other.gateway_url),
            ("wss://gateway.discord.invalid", server.gateway_url),
        ):
            socket = await http.ws_connect(f"{named}?v=10")
            assert socket.get_extra_info("peername")[1] == URL(port).port


async def test_where_nothing_answers_it_is_not_resumed_again() -> None:
    async with paced() as (_server, http, _clock):
        nowhere = "ws://127.0.0.1:9/gw?v=10"
        with pytest.raises(OSError, match="Cannot connect"):
            await http.ws_connect(nowhere)
        assert (await http.ws_connect(nowhere)).closed is False


@pytest.mark.parametrize(
    ("given", "whole"),
    [
        ("https://discord.com", "https://discord.com/api/v10"),
        ("https://discord.com/api", "https://discord.com/api/v10"),
        ("https://discord.com/relay", "https://discord.com/relay/api/v10"),
        ("https://discord.com/api/v10", None),
        ("https://discord.com/api/v9", None),
    ],
)
def test_what_an_address_lacks(given: str, whole: str | None) -> None:
    assert completed(given) == whole
