"""The real client library finds a Discord that is as it knows it."""

import asyncio
import io

import discord
import pytest

from kesoku.testing.discord import LoopbackDiscord
from kesoku.testing.waiting import PATIENCE, until

from .conftest import Band, Bot, Connect


async def test_the_client_logs_in_and_finds_its_guild(server: LoopbackDiscord, band: Band, bot: Connect) -> None:
    async with bot() as client:
        assert client.user is not None
        assert client.user.id == server.bot_id
        guild = client.get_guild(band.guild.id)
        assert guild is not None
        assert guild.me.id == server.bot_id
        channel = guild.get_channel(band.general.id)
        assert channel is not None
        assert channel.permissions_for(guild.me).send_messages
        routes = [each.route for each in server.requests]
        assert routes == ["GET /users/@me", "GET /oauth2/applications/@me"]


async def test_a_message_with_a_file_arrives_and_is_answered(server: LoopbackDiscord, band: Band, bot: Connect) -> None:
    async with bot(allowed_mentions=discord.AllowedMentions.none()) as client:
        said = await server.say(band.general, band.ada, "look <@BOT>", attachments=[("a b.txt", b"x", "text/plain")])
        heard = await client.hears(said.content)
        assert [each.id for each in heard.mentions] == [server.bot_id]
        assert await heard.attachments[0].read() == b"x"
        file = discord.File(io.BytesIO(b"png"), "my plot.png", description="a plot")
        await heard.reply("seen, @everyone", file=file)
        _, answer = server.messages(band.general)
        assert (answer.content, answer.reply_to, answer.author_id) == ("seen, @everyone", said.id, server.bot_id)
        assert (answer.mentions, answer.mention_everyone) == ([], False)
        (plot,) = answer.attachments
        assert (plot.name, plot.data, plot.description, plot.content_type) == (
            "my_plot.png",
            b"png",
            "a plot",
            "image/png",
        )
        back = await client.hears("seen, @everyone")
        assert str(back.nonce) == str(answer.nonce)


async def test_edits_deletions_typing_and_reactions(server: LoopbackDiscord, band: Band, bot: Connect) -> None:
    async with bot() as client:
        channel = client.get_partial_messageable(band.general.id)
        async with channel.typing():
            sent = await channel.send("one")
        await sent.edit(content="two")
        await sent.edit(content="three")
        await sent.add_reaction("👀")
        (message,) = server.messages(band.general)
        assert (message.content, message.edits, list(message.reactions)) == ("three", ["two", "three"], ["👀"])
        await sent.remove_reaction("👀", discord.Object(server.bot_id))
        assert message.reactions == {}
        assert len(server.typing(band.general)) == 1
        await sent.delete()
        assert server.messages(band.general) == []
        assert [each.deleted for each in server.everything(band.general)] == [True]
        with pytest.raises(discord.NotFound):
            await sent.delete()


async def test_a_direct_message(server: LoopbackDiscord, band: Band, bot: Connect) -> None:
    async with bot() as client:
        await server.say(server.direct(band.ada), band.ada, "psst")
        heard = await client.hears("psst")
        assert isinstance(heard.channel, discord.DMChannel)
        user = await client.fetch_user(band.ada.id)
        await user.send("yes?")
        assert [each.content for each in server.messages(server.direct(band.ada))] == ["psst", "yes?"]


async def test_a_thread_is_begun_renamed_and_put_away(server: LoopbackDiscord, band: Band, bot: Connect) -> None:
    async with bot() as client:
        said = await server.say(band.general, band.ada, "a topic")
        heard = await client.hears("a topic")
        thread = await heard.create_thread(name="topic", auto_archive_duration=60)
        assert thread.id == said.id
        await thread.send("inside")
        await thread.edit(name="another topic")
        await thread.edit(archived=True)
        assert said.thread is not None
        assert (said.thread.name, said.thread.archived) == ("another topic", True)
        assert [each.content for each in server.messages(said.thread)] == ["inside"]
        assert [int(each.type) for each in server.everything(said.thread)] == [21, 0, 4]
        await client.get_partial_messageable(thread.id).send("again")
        assert not said.thread.archived
        with pytest.raises(discord.HTTPException) as told:
            await heard.create_thread(name="topic")
        assert told.value.code == 160004


async def test_what_was_missed_is_told_after_a_lost_connection(
    server: LoopbackDiscord, band: Band, bot: Connect
) -> None:
    async with bot() as client:
        await server.drop()
        await server.say(band.general, band.ada, "missed")
        await client.hears("missed")
        assert (server.identifies, server.resumes) == (1, 1)
        await server.reconnect()
        await until(lambda: resumed(server, 2), what="a second resume")


async def test_a_forgotten_session_begins_anew(server: LoopbackDiscord, band: Band, bot: Connect) -> None:
    async with bot() as client:
        client.told.clear()
        server.forget_sessions()
        await server.drop(4000)
        await asyncio.wait_for(client.told.wait(), PATIENCE)
        assert (server.identifies, server.resumes) == (2, 0)
        await server.say(band.general, band.ada, "here again")
        await client.hears("here again")


async def test_an_invalid_session_begins_anew_or_is_resumed(server: LoopbackDiscord, band: Band, bot: Connect) -> None:
    async with bot() as client:
        await server.invalid(resumable=True)
        await until(lambda: resumed(server, 1), what="a resume")
        client.told.clear()
        await server.invalid()
        await asyncio.wait_for(client.told.wait(), PATIENCE)
        assert server.identifies == 2


async def test_a_wrong_token_does_not_log_in(server: LoopbackDiscord, bot: Connect) -> None:
    async with Bot() as client:
        with pytest.raises(discord.LoginFailure):
            await client.login("wrong")


async def test_intents_that_are_not_allowed(server: LoopbackDiscord, bot: Connect) -> None:
    server.disallow_intents()
    async with Bot() as client:
        with pytest.raises(discord.PrivilegedIntentsRequired):
            await client.start(server.token)


async def resumed(server: LoopbackDiscord, times: int) -> bool:
    return server.resumes == times and server.connections == 1
