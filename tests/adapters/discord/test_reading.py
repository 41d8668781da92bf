"""What the library cannot read neither ends the bot nor hides what stands beside it."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from kesoku.testing.discord import Message
from kesoku.testing.discord.wire import message as wire_message
from kesoku_discord.inbound import wording
from kesoku_discord.wire.reading import message_of

from .made import BOB, MESSAGE, Library, facts_on_the_wire, replying
from .message_stage import Stage, stage, texts

POLL = {
    "question": {"text": "Tea?"},
    "answers": [{"answer_id": 1, "poll_media": {"text": "yes"}}],
    "expiry": None,
    "allow_multiselect": False,
    "layout_type": 1,
}


def wired(on: Stage, message: Message, **facts: Any) -> dict[str, Any]:
    """A message of the loopback Discord with other fields."""
    return {**wire_message.told(on.server.world, message), **facts}


def tell(on: Stage, name: str, data: Mapping[str, Any]) -> None:
    """An event as it is."""
    for session in on.server.sessions:
        session.tell(name, dict(data))


@pytest.mark.parametrize(
    "odd",
    [
        {"poll": POLL},
        {"poll": {}},
        {"components": [None]},
        {"embeds": "none"},
        {"sticker_items": [{}]},
        {"attachments": [{"id": "1"}]},
        {"message_snapshots": [{"message": {}}]},
        {"interaction_metadata": []},
        {"thread": {"id": "x"}},
        {"call": 7},
        {"member": []},
        {"edited_timestamp": "yesterday"},
        {"mentions": [{}]},
        {"mention_roles": [None]},
        {"message_reference": {"message_id": "x"}},
        {"a_field_of_tomorrow": {}},
    ],
)
def test_a_message_is_read_without_what_is_odd(odd: dict[str, Any]) -> None:
    """Its text is always there."""
    library = Library()
    found = message_of(library.client, library.guild.text_channels[0], facts_on_the_wire("hello", **odd))
    assert found is not None
    assert wording.said(found, library.me) == "hello"


def test_what_is_not_odd_stays() -> None:
    """A file that cannot be read costs nobody the message that is replied to; a poll without an end is a poll."""
    library = Library()
    theirs = facts_on_the_wire("", by=BOB, name="Bob", id=str(MESSAGE - 1), poll={**POLL, "answers": [None]})
    data = facts_on_the_wire("see", attachments=[{}], **replying(theirs))
    found = message_of(library.client, library.guild.text_channels[0], data)
    assert found is not None
    assert wording.body(found, library.me) == "Replying to `Bob`:\n> (no text)\n\nsee"
    poll = message_of(library.client, library.guild.text_channels[0], facts_on_the_wire("", poll=POLL))
    assert poll is not None
    assert wording.body(poll, library.me) == "(poll: Tea? Answers: yes)"


@pytest.mark.parametrize("odd", [{"id": "x"}, {"author": None}, {"webhook_id": "x"}])
def test_what_is_no_message_is_left_out(odd: dict[str, Any], caplog: pytest.LogCaptureFixture) -> None:
    """With one line in the log. That a machine wrote it is never overlooked."""
    library = Library()
    data = {**facts_on_the_wire("hello"), **odd}
    assert message_of(library.client, library.guild.text_channels[0], data) is None
    assert len([each for each in caplog.records if "is left out" in each.message]) == 1


async def test_an_odd_event_does_not_end_the_bot(tmp_path: Path) -> None:
    """The library would raise out of its connection, and meet the same message again after the restart."""
    async with stage(tmp_path) as on, on.running() as bot:
        tell(on, "MESSAGE_CREATE", {"id": "x"})
        tell(on, "GUILD_CREATE", {"id": str(on.guild.id), "channels": [{"id": "1", "type": 99}], "roles": [None]})
        tell(on, "THREAD_CREATE", {})
        tell(on, "INTERACTION_CREATE", {"id": "1"})
        tell(on, "MESSAGE_DELETE", {})
        text = f"<@{on.server.bot_id}> poll"
        ada = wired(on, await on.server.say(on.room, on.ada, "<@BOT> before"))
        tell(on, "MESSAGE_CREATE", {**ada, "id": str(on.server.world.snowflakes.next()), "content": text, "poll": POLL})
        await on.server.say(on.room, on.ada, "<@BOT> after")
        assert texts(await on.prompts(3)) == ["before", "(poll: Tea? Answers: yes)", "after"]
        assert on.server.identifies == 1
        assert bot.adapter.readies == 1


async def test_an_update_without_an_author_is_no_edit_and_no_fault(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """Discord has told of previews in this way (complaint 110)."""
    async with stage(tmp_path) as on, on.running() as bot:
        asked = await on.server.say(on.room, on.ada, "<@BOT> see https://example.org")
        await on.prompts(1)
        tell(on, "MESSAGE_UPDATE", {"id": str(asked.id), "channel_id": str(on.room.id), "embeds": [{"type": "link"}]})
        await on.server.say(on.room, on.ada, "<@BOT> and this")
        await on.settled(bot, 2)
        assert texts(await on.prompts(2)) == ["see https://example.org", "and this"]
    assert "left out" not in caplog.text
