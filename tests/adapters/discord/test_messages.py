"""Messages, edits and deletions, over the real library and the inbox of the core."""

from pathlib import Path
from typing import Any

import pytest

from kesoku.adapter.access import Access
from kesoku.messages.enums import MessageStatus
from kesoku.testing.discord import Broken, Message, Refusal

from .message_stage import Stage, message_ids, stage
from .wire_stage import holds

LOOK = "GET /channels/{}/messages/{}"


async def test_a_message_belongs_to_its_channel_or_thread(tmp_path: Path) -> None:
    """K-111, K-113; complaint 102: both messages in the thread are answered there."""
    async with stage(tmp_path) as on, on.running():
        thread = on.server.thread(on.room, "songs", by=on.server.world.bot)
        await on.server.say(on.room, on.ada, "<@BOT> one")
        await on.prompts(1)
        await on.server.say(thread, on.ada, "two")
        await on.server.say(thread, on.ada, "three")
        found = await on.prompts(3)
        assert [each.address.channel_id for each in found] == [str(on.room.id), str(thread.id), str(thread.id)]


async def test_a_prompt_waits_until_it_is_claimed(tmp_path: Path) -> None:
    """K-244."""
    async with stage(tmp_path) as on, on.running() as bot:
        await on.server.say(on.room, on.ada, "<@BOT> Build a new web component")
        (record,) = await on.prompts(1)
        assert record.status is MessageStatus.PENDING_AGENT
        await bot.claim()
        assert await bot.status(record) is MessageStatus.PROCESSING


async def test_only_what_is_addressed_is_heard(tmp_path: Path) -> None:
    """Complaint 105: also a bot that pings by a reply is not, and neither are joins, nor the bot itself."""
    async with stage(tmp_path) as on, on.running() as bot:
        robot = on.server.user("Robot", bot=True)
        on.server.join(on.guild, robot)
        ours = await on.server.say(on.room, on.server.world.bot, "<@BOT> I am")
        await on.server.say(on.room, on.ada, "hello all")
        await on.server.say(on.room, robot, "pong", reply_to=ours)
        await on.server.say(on.room, on.ada, "<@BOT> by hook", webhook=True)
        await on.settled(bot, 4)
        await on.server.say(on.room, on.ada, "thanks", reply_to=ours, ping=False)
        (record,) = await on.prompts(1)
        assert record.message.rendered.endswith(":\nthanks")


async def test_a_bot_in_a_thread_of_the_bot_is_not_heard(tmp_path: Path) -> None:
    """Complaint 107."""
    async with stage(tmp_path) as on, on.running() as bot:
        robot = on.server.user("Robot", bot=True)
        on.server.join(on.guild, robot)
        on.access = Access(allow=("everyone",))
        thread = on.server.thread(on.room, "songs", by=on.server.world.bot)
        await on.server.say(thread, robot, "and you?")
        await on.server.say(thread, robot, "<@BOT> and you?")
        await on.settled(bot, 2)
        assert await on.prompts(0) == []


async def test_direct_messages_are_heard_and_remembered(tmp_path: Path) -> None:
    """Complaint 104: they never get a thread."""
    async with stage(tmp_path) as on, on.running(auto_thread=True) as bot:
        direct = on.server.direct(on.ada)
        await on.server.say(direct, on.ada, "hi")
        (record,) = await on.prompts(1)
        assert record.address.channel_id == str(direct.id)
        assert await bot.inbox.state.get("direct") == [str(direct.id)]
        assert on.server.asked("POST /channels/{}/messages/{}/threads") == []


async def test_a_thread_that_was_begun_for_the_bot_is_its_own(tmp_path: Path) -> None:
    """Asked once a thread; other threads of people are theirs."""
    async with stage(tmp_path) as on, on.running() as bot:
        asked = await on.server.say(on.room, on.ada, "<@BOT> one")
        other = await on.server.say(on.room, on.ada, "hm")
        mine, theirs = (on.server.thread(on.room, "t", from_message=each) for each in (asked, other))
        for text in ("two", "three"):
            await on.server.say(theirs, on.ada, f"not {text}")
            await on.server.say(mine, on.ada, text)
        found = await on.prompts(3)
        assert [each.message.rendered.splitlines()[-1] for each in found] == ["one", "two", "three"]
        await on.settled(bot, 6)
        assert len(on.server.asked(LOOK)) == 2
        await on.prompts(3)


async def test_a_thread_whose_beginning_is_gone_is_not_its_own(tmp_path: Path) -> None:
    """Asked once."""
    async with stage(tmp_path) as on, on.running() as bot:
        asked = await on.server.say(on.room, on.ada, "<@BOT> one")
        thread = on.server.thread(on.room, "t", from_message=asked)
        on.server.script(Refusal(404, 10008, "Unknown Message"), on=LOOK)
        for text in ("two", "three"):
            await on.server.say(thread, on.ada, text)
        await on.settled(bot, 4)
        assert len(on.server.asked(LOOK)) == 1
        await on.prompts(1)


