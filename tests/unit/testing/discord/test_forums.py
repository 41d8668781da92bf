"""Forums: they hold threads only, and the first message of each has its id."""

from typing import Any

import discord
import pytest

from kesoku.testing.discord import Kind, LoopbackDiscord
from kesoku.testing.discord.world import permission

from .conftest import Band, Connect, Hand


async def test_a_post_is_a_thread_whose_first_message_has_its_id(
    server: LoopbackDiscord, band: Band, bot: Connect
) -> None:
    forum = server.channel("help", guild=band.guild, kind=Kind.FORUM)
    async with bot() as client:
        post = await server.publish(forum, band.ada, "Tuning", "how?", attachments=[("a.txt", b"yes", "")])
        told = await client.hears("how?")
        assert isinstance(told.channel, discord.Thread)
        assert isinstance(told.channel.parent, discord.ForumChannel)
        assert (told.id, told.channel.id, told.channel.name, told.type) == (
            post.id,
            post.id,
            "Tuning",
            discord.MessageType.default,
        )
        assert await told.attachments[0].read() == b"yes"
        assert (await told.channel.fetch_message(post.id)).content == "how?"
        assert [each.content async for each in told.channel.history()] == ["how?"]


async def test_the_library_begins_a_post(server: LoopbackDiscord, band: Band, bot: Connect) -> None:
    server.channel("help", guild=band.guild, kind=Kind.FORUM)
    async with bot() as client:
        (forum,) = client.get_guild(band.guild.id).forums  # type: ignore[union-attr]
        made = await forum.create_thread(name="news", content="hello")
        assert (made.thread.id, made.message.content) == (made.message.id, "hello")
        assert made.thread.owner_id == server.bot_id


@pytest.mark.parametrize("kind", [Kind.FORUM, Kind.MEDIA])
async def test_a_forum_has_no_messages_of_its_own(server: LoopbackDiscord, band: Band, hand: Hand, kind: Kind) -> None:
    forum = server.channel("help", guild=band.guild, kind=kind)
    assert (await hand.send(forum, content="x")).json()["code"] == 50008
    assert (await hand("GET", f"/channels/{forum.id}/messages")).json()["code"] == 50024
    shown = (await hand("GET", f"/channels/{forum.id}")).json()
    assert (shown["type"], shown["last_message_id"], shown["available_tags"]) == (int(kind), None, [])
    post = await server.publish(forum, band.ada, "Tuning", "how?")
    assert (await hand("GET", f"/channels/{forum.id}")).json()["last_message_id"] == str(post.id)
    assert (await hand("GET", f"/channels/{post.id}")).json()["applied_tags"] == []


@pytest.mark.parametrize(
    ("body", "code"),
    [
        ({"name": "x"}, 50035),
        ({"name": "x", "message": "hello"}, 50035),
        ({"name": "x", "message": {}}, 50006),
        ({"name": "x", "message": {"content": "x" * 2001}}, 50035),
        ({"name": "x" * 101, "message": {"content": "x"}}, 50035),
        ({"message": {"content": "x"}}, 50035),
    ],
)
async def test_a_post_has_a_title_and_a_message(
    server: LoopbackDiscord, band: Band, hand: Hand, body: dict[str, Any], code: int
) -> None:
    forum = server.channel("help", guild=band.guild, kind=Kind.FORUM)
    assert (await hand("POST", f"/channels/{forum.id}/threads", body)).json()["code"] == code
    assert server.world.threads_in(forum) == []


async def test_a_post_needs_the_permission_to_send(server: LoopbackDiscord, band: Band, hand: Hand) -> None:
    forum = server.channel("help", guild=band.guild, kind=Kind.FORUM)
    body = {"name": "x", "message": {"content": "hello"}}
    server.permit(forum, deny=permission.SEND_MESSAGES)
    assert (await hand("POST", f"/channels/{forum.id}/threads", body)).json()["code"] == 50013
    post = await server.publish(forum, band.ada, "Tuning", "how?")
    assert (await hand.send(post, content="so")).status_code == 200, "in a post it is another permission"
    nested = f"/channels/{post.id}/messages/{post.id}/threads"
    assert (await hand("POST", nested, {"name": "x"})).json()["code"] == 50024
