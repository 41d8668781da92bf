"""What people write besides texts and files, and what Discord itself writes, as the real client library reads it."""

import discord
import pytest

from kesoku.testing.discord import LoopbackDiscord, MessageType

from .conftest import INTENTS, Band, Connect, Hand, Open


async def test_a_forward_holds_what_was_said_and_not_by_whom(server: LoopbackDiscord, band: Band, bot: Connect) -> None:
    other = server.channel("other", guild=band.guild)
    async with bot() as client:
        said = await server.say(other, band.ada, "news", attachments=[("a.txt", b"yes", "")], stickers=["Wave"])
        await server.forward(band.general, band.ada, said)
        await client.hears("news")
        told = await client.hears("")
        (snapshot,) = told.message_snapshots
        assert told.type is discord.MessageType.default
        assert told.flags.forwarded
        assert told.reference is not None
        assert (told.reference.type, told.reference.message_id) == (discord.MessageReferenceType.forward, said.id)
        assert (snapshot.content, snapshot.stickers[0].name) == ("news", "Wave")
        assert await snapshot.attachments[0].read() == b"yes"


async def test_a_poll_and_a_sticker_have_no_text(server: LoopbackDiscord, band: Band, bot: Connect) -> None:
    async with bot() as client:
        await server.poll(band.general, band.ada, "Which song?", ["Flashbacker", "Gotoh"])
        poll = (await client.hears("")).poll
        assert poll is not None
        assert (poll.question, [each.text for each in poll.answers]) == ("Which song?", ["Flashbacker", "Gotoh"])
        await server.say(band.general, band.ada, "", stickers=["Wave"])
        assert [each.name for each in (await client.hears("")).stickers] == ["Wave"]


async def test_without_the_intent_a_poll_is_hidden(server: LoopbackDiscord, band: Band, gateway: Open) -> None:
    async with gateway() as socket:
        await socket.identify(INTENTS & ~(1 << 15))
        await server.poll(band.general, band.ada, "Which song?", ["Flashbacker"])
        assert "poll" not in (await socket.event("MESSAGE_CREATE"))["d"]


@pytest.mark.parametrize("kind", [each for each in MessageType if each.is_system])
async def test_the_library_reads_what_discord_writes(
    server: LoopbackDiscord, band: Band, bot: Connect, kind: MessageType
) -> None:
    async with bot() as client:
        await server.system(band.general, kind, band.ada, "about")
        assert (await client.hears("about")).type.value == int(kind)


async def test_messages_that_go_at_once_are_told_at_once(
    server: LoopbackDiscord, band: Band, gateway: Open, hand: Hand
) -> None:
    said = [await server.say(band.general, band.ada, f"{n}") for n in range(2)]
    async with gateway() as socket:
        await socket.identify()
        await server.delete(*said)
        told = (await socket.event("MESSAGE_DELETE_BULK"))["d"]
        assert told["ids"] == [str(each.id) for each in said]
    assert (await hand("GET", f"/channels/{band.general.id}/messages")).json() == []


async def test_who_is_banned_is_gone_with_what_they_wrote(
    server: LoopbackDiscord, band: Band, gateway: Open, hand: Hand
) -> None:
    bob = server.user("Bob")
    server.join(band.guild, bob)
    for by in (band.ada, bob):
        await server.say(band.general, by, by.name)
    async with gateway() as socket:
        await socket.identify(INTENTS | 1 << 2)
        server.ban(band.guild, band.ada)
        assert (await socket.event("GUILD_BAN_ADD"))["d"]["user"]["id"] == str(band.ada.id)
    assert [each.content for each in server.messages(band.general)] == ["Bob"]
    assert (await hand("GET", f"/guilds/{band.guild.id}/members/{band.ada.id}")).json()["code"] == 10007


async def test_a_guild_goes_and_comes_with_the_trouble_of_discord(
    server: LoopbackDiscord, band: Band, bot: Connect
) -> None:
    async with bot() as client:
        server.outage(band.guild)
        await server.say(server.direct(band.ada), band.ada, "first")
        await client.hears("first")
        guild = client.get_guild(band.guild.id)
        assert guild is not None
        assert guild.unavailable
        server.back(band.guild)
        await server.say(server.direct(band.ada), band.ada, "then")
        await client.hears("then")
        assert not guild.unavailable


async def test_slow_mode_is_told_and_holds_up_no_bot(
    server: LoopbackDiscord, band: Band, bot: Connect, hand: Hand
) -> None:
    async with bot() as client:
        thread = server.thread(band.general, "songs", by=band.ada)
        for place in (band.general, thread):
            server.slow(place, 600)
            await server.say(place, band.ada, "hm")
            assert (await client.hears("hm")).channel.slowmode_delay == 600  # type: ignore[union-attr]
            for _ in range(2):
                assert (await hand.send(place, content="x")).status_code == 200