@pytest.mark.parametrize("trouble", [1, 3])
async def test_trouble_with_looking_up_loses_nothing(tmp_path: Path, trouble: int) -> None:
    """Asked again soon, a few times, and after that by the next session."""
    async with stage(tmp_path) as on, on.running(pauses=(0.0, 0.0)) as bot:
        asked = await on.server.say(on.room, on.ada, "<@BOT> one")
        thread = on.server.thread(on.room, "t", from_message=asked)
        on.server.script(*[Broken(503)] * trouble, on=LOOK)
        await on.server.say(thread, on.ada, "two")
        await holds(lambda: len(on.server.asked(LOOK)) == min(trouble + 1, 3), "it was looked up")
        if trouble == 3:
            on.server.forget_sessions()
            await on.server.drop()
            await holds(lambda: bot.adapter.readies == 2, "a second session")
        assert [each.message.rendered.splitlines()[-1] for each in await on.prompts(2)] == ["one", "two"]


async def test_a_thread_that_the_library_lacks_is_asked_for(tmp_path: Path) -> None:
    """A message in it comes before the news that it is open again; whose it is counts, and in which channel."""
    async with stage(tmp_path) as on:
        thread = on.server.thread(on.room, "songs", by=on.server.world.bot)
        on.server.archive(thread)
        on.access = Access(allow=(f"channel:{on.room.id}",))
        async with on.running() as bot:
            thread.archived = False
            await on.server.say(thread, on.ada, "one")
            (record,) = await on.prompts(1)
            assert record.address.channel_id == str(thread.id)
            on.server.script(Refusal(404, 10003, "Unknown Channel"), on="GET /channels/{}")
            for text in ("two", "three"):
                await on.server.say(thread, on.ada, text)
            await on.settled(bot, 3)
            assert len(on.server.asked("GET /channels/{}")) == 2


async def test_a_stranger_is_told_how_to_get_in_and_nothing_is_kept(tmp_path: Path) -> None:
    """No file is fetched, no thread opened; who talks beside the bot is told nothing."""
    async with stage(tmp_path) as on:
        options: dict[str, Any] = {"auto_thread": True, "channels": {str(on.room.id): {}}}
        async with on.running(**options) as bot:
            await on.server.say(on.room, on.eve, "just talking")
            await on.settled(bot, 1)
            assert on.shown(on.room) == []
            await on.server.say(on.room, on.eve, "<@BOT> hi", attachments=[("a.txt", b"x", "text/plain")])
            await holds(lambda: on.shown(on.room), "the hint")
            assert "what you wrote was not kept" in on.shown(on.room)[0]
            assert await on.prompts(0) == []
            assert on.server.asked("POST /channels/{}/messages/{}/threads") == []
            assert not (tmp_path / "staging").exists()


async def test_a_channel_on_the_list_admits_in_its_threads(tmp_path: Path) -> None:
    """The entry of a channel holds for what is said in its threads."""
    async with stage(tmp_path) as on:
        on.access = Access(allow=(f"channel:{on.room.id}",))
        async with on.running(auto_thread=True):
            await on.server.say(on.room, on.eve, "<@BOT> one")
            (first,) = await on.prompts(1)
            thread = on.server.world.channels[int(first.address.channel_id)]
            await on.server.say(thread, on.eve, "two")
            assert [each.address for each in await on.prompts(2)] == [first.address] * 2


async def test_a_message_that_comes_twice_is_one_prompt(tmp_path: Path) -> None:
    """Complaint 29: also after a restart."""
    async with stage(tmp_path) as on:
        async with on.running() as bot:
            message = await on.server.say(on.room, on.ada, "<@BOT> once")
            await on.server.redeliver(message)
            await on.settled(bot, 2)
            await on.prompts(1)
        async with on.running() as bot:
            await on.server.redeliver(message)
            await on.settled(bot, 1)
            await on.prompts(1)


async def test_files_are_staged_before_the_prompt(tmp_path: Path) -> None:
    """K-134; of an allowed person only, and of what is addressed."""
    async with stage(tmp_path) as on, on.running() as bot:
        await on.server.say(on.room, on.ada, "mine", attachments=[("b.txt", b"no", "text/plain")])
        await on.server.say(on.room, on.ada, "<@BOT> see", attachments=[("a.txt", b"yes", "text/plain; charset=utf-8")])
        (record,) = await on.prompts(1)
        (saved,) = record.message.content.attachments
        assert (saved.name, saved.mime_type, saved.size) == ("a.txt", "text/plain", 3)
        path = Path(saved.path or "")
        assert _kept(bot.staging.folder(record.session_id)) == {path: b"yes"}


