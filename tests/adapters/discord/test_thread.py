"""Threads that the bot opens for its answers."""

from pathlib import Path
from typing import Any

import pytest

from kesoku.messages.record import Record
from kesoku.testing.discord import Broken, Channel, Kind, Limited, Lost, Message, Refusal
from kesoku.testing.discord.world import permission
from kesoku_discord.config import ChannelConfig, DiscordConfig
from kesoku_discord.inbound.thread import wants_thread

from .made import GENERAL, THREAD, Library
from .message_stage import Stage, stage
from .wire_stage import holds

CREATE = "POST /channels/{}/messages/{}/threads"
LOOK = "GET /channels/{}"


def thread_of(on: Stage, record: Record) -> Channel:
    """The thread in which a prompt is answered."""
    return on.server.world.channels[int(record.address.channel_id)]


async def asked(on: Stage, text: str = "<@BOT> how do I tune a **bass**?\nThanks.") -> tuple[Message, Record]:
    """Ada asks, and it is stored."""
    message = await on.server.say(on.room, on.ada, text)
    (record,) = await on.prompts(1)
    return message, record


@pytest.mark.parametrize("kind", [Kind.TEXT, Kind.NEWS])
async def test_a_message_begins_a_thread(tmp_path: Path, kind: Kind) -> None:
    """K-112: with the title that the message gives; what is said in it is heard without a mention."""
    async with stage(tmp_path) as on, on.running(auto_thread=True, thread_archive_minutes=60):
        on.room = on.server.channel("news", guild=on.guild, kind=kind)
        message, record = await asked(on)
        thread = thread_of(on, record)
        assert (thread.id, thread.name, thread.auto_archive_minutes) == (message.id, "how do I tune a bass?", 60)
        await on.server.say(thread, on.ada, "and a drum?")
        assert (await on.prompts(2))[1].address == record.address
        assert len(on.server.asked(CREATE)) == 1


@pytest.mark.parametrize(
    ("general", "own", "wanted"), [(True, None, True), (False, True, True), (True, False, False), (False, None, False)]
)
def test_a_channel_decides_for_itself(*, general: bool, own: bool | None, wanted: bool) -> None:
    """`auto_thread` of the channel, else of the bot; never within a thread."""
    config, library = DiscordConfig(auto_thread=general), Library()
    channel = ChannelConfig(auto_thread=own)
    assert wants_thread(library.message(channel_id=str(GENERAL)), config, channel) is wanted
    assert not wants_thread(library.message(channel_id=str(THREAD)), config, channel)
    assert not wants_thread(library.message(direct=True, channel_id="7"), config, channel)


async def test_a_message_that_comes_again_keeps_its_thread(tmp_path: Path) -> None:
    """Also after a restart."""
    async with stage(tmp_path) as on:
        async with on.running(auto_thread=True):
            message, record = await asked(on)
        async with on.running(auto_thread=True) as bot:
            await on.server.redeliver(message)
            await on.settled(bot, 1)
            (again,) = await on.prompts(1)
            assert again.address == record.address
            assert len([each for each in on.server.world.channels.values() if each.kind.is_thread]) == 1


async def test_what_was_answered_in_the_channel_gets_no_thread_later(tmp_path: Path) -> None:
    """It is read again after a restart, and the bot may open threads by then."""
    async with stage(tmp_path) as on:
        async with on.running(auto_thread=True):
            on.server.permit(on.room, deny=permission.CREATE_PUBLIC_THREADS)
            message, _ = await asked(on)
        on.server.permit(on.room)
        async with on.running(auto_thread=True) as bot:
            await on.server.redeliver(message)
            await on.settled(bot, 1)
            assert len(on.server.asked(CREATE)) == 1
            assert not [each for each in on.server.world.channels.values() if each.kind.is_thread]


@pytest.mark.parametrize(
    ("fault", "created"),
    [
        (Lost(done=True), 1),
        (Lost(done=False), 2),
        (Broken(503), 2),
        (Refusal(400, 160004, "A thread has already been created for this message"), 1),
    ],
)
async def test_a_failure_that_leaves_it_open_makes_no_second_thread(tmp_path: Path, fault: Any, created: int) -> None:
    """Complaint 99: the thread is looked for by the id of the message before it is tried again."""
    async with stage(tmp_path) as on, on.running(auto_thread=True):
        on.server.script(fault, on=CREATE)
        message, record = await asked(on)
        assert record.address.channel_id == str(message.id)
        assert len(on.server.asked(CREATE)) == created
        assert on.shown(on.room) == []


