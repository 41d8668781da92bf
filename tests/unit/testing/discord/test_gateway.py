"""The gateway takes what Discord's takes, and closes with its codes."""

from typing import Any

import pytest

from kesoku.testing.discord import LoopbackDiscord
from kesoku.testing.discord.world import permission
from kesoku.testing.waiting import until

from .conftest import INTENTS, Band, Open

PROPERTIES = {"os": "linux", "browser": "hand", "device": "hand"}


def identify(server: LoopbackDiscord, **more: Any) -> dict[str, Any]:
    return {"token": server.token, "properties": PROPERTIES, "intents": INTENTS, **more}


async def test_events_are_numbered_and_heartbeats_answered(server: LoopbackDiscord, band: Band, gateway: Open) -> None:
    async with gateway() as socket:
        ready = await socket.identify()
        assert ready["resume_gateway_url"] == server.gateway_url
        assert [each["id"] for each in ready["guilds"]] == [str(band.guild.id)]
        guild = await socket.receive()
        assert (guild["t"], guild["s"]) == ("GUILD_CREATE", 2)
        assert [each["id"] for each in guild["d"]["channels"]] == [str(band.general.id)]
        await socket.send(1, 2)
        assert (await socket.receive())["op"] == 11


async def test_frames_are_compressed_in_one_stream_when_asked(
    server: LoopbackDiscord, band: Band, gateway: Open
) -> None:
    async with gateway("v=10&encoding=json&compress=zlib-stream") as socket:
        await socket.identify()
        await server.say(band.general, band.ada, "packed")
        assert (await socket.event("MESSAGE_CREATE"))["d"]["content"] == "packed"


@pytest.mark.parametrize(
    ("more", "code"),
    [
        ({"token": "wrong"}, 4004),
        ({"intents": 1 << 40}, 4013),
        ({"intents": "all"}, 4013),
        ({"shard": [1, 1]}, 4010),
        ({"properties": None}, 4002),
    ],
)
async def test_a_wrong_identify_is_told_by_its_code(
    server: LoopbackDiscord, gateway: Open, more: dict[str, Any], code: int
) -> None:
    async with gateway() as socket:
        await socket.send(2, identify(server, **more))
        assert await socket.code() == code
        assert server.sessions == []


async def test_identify_comes_first_and_once(server: LoopbackDiscord, gateway: Open) -> None:
    async with gateway() as socket:
        await socket.send(3, {})
        await socket.send(2, identify(server))
        assert await socket.code() == 4003
        assert server.identifies == 0
    async with gateway() as socket:
        await socket.identify()
        await socket.send(2, identify(server))
        assert await socket.code() == 4005


@pytest.mark.parametrize(("text", "code"), [("{", 4002), ("[]", 4002), ('{"op": 77}', 4001), ("x" * 4097, 4002)])
async def test_frames_that_are_none(gateway: Open, text: str, code: int) -> None:
    async with gateway() as socket:
        await socket.raw(text)
        assert await socket.code() == code


async def test_other_versions_are_not_spoken(gateway: Open) -> None:
    async with gateway("v=5") as socket:
        assert await socket.code() == 4012


async def test_more_than_120_events_a_minute_are_too_many(gateway: Open) -> None:
    async with gateway() as socket:
        for _ in range(121):
            await socket.send(1)
        assert await socket.code() == 4008


async def test_privileged_intents_can_be_switched_off(server: LoopbackDiscord, gateway: Open) -> None:
    server.disallow_intents()
    async with gateway() as socket:
        await socket.send(2, identify(server))
        assert await socket.code() == 4014
    async with gateway() as socket:
        await socket.identify(intents=1 | 1 << 9)


async def test_a_heartbeat_that_stays_away_ends_the_connection(gateway: Open, server: LoopbackDiscord) -> None:
    server.heartbeat_interval, server.heartbeat_grace = 0.01, 0.0
    async with gateway() as socket:
        await socket.identify()
        assert await socket.code() == 4009
        assert server.sessions == []


