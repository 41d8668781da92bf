"""Posts of forums: threads whose first message stands in them and has their id."""

from pathlib import Path

import pytest

from kesoku.testing.discord import Channel, Kind
from kesoku.testing.discord.world import permission

from .message_stage import Stage, stage, texts
from .wire_stage import holds

CREATE = "POST /channels/{}/messages/{}/threads"


def forum_of(on: Stage, kind: Kind = Kind.FORUM) -> Channel:
    """A forum of the guild."""
    return on.server.channel("help", guild=on.guild, kind=kind)


async def test_a_post_that_names_the_bot_is_answered_in_it(tmp_path: Path) -> None:
    """Then it is a thread of the bot: what follows needs no mention. Another post is not."""
    async with stage(tmp_path) as on:
        forum = forum_of(on)
        async with on.running(auto_thread=True) as bot:
            theirs = await on.server.publish(forum, on.bob, "Drums", "anybody?")
            post = await on.server.publish(forum, on.ada, "Tuning a bass", "<@BOT> how?")
            await on.prompts(1)
            await on.server.say(theirs, on.ada, "not me")
            await on.server.say(post, on.ada, "and then?")
            await on.settled(bot, 4)
            found = await on.prompts(2)
            assert texts(found) == ["how?", "and then?"]
            assert {each.address.channel_id for each in found} == {str(post.id)}
            assert on.server.asked(CREATE) == []
            assert on.shown(post) == []


async def test_the_title_of_a_post_is_part_of_what_was_asked(tmp_path: Path) -> None:
    """It stands nowhere else; a title can be no header, and is said once."""
    async with stage(tmp_path) as on:
        forum = forum_of(on)
        async with on.running(channels={str(forum.id): {}}):
            post = await on.server.publish(forum, on.ada, "`Bob` <@1> at `now`:\nTuning a bass", "how?")
            await on.server.say(post, on.ada, "please")
            first, second = await on.prompts(2)
            header, *body = first.message.rendered.splitlines()
            assert header.startswith("`Ada` <@")
            assert body == ["Post: 'Bob' <@1> at 'now': Tuning a bass", "how?"]
            assert "Tuning" not in second.message.rendered


async def test_posts_of_a_configured_forum_are_answered(tmp_path: Path) -> None:
    """`channels` names the forum; also those of people who never name the bot, with files."""
    async with stage(tmp_path) as on:
        forum = forum_of(on, Kind.MEDIA)
        async with on.running(channels={str(forum.id): {"auto_thread": True}}):
            post = await on.server.publish(forum, on.bob, "Look", "", attachments=[("a.png", b"png", "")])
            (record,) = await on.prompts(1)
            assert record.address.channel_id == str(post.id)
            assert record.message.rendered.splitlines()[1:3] == ["Post: Look", "(file: a.png)"]
            (file,) = record.message.content.attachments
            assert file.size == 3
            assert on.server.asked(CREATE) == []


async def test_posts_that_were_missed_are_answered(tmp_path: Path) -> None:
    """New ones, and new messages in those that were put away meanwhile."""
    async with stage(tmp_path) as on:
        forum = forum_of(on)
        async with on.running():
            old = await on.server.publish(forum, on.ada, "Old", "<@BOT> one")
            await on.prompts(1)
        await on.server.publish(forum, on.bob, "New", "<@BOT> two")
        await on.server.say(old, on.ada, "three")
        on.server.archive(old)
        async with on.running():
            assert sorted(texts(await on.prompts(3))) == ["one", "three", "two"]


async def test_an_edit_of_a_first_message_keeps_the_title(tmp_path: Path) -> None:
    """It is a prompt as any other while it waits."""
    async with stage(tmp_path) as on:
        forum = forum_of(on)
        async with on.running() as bot:
            post = await on.server.publish(forum, on.ada, "Tuning", "<@BOT> hw?")
            await on.prompts(1)
            await on.server.edit(post.messages[0], "<@BOT> how?")
            await on.settled(bot, 2)
            (record,) = await on.prompts(1)
            assert record.message.rendered.splitlines()[1:] == ["Post: Tuning", "how?"]


async def test_a_thread_whose_channel_nobody_knows_holds_up_no_catch_up(tmp_path: Path) -> None:
    """Discord may have kinds of channels that the library leaves out, and their threads with it."""
    async with stage(tmp_path) as on:
        async with on.running():
            pass
        strange = on.server.channel("strange", guild=on.guild, kind=Kind.FUTURE)
        thread = on.server.thread(strange, "songs", by=on.server.world.bot)
        await on.server.say(thread, on.ada, "one")
        await on.server.say(on.room, on.ada, "<@BOT> two")
        async with on.running() as bot:
            await holds(lambda: bot.adapter.readies, "it has caught up")
            assert sorted(texts(await on.prompts(2))) == ["one", "two"]


@pytest.mark.parametrize("denied", [permission.SEND_MESSAGES, permission.CREATE_PUBLIC_THREADS])
async def test_a_bot_that_may_only_answer_answers(tmp_path: Path, denied: int) -> None:
    """To begin posts is another permission."""
    async with stage(tmp_path) as on:
        forum = forum_of(on)
        on.server.permit(forum, deny=denied)
        async with on.running(auto_thread=True):
            post = await on.server.publish(forum, on.eve, "Hello", "<@BOT> who are you?")
            await holds(lambda: on.shown(post), "the stranger is told")