async def test_an_edit_rewrites_a_prompt_that_waits(tmp_path: Path) -> None:
    """No second turn begins; the preview of a link changes nothing (complaint 110)."""
    async with stage(tmp_path) as on, on.running() as bot:
        message = await on.server.say(on.room, on.ada, "<@BOT> old")
        (record,) = await on.prompts(1)
        await on.server.preview(message)
        await on.settled(bot, 2)
        assert (await on.prompts(1))[0].message.version == record.message.version
        await on.server.edit(message, "<@BOT> new")
        await on.settled(bot, 3)
        (changed,) = await on.prompts(1)
        assert changed.id == record.id
        assert changed.message.rendered == record.message.rendered.replace("old", "new")


async def test_an_edit_after_the_answer_makes_no_second_turn(tmp_path: Path) -> None:
    """Complaint 110."""
    async with stage(tmp_path) as on, on.running() as bot:
        message = await on.server.say(on.room, on.ada, "<@BOT> old")
        await on.prompts(1)
        await bot.finish(await bot.claim())
        await on.server.edit(message, "<@BOT> new")
        await on.server.preview(message)
        await on.settled(bot, 4)  # the answer is the bot's own message
        (record,) = await on.prompts(1)
        assert record.status is MessageStatus.PROCESSED


async def test_an_edit_that_adds_a_mention_is_one_turn(tmp_path: Path) -> None:
    """Complaint 111: once, and not for what is older than an hour."""
    async with stage(tmp_path) as on, on.running() as bot:
        old = await on.server.say(on.room, on.ada, "long ago", ago=3700)
        message = await on.server.say(on.room, on.ada, "help me")
        for each in (old, message, message):
            await on.server.edit(each, "<@BOT> help me please")
        await on.settled(bot, 5)
        (record,) = await on.prompts(1)
        assert record.message.rendered.endswith(":\nhelp me please")
        assert message_ids(record) == {"discord_message_id": str(message.id)}


async def test_an_own_edit_is_nothing(tmp_path: Path) -> None:
    """The bot edits its status all the time."""
    async with stage(tmp_path) as on, on.running() as bot:
        ours = await on.server.say(on.room, on.server.world.bot, "working")
        await on.server.edit(ours, "<@BOT> working on")
        await on.settled(bot, 2)
        assert await on.prompts(0) == []


async def test_a_deleted_message_is_withdrawn(tmp_path: Path) -> None:
    """While it waits."""
    async with stage(tmp_path) as on, on.running() as bot:
        message = await on.server.say(on.room, on.ada, "<@BOT> oh")
        (record,) = await on.prompts(1)
        await on.server.delete(message)
        await on.settled(bot, 2)
        assert await bot.status(record) is MessageStatus.INTERRUPTED


async def test_a_message_that_is_gone_before_its_thread_is_opened_is_dropped(tmp_path: Path) -> None:
    """Nobody is told that there is no thread for it."""
    async with stage(tmp_path) as on, on.running(auto_thread=True) as bot:
        on.server.script(Refusal(404, 10008, "Unknown Message"), on="POST /channels/{}/messages/{}/threads")
        await on.server.delete(await on.server.say(on.room, on.ada, "<@BOT> oh"))
        await on.settled(bot, 2)
        assert await on.prompts(0) == []
        assert on.shown(on.room) == []


async def test_a_command_in_a_message_is_read_without_the_mention(tmp_path: Path) -> None:
    """The core answers it, here that there is none."""
    async with stage(tmp_path) as on, on.running() as bot:
        await on.server.say(on.room, on.ada, "<@BOT> /hello")
        await on.settled(bot, 1)
        assert (await on.prompts(1))[0].message.rendered.endswith("/hello")


async def test_two_bots_in_one_channel_have_each_their_own(tmp_path: Path) -> None:
    """Two tables of one config: each stores what it is told under its own name."""
    async with stage(tmp_path) as on, on.running(chatbot_id="one"), on.running(chatbot_id="two"):
        await on.server.say(on.room, on.ada, "<@BOT> both of you")
        found = await on.prompts(2)
        assert sorted(each.address.chatbot_id for each in found) == ["one", "two"]


def _kept(folder: Path) -> dict[Path, bytes]:
    return {each: each.read_bytes() for each in folder.iterdir()}


async def _say(on: Stage, text: str) -> Message:
    return await on.server.say(on.room, on.ada, text)


@pytest.mark.parametrize("respond", ["never", "always", "addressed"])
async def test_a_channel_says_what_is_answered(tmp_path: Path, respond: str) -> None:
    """`respond` of one channel."""
    async with stage(tmp_path) as on, on.running(channels={str(on.room.id): {"respond": respond}}) as bot:
        await _say(on, "plain")
        await _say(on, "<@BOT> called")
        await on.settled(bot, 2)
        expected = {"never": [], "always": ["plain", "called"], "addressed": ["called"]}[respond]
        found = await on.prompts(len(expected))
        assert [each.message.rendered.splitlines()[-1] for each in found] == expected