async def test_heartbeats_can_be_left_without_an_answer(server: LoopbackDiscord, band: Band, gateway: Open) -> None:
    server.mute_acks()
    async with gateway() as socket:
        await socket.identify(intents=1 << 9)
        await socket.send(1, 1)
        await server.say(band.general, band.ada, "later")
        assert (await socket.receive())["t"] == "MESSAGE_CREATE"


async def test_resume_replays_exactly_what_was_missed(server: LoopbackDiscord, band: Band, gateway: Open) -> None:
    async with gateway() as socket:
        ready = await socket.identify()
        await server.say(band.general, band.ada, "heard")
        number = (await socket.event("MESSAGE_CREATE"))["s"]
        await socket.close()
    await until(lambda: connected(server, 0), what="the connection ends")
    for text in ("one", "two"):
        await server.say(band.general, band.ada, text)
    async with gateway() as socket:
        await socket.send(6, {"token": server.token, "session_id": ready["session_id"], "seq": number})
        assert (await socket.receive())["op"] == 10
        told = [await socket.receive() for _ in range(3)]
        assert [(each["t"], each["s"]) for each in told] == [
            ("MESSAGE_CREATE", number + 1),
            ("MESSAGE_CREATE", number + 2),
            ("RESUMED", number + 3),
        ]
        assert [each["d"]["content"] for each in told[:2]] == ["one", "two"]


async def test_a_session_ends_when_the_client_says_so(server: LoopbackDiscord, gateway: Open) -> None:
    async with gateway() as socket:
        ready = await socket.identify()
        await socket.close(1000)
    await until(lambda: connected(server, 0), what="the connection ends")
    async with gateway() as socket:
        await socket.send(6, {"token": server.token, "session_id": ready["session_id"], "seq": 1})
        assert [(await socket.receive())["op"], (await socket.receive())["op"]] == [10, 9]


async def test_a_number_that_was_never_sent_cannot_be_resumed(server: LoopbackDiscord, gateway: Open) -> None:
    async with gateway() as socket:
        ready = await socket.identify()
        await socket.close()
    async with gateway() as socket:
        await socket.send(6, {"token": server.token, "session_id": ready["session_id"], "seq": 99})
        assert await socket.code() == 4007


async def test_without_the_intent_only_some_messages_have_content(
    server: LoopbackDiscord, band: Band, gateway: Open
) -> None:
    async with gateway() as socket:
        await socket.identify(intents=1 | 1 << 9 | 1 << 12)
        file = ("a.txt", b"x", "text/plain")
        secret = await server.say(band.general, band.ada, "secret", attachments=[file])
        await server.say(band.general, band.ada, "hi <@BOT>", reply_to=secret)
        await server.say(server.direct(band.ada), band.ada, "direct")
        told = [(await socket.event("MESSAGE_CREATE"))["d"] for _ in range(3)]
        assert [each["content"] for each in told] == ["", f"hi <@{server.bot_id}>", "direct"]
        assert (told[0]["attachments"], told[1]["referenced_message"]["content"]) == ([], "")


async def test_intents_choose_what_is_told(server: LoopbackDiscord, band: Band, gateway: Open) -> None:
    async with gateway() as socket:
        await socket.identify(intents=1 << 12)
        await server.say(band.general, band.ada, "in the guild")
        await server.say(server.direct(band.ada), band.ada, "direct")
        frame = await socket.receive()
        assert (frame["t"], frame["d"]["content"]) == ("MESSAGE_CREATE", "direct")


async def test_channels_that_the_bot_does_not_see_are_not_told(
    server: LoopbackDiscord, band: Band, gateway: Open
) -> None:
    hidden = server.channel("hidden", guild=band.guild)
    server.permit(hidden, deny=permission.VIEW_CHANNEL)
    async with gateway() as socket:
        await socket.identify()
        await server.say(hidden, band.ada, "psst")
        await server.say(band.general, band.ada, "loud")
        assert (await socket.event("MESSAGE_CREATE"))["d"]["content"] == "loud"