async def test_where_no_thread_can_be_opened_the_channel_is_told_once_a_day(tmp_path: Path) -> None:
    """Complaint 97: tried once more, answered in the channel, visibly; also told once over a restart."""
    async with stage(tmp_path) as on:
        async with on.running(auto_thread=True):
            on.server.script(Broken(503), Broken(503), on=CREATE)
            _, record = await asked(on)
            assert record.address.channel_id == str(on.room.id)
            assert len(on.server.asked(CREATE)) == 2
            on.server.permit(on.room, deny=permission.CREATE_PUBLIC_THREADS)
            await on.server.say(on.room, on.ada, "<@BOT> two")
            await on.prompts(2)
        async with on.running(auto_thread=True):
            await on.server.say(on.room, on.ada, "<@BOT> three")
            assert {each.address for each in await on.prompts(3)} == {record.address}
        assert on.shown(on.room) == ["-# I cannot open a thread, so I answer here: Discord did not open it."]


@pytest.mark.parametrize(
    ("fault", "why"),
    [
        (Refusal(403, 50013, "Missing Permissions"), "I lack the permission Create Public Threads"),
        (
            Refusal(400, 160006, "Maximum number of active threads reached"),
            "too many threads are active on this server",
        ),
        (
            Refusal(400, 50024, "Cannot execute action on this\nchannel type"),
            "Discord does not allow this in a channel",
        ),
        (Limited(600.0), "too many threads are being opened"),
    ],
)
async def test_the_reason_is_told(tmp_path: Path, fault: Any, why: str) -> None:
    """One line; refusals are not tried again."""
    async with stage(tmp_path) as on, on.running(auto_thread=True):
        on.server.script(fault, on=CREATE)
        _, record = await asked(on)
        assert record.address.channel_id == str(on.room.id)
        (line,) = on.shown(on.room)
        assert line.startswith(f"-# I cannot open a thread, so I answer here: {why}")
        assert len(line.splitlines()) == 1
        assert len(on.server.asked(CREATE)) == 1


async def test_no_thread_is_opened_in_which_the_bot_could_not_write(tmp_path: Path) -> None:
    """Known before it is tried."""
    async with stage(tmp_path) as on, on.running(auto_thread=True):
        on.server.permit(on.room, deny=permission.SEND_MESSAGES_IN_THREADS)
        _, record = await asked(on)
        assert record.address.channel_id == str(on.room.id)
        assert "Send Messages in Threads" in on.shown(on.room)[0]
        assert on.server.asked(CREATE) == []


async def test_a_bot_that_may_not_write_is_silent(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """The log has the line that could not be said."""
    async with stage(tmp_path) as on, on.running(auto_thread=True):
        on.server.permit(on.room, deny=permission.CREATE_PUBLIC_THREADS | permission.SEND_MESSAGES)
        await asked(on)
        assert on.shown(on.room) == []
        assert any("cannot say in channel" in each.message for each in caplog.records)


async def test_a_bot_may_refuse_to_answer_outside_of_threads(tmp_path: Path) -> None:
    """Complaint 97, the other policy: each message is told why, as a reply that pings nobody, and none is stored."""
    async with stage(tmp_path) as on, on.running(auto_thread=True, thread_failure="refuse"):
        on.server.permit(on.room, deny=permission.CREATE_PUBLIC_THREADS)
        for n in (1, 2):
            message = await on.server.say(on.room, on.ada, f"<@BOT> {n}")
            await holds(lambda n=n: len(on.shown(on.room)) == n, "a line for each")  # type: ignore[misc]
        line = on.server.messages(on.room)[-1]
        assert line.content.startswith("-# I cannot open a thread, so I do not answer this: I lack the permission")
        assert (line.reply_to, line.mentions) == (message.id, [])
        assert await on.prompts(0) == []


async def test_what_was_refused_is_not_refused_again_after_a_restart(tmp_path: Path) -> None:
    """The last seconds before the stop are looked at again then; also when Discord knows the nonce no longer."""
    options: dict[str, Any] = {"auto_thread": True, "thread_failure": "refuse"}
    async with stage(tmp_path, nonce_window=0.0) as on:
        on.server.permit(on.room, deny=permission.CREATE_PUBLIC_THREADS)
        async with on.running(**options) as bot:
            await on.server.say(on.room, on.ada, "<@BOT> one")
            await holds(lambda: len(on.shown(on.room)) == 1, "the line")
            await on.settled(bot, 1)
            seen = str(on.server.messages(on.room)[-1].id)
            await bot.inbox.state.set("seen", seen)
        await on.server.say(on.room, on.ada, "<@BOT> two")
        async with on.running(**options):
            await holds(lambda: len(on.shown(on.room)) == 2, "the line for the second one")
        answered = [each.reply_to for each in on.server.messages(on.room) if each.author_id == on.server.bot_id]
        assert len(answered) == len(set(answered)) == 2


async def test_a_voice_channel_has_no_threads(tmp_path: Path) -> None:
    """It is answered there."""
    async with stage(tmp_path) as on:
        on.room = on.server.channel("talk", guild=on.guild, kind=Kind.VOICE)
        async with on.running(auto_thread=True):
            _, record = await asked(on)
            assert record.address.channel_id == str(on.room.id)
            assert on.shown(on.room) == []
