"""What `kesoku doctor` finds out about a bot, at the loopback Discord."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from typing import Any

import pytest

from kesoku.adapter import Finding, Severity
from kesoku.testing.discord import Hang, Kind, Limited, LoopbackDiscord, Refusal
from kesoku_discord.config import DiscordConfig
from kesoku_discord.doctor import examine, library
from kesoku_discord.permissions import wished

from .wire_stage import configured

pytestmark = pytest.mark.usefixtures("no_proxy")
VIEW, SEND, ATTACH, THREADS, IN_THREADS, VOICE = 1 << 10, 1 << 11, 1 << 15, 1 << 35, 1 << 38, 1 << 46
CHANNEL = "GET /channels/{}"


@pytest.fixture
async def server() -> AsyncIterator[LoopbackDiscord]:
    async with LoopbackDiscord(token="MTE.hunter2.token") as made:
        yield made


async def told(config: DiscordConfig, *, seconds: float = 5.0) -> Sequence[Finding]:
    found = await examine("discord", config, seconds=seconds)
    assert {each.check for each in found} == {"adapters.discord"}
    assert not [each for each in found if "hunter2" in f"{each.text} {each.fix}"]
    assert not [each for each in found if each.severity is not Severity.OK and not each.fix]
    return found


def bad(found: Sequence[Finding]) -> list[Finding]:
    return [each for each in found if each.severity is not Severity.OK]


async def test_a_bot_that_is_well(server: LoopbackDiscord) -> None:
    room = server.channel("room", guild=server.guild("Band"))
    config = configured(server, channels={str(room.id): {}})
    found = await told(config)
    assert bad(found) == []
    text = "\n".join(each.text for each in found)
    for words in (
        f"logged in as {server.bot_name.lower()}",
        f"client_id={server.application_id}&permissions={wished(config)}&scope=bot+applications.commands",
        f"channel {room.id} (#room): has View Channels, Send Messages",
        f"api_base_url is {server.api_base_url}, not Discord's own",
    ):
        assert words in text


async def test_without_a_token_nothing_is_asked(server: LoopbackDiscord, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("DISCORD_TOKEN", raising=False)
    (finding,) = bad(await told(configured(server, token=None)))
    assert "there is no token; set DISCORD_TOKEN" in finding.text
    assert "Reset Token" in finding.fix
    assert server.requests == []


async def test_a_token_that_is_refused(server: LoopbackDiscord) -> None:
    (finding,) = bad(await told(configured(server, token="MTE.hunter2.wrong")))
    assert finding.severity is Severity.ERROR
    assert finding.text == "Discord does not take the token (status 401)"
    assert "Reset Token" in finding.fix


async def test_an_address_without_its_end_is_completed(server: LoopbackDiscord) -> None:
    config = configured(server, api_base_url=server.api_base_url.removesuffix("/v10"))
    assert not [each for each in await told(config) if "login" in each.text]


async def test_an_address_where_discord_is_not_is_named(server: LoopbackDiscord) -> None:
    (finding,) = bad(await told(configured(server, api_base_url=server.api_base_url.replace("v10", "v9"))))
    assert "/api/v9 is not Discord" in finding.text
    assert finding.fix == "check api_base_url"


async def test_an_intent_that_is_off(server: LoopbackDiscord) -> None:
    server.guild("Band")
    server.disallow_intents()
    (finding,) = bad(await told(configured(server)))
    assert finding.text == "the bot may not read what people write"
    assert "Message Content Intent" in finding.fix


async def test_what_lacks_in_a_channel_is_named(server: LoopbackDiscord) -> None:
    """Complaint 100."""
    room = server.channel("room", guild=server.guild("Band"))
    server.permit(room, deny=ATTACH | THREADS | VOICE)
    (finding,) = bad(await told(configured(server, auto_thread=True, channels={str(room.id): {}})))
    assert finding.text == f"channel {room.id} (#room): the bot lacks Attach Files, Create Public Threads"
    assert finding.severity is Severity.ERROR
    (without,) = bad(await told(configured(server, channels={str(room.id): {}})))
    assert without.text.endswith("the bot lacks Attach Files")


async def test_what_it_can_do_without_is_no_fault(server: LoopbackDiscord) -> None:
    room = server.channel("room", guild=server.guild("Band"))
    server.permit(room, deny=VOICE)
    found = await told(configured(server, channels={str(room.id): {}}))
    assert bad(found) == []
    assert any("but not Send Voice Messages, which it can do without" in each.text for each in found)


async def test_of_a_thread_the_permissions_of_its_channel_count(server: LoopbackDiscord) -> None:
    room = server.channel("room", guild=server.guild("Band"))
    thread = server.thread(room, "talk")
    server.permit(room, deny=ATTACH)
    (finding,) = bad(await told(configured(server, channels={str(thread.id): {}})))
    assert finding.text.endswith("the bot lacks Attach Files")


async def test_in_a_forum_it_need_not_begin_posts(server: LoopbackDiscord) -> None:
    """It answers in those of others, so neither that permission nor the one for threads lacks."""
    guild = server.guild("Band")
    forum = server.channel("help", guild=guild, kind=Kind.FORUM)
    server.permit(forum, deny=SEND | THREADS)
    settings = configured(server, auto_thread=True, channels={str(forum.id): {}})
    assert bad(await told(settings)) == []
    server.permit(forum, deny=IN_THREADS)
    (finding,) = bad(await told(settings))
    assert finding.text.endswith("the bot lacks Attach Files, Send Messages in Threads")


async def test_channels_that_it_does_not_see(server: LoopbackDiscord) -> None:
    hidden = server.channel("hidden", guild=server.guild("Band"))
    server.permit(hidden, deny=VIEW)
    found = bad(await told(configured(server, channels={str(hidden.id): {}, "123": {}})))
    assert [each.text.partition(":")[0] for each in found] == [f"channel {hidden.id}", "channel 123"]
    assert found[0].text.endswith("the bot lacks View Channels")
    assert "View Channels" in found[0].fix
    assert "gone" in found[1].text


async def test_a_direct_conversation_needs_no_permission(server: LoopbackDiscord) -> None:
    server.guild("Band")
    direct = server.direct(server.user("Ada"))
    assert bad(await told(configured(server, channels={str(direct.id): {}}))) == []


async def test_a_bot_that_is_nowhere(server: LoopbackDiscord) -> None:
    (finding,) = bad(await told(configured(server)))
    assert finding.severity is Severity.WARNING
    assert finding.text == "it is in no server; only direct messages reach it"


async def test_a_server_whose_roles_do_not_suffice(server: LoopbackDiscord) -> None:
    guild = server.guild("Band")
    guild.everyone.permissions = VIEW | SEND
    (finding,) = bad(await told(configured(server)))
    assert finding.text.startswith("in the server Band it lacks Attach Files")


async def test_nothing_answers() -> None:
    config = DiscordConfig.model_validate({"token": "MTE.hunter2.x", "api_base_url": "http://127.0.0.1:9/api/v10"})
    (finding,) = bad(await told(config))
    assert finding.text == "Discord cannot be reached: ConnectError"
    assert "whether a proxy must be set" in finding.fix


async def test_the_proxy_is_named_without_its_password(
    server: LoopbackDiscord, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Complaint 147."""
    monkeypatch.setenv("HTTP_PROXY", "http://me:hunter2@127.0.0.1:9")
    found = await told(configured(server))
    assert found[0].text == "goes through the proxy http://127.0.0.1:9"
    assert bad(found)[0].fix == "check the proxy http://127.0.0.1:9"