async def test_shards_share_the_guilds(server: LoopbackDiscord, band: Band, gateway: Open) -> None:
    mine = (band.guild.id >> 22) % 2
    async with gateway() as one, gateway() as other:
        assert (await one.identify(shard=[mine, 2]))["guilds"] != []
        assert (await other.identify(shard=[1 - mine, 2]))["guilds"] == []


async def test_members_are_told_with_the_nonce_of_who_asks(server: LoopbackDiscord, band: Band, gateway: Open) -> None:
    async with gateway() as socket:
        await socket.identify(intents=INTENTS | 2)
        await socket.send(8, {"guild_id": band.guild.id, "query": "", "limit": 0, "nonce": "abc"})
        chunk = (await socket.event("GUILD_MEMBERS_CHUNK"))["d"]
        assert chunk["nonce"] == "abc"
        assert {each["user"]["id"] for each in chunk["members"]} >= {str(band.ada.id), str(server.bot_id)}
        await socket.send(8, {"guild_id": "none"})
        assert await socket.code() == 4002


async def test_members_are_told_to_who_may_know(server: LoopbackDiscord, band: Band, gateway: Open) -> None:
    async with gateway() as socket:
        await socket.identify()
        server.join(band.guild, band.ada, nick="A")
        server.join(band.guild, server.world.bot, nick="B")
        assert (await socket.event("GUILD_MEMBER_UPDATE"))["d"]["nick"] == "B"


async def test_a_preview_is_an_update_that_changes_no_text(server: LoopbackDiscord, band: Band, gateway: Open) -> None:
    async with gateway() as socket:
        await socket.identify()
        said = await server.say(band.general, band.ada, "https://example.org/")
        await server.preview(said)
        shown = (await socket.event("MESSAGE_UPDATE"))["d"]
        assert (shown["content"], shown["edited_timestamp"]) == ("https://example.org/", None)
        assert len(shown["embeds"]) == 1
        await server.edit(said, "no link")
        assert (await socket.event("MESSAGE_UPDATE"))["d"]["edited_timestamp"] is not None
        await server.redeliver(said)
        assert (await socket.event("MESSAGE_CREATE"))["d"]["id"] == str(said.id)
        await server.delete(said)
        assert (await socket.event("MESSAGE_DELETE"))["d"]["id"] == str(said.id)


async def test_a_reply_tells_the_author_unless_it_does_not(server: LoopbackDiscord, band: Band, gateway: Open) -> None:
    async with gateway() as socket:
        await socket.identify()
        mine = await server.say(band.general, server.world.bot, "I said")
        await server.say(band.general, band.ada, "and?", reply_to=mine)
        await server.say(band.general, band.ada, "quietly", reply_to=mine, ping=False)
        told = [(await socket.event("MESSAGE_CREATE"))["d"] for _ in range(3)][1:]
        assert [[each["id"] for each in one["mentions"]] for one in told] == [[str(server.bot_id)], []]
        assert told[0]["referenced_message"]["content"] == "I said"


async def test_webhooks_and_voice_messages(server: LoopbackDiscord, band: Band, gateway: Open) -> None:
    async with gateway() as socket:
        await socket.identify()
        await server.say(band.general, band.ada, "automatic", webhook=True)
        await server.say(band.general, band.ada, "", voice=True, attachments=[("voice.ogg", b"ogg", "audio/ogg")])
        hook, voice = [(await socket.event("MESSAGE_CREATE"))["d"] for _ in range(2)]
        assert (hook["webhook_id"], hook["author"]["bot"], "member" in hook) == (hook["author"]["id"], True, False)
        assert (voice["flags"], voice["attachments"][0]["duration_secs"]) == (8192, 1.5)


async def connected(server: LoopbackDiscord, count: int) -> bool:
    return server.connections == count
