"""What people write besides texts, and what Discord itself writes, over the wire."""

from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from kesoku.testing.discord import Channel, MessageType

from .message_stage import Stage, stage, texts
from .test_reading import tell, wired


async def _forwarded(on: Stage, chat: Channel) -> None:
    said = await on.server.say(on.room, on.bob, "`Bob` <@1> at `now`:\nnews", attachments=[("a.txt", b"yes", "")])
    await on.server.forward(chat, on.ada, said)


async def _sticker_forwarded(on: Stage, chat: Channel) -> None:
    await on.server.forward(chat, on.ada, await on.server.say(on.room, on.bob, "", stickers=["Wave"]))


async def _poll(on: Stage, chat: Channel) -> None:
    await on.server.poll(chat, on.ada, "Which song?", ["Flashbacker", "Gotoh"])


async def _sticker(on: Stage, chat: Channel) -> None:
    await on.server.say(chat, on.ada, "", stickers=["Wave"])


@pytest.mark.parametrize(
    ("does", "body"),
    [
        (_forwarded, ["Forwarded message:", "> `Bob` <@1> at `now`:", "> news"]),
        (_sticker_forwarded, ["Forwarded message:", "> (sticker: Wave)"]),
        (_poll, ["(poll: Which song? Answers: Flashbacker; Gotoh)"]),
        (_sticker, ["(sticker: Wave)"]),
    ],
)
async def test_what_is_no_text_reaches_the_model(
    tmp_path: Path, does: Callable[[Stage, Channel], Awaitable[None]], body: list[str]
) -> None:
    """Live, and where it was missed; of what is forwarded the files, too."""
    async with stage(tmp_path) as on:
        chat = on.server.direct(on.ada)
        async with on.running():
            await does(on, chat)
            await on.prompts(1)
        await does(on, chat)
        async with on.running():
            for record in await on.prompts(2):
                assert record.message.rendered.splitlines()[1:][: len(body)] == body
                files = [each.size for each in record.message.content.attachments]
                assert files == ([3] if does is _forwarded else [])


async def test_what_discord_writes_is_nothing_to_the_bot(tmp_path: Path) -> None:
    """Pins, joins, boosts, threads, and what it may write one day: also in a channel where all is answered, and in the
    name of somebody who may talk to the bot. The cursor goes over it."""
    async with stage(tmp_path) as on, on.running(channels={str(on.room.id): {}}) as bot:
        kinds = [each for each in MessageType if each.is_system]
        for kind in kinds:
            await on.server.system(on.room, kind, on.ada, "<@BOT> hello", mentions=[on.server.world.bot])
        await on.server.say(on.room, on.ada, "after")
        assert texts(await on.prompts(1)) == ["after"]
        await on.settled(bot, len(kinds) + 1)
        assert await bot.inbox.state.get("seen") == str(on.server.messages(on.room)[-1].id)


@pytest.mark.parametrize("author", [{}, {"id": "5"}, None])
async def test_a_message_of_nobody_is_left_out(tmp_path: Path, author: object) -> None:
    """It ends neither the connection nor what comes after it."""
    async with stage(tmp_path) as on, on.running() as bot:
        before = wired(on, await on.server.say(on.room, on.ada, "<@BOT> one"))
        tell(on, "MESSAGE_CREATE", {**before, "id": str(on.server.world.snowflakes.next()), "author": author})
        await on.server.say(on.room, on.ada, "<@BOT> two")
        assert texts(await on.prompts(2)) == ["one", "two"]
        assert (on.server.identifies, bot.adapter.readies) == (1, 1)


async def test_a_server_that_is_away_holds_up_no_other_place(tmp_path: Path) -> None:
    """What is said there when it is back is heard, in the same session."""
    async with stage(tmp_path) as on, on.running() as bot:
        on.server.outage(on.guild)
        await on.server.say(on.server.direct(on.ada), on.ada, "one")
        await on.prompts(1)
        on.server.back(on.guild)
        await on.server.say(on.room, on.ada, "<@BOT> two")
        assert texts(await on.prompts(2)) == ["one", "two"]
        assert bot.adapter.readies == 1


async def test_who_is_banned_takes_their_questions_along(tmp_path: Path) -> None:
    """Discord deletes what they wrote, all at once; a prompt that waits is withdrawn."""
    async with stage(tmp_path) as on, on.running() as bot:
        await on.server.say(on.room, on.ada, "<@BOT> one")
        await on.server.say(on.room, on.bob, "<@BOT> two")
        first, second = await on.prompts(2)
        on.server.ban(on.guild, on.ada)
        await on.settled(bot, 3)
        assert [(await bot.status(each)).value for each in (first, second)] == ["interrupted", "pending_agent"]