async def test_it_ends_in_time(server: LoopbackDiscord) -> None:
    server.script(Hang(), on="GET /users/@me")
    (finding,) = bad(await told(configured(server), seconds=0.1))
    assert "did not answer within 0.1 s" in finding.text


async def test_trouble_with_one_channel_hides_no_other(server: LoopbackDiscord) -> None:
    guild = server.guild("Band")
    one, two = server.channel("one", guild=guild), server.channel("two", guild=guild)
    server.script(Refusal(500, 0, "Internal"), on=CHANNEL, channel=one)
    found = await told(configured(server, channels={str(one.id): {}, str(two.id): {}}))
    assert [each.text.partition(":")[0] for each in bad(found)] == [f"channel {one.id}"]
    assert any("(#two): has" in each.text for each in found)


async def test_limits_that_the_bot_has_used_up_are_waited_for(server: LoopbackDiscord) -> None:
    room = server.channel("room", guild=server.guild("Band"))
    for route in ("GET /users/@me", CHANNEL, "GET /guilds/{}"):
        server.script(Limited(0.01), on=route)
    assert bad(await told(configured(server, channels={str(room.id): {}}))) == []


async def test_what_many_channels_have_in_common_is_asked_once(server: LoopbackDiscord) -> None:
    guild = server.guild("Band")
    rooms = [server.channel(str(number), guild=guild) for number in range(9)]
    assert bad(await told(configured(server, channels={str(each.id): {} for each in rooms}))) == []
    assert len(server.asked("GET /guilds/{}")) == len(server.asked("GET /guilds/{}/members/{}")) == 1


@pytest.mark.parametrize(
    ("route", "words"),
    [
        ("GET /users/@me/guilds", "its servers cannot be listed"),
        ("GET /guilds/{}/members/{}", "its permissions cannot be read"),
        ("GET /applications/@me", "Discord refuses the login"),
    ],
)
async def test_what_cannot_be_asked_is_said(server: LoopbackDiscord, route: str, words: str) -> None:
    room = server.channel("room", guild=server.guild("Band"))
    server.script(Refusal(500, 0, "Internal"), on=route)
    (finding,) = bad(await told(configured(server, channels={str(room.id): {}})))
    assert words in finding.text
    assert "Discord had trouble of its own" in finding.text


@pytest.mark.parametrize(
    ("status", "body", "words"),
    [
        (200, b"[]", "what answers is not Discord"),
        (200, b"<html>", "what answers is not Discord"),
        (200, b'{"id": 1}', "what answers is not Discord"),
        (500, b"[]", "Discord refuses the login: Discord had trouble of its own (status 500)"),
        (429, b'{"retry_after": "soon"}', "what answers is not Discord"),
    ],
)
async def test_what_answers_is_not_discord(status: int, body: bytes, words: str) -> None:
    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        head = f"HTTP/1.1 {status} Odd\r\nContent-Type: application/json\r\nContent-Length: {len(body)}\r\n"
        writer.write(head.encode() + b"Connection: close\r\n\r\n" + body)
        await writer.drain()
        writer.close()

    async with await asyncio.start_server(answer, "127.0.0.1") as listening:
        port = listening.sockets[0].getsockname()[1]
        facts: dict[str, Any] = {"token": "MTE.hunter2.x", "api_base_url": f"http://127.0.0.1:{port}/api/v10"}
        (finding,) = bad(await told(DiscordConfig.model_validate(facts)))
    assert finding.text == words


def test_a_library_that_is_not_installed_is_named() -> None:
    assert library("discord") == ()
    (finding,) = library("helper", "not_there_at_all")
    assert (finding.check, finding.severity) == ("adapters.helper", Severity.ERROR)
    assert finding.fix == "pip install 'kesoku[discord]'"
