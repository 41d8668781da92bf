"""What the bot does in channels, over the loopback Discord with the real library."""

import asyncio
import struct
import time
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from kesoku.adapter import Address, Ambiguous, Button, LoginNeeded, Outgoing, OutgoingFile, Refused, RetryLater
from kesoku.testing.discord import (
    Broken,
    Channel,
    Flag,
    Kind,
    Limited,
    LoopbackDiscord,
    Lost,
    Message,
    Refusal,
    User,
)
from kesoku_discord.wire.outbound import Outbound
from kesoku_discord.wire.upload import as_listed
from kesoku_discord.wire.voice import voice_of

from .wire_stage import Bot, connected, holds

pytestmark = pytest.mark.usefixtures("no_proxy")
KEY = "abcdefghijklmnopqrstuvwx"
SENDING = "POST /channels/{}/messages"


@dataclass(kw_only=True, eq=False)
class Stage:
    """A bot in a room with Ada."""

    server: LoopbackDiscord
    bot: Bot
    room: Channel
    ada: User
    outbound: Outbound

    @property
    def address(self) -> Address:
        return self.at(self.room)

    def at(self, channel: Channel) -> Address:
        return Address(chatbot_id="discord", channel_id=str(channel.id))

    @property
    def said(self) -> list[Message]:
        return self.server.messages(self.room)

    async def send(self, outgoing: Outgoing, key: str = KEY) -> str:
        (message_id,) = (await self.outbound.send(self.address, outgoing, key)).platform_ids
        return message_id


@pytest.fixture
async def stage() -> AsyncIterator[Stage]:
    async with LoopbackDiscord() as server:
        guild = server.guild("Band")
        room, ada = server.channel("room", guild=guild), server.user("Ada")
        server.join(guild, ada)
        async with connected(server) as bot:
            outbound = Outbound(connecting=0.05)
            outbound.client = bot.client
            yield Stage(server=server, bot=bot, room=room, ada=ada, outbound=outbound)


def file(folder: Path, data: bytes = b"data", **facts: Any) -> Outgoing:
    path = folder / "song.txt"
    path.write_bytes(data)
    return Outgoing(files=(OutgoingFile(path=path, name=facts.pop("name", "song.txt"), **facts),))


def page(position: int, *packets: bytes) -> bytes:
    """One page of an Ogg file."""
    lengths = bytes(part for each in packets for part in [255] * (len(each) // 255) + [len(each) % 255])
    return b"OggS" + struct.pack("<BBqIIIB", 0, 0, position, 1, 0, 0, len(lengths)) + lengths + b"".join(packets)


def recording(seconds: float = 2.0) -> bytes:
    """An Ogg Opus file, as far as its frame goes."""
    head = b"OpusHead" + struct.pack("<BBHIhB", 1, 1, 312, 48_000, 0, 0)
    packets = [b"x" * (40 + 20 * (index % 7)) for index in range(50)]
    return page(0, head) + page(0, b"OpusTags" + b"\0" * 8) + page(round(seconds * 48_000) + 312, *packets)


async def test_a_message_pings_nobody_and_has_its_key(stage: Stage) -> None:
    sent = await stage.send(Outgoing(text=f"@everyone <@{stage.ada.id}> hello"))
    (message,) = stage.said
    assert (str(message.id), message.nonce, message.mentions, message.mention_everyone) == (sent, KEY, [], False)
    (seen,) = stage.server.asked(SENDING)
    assert seen.body == {
        "content": f"@everyone <@{stage.ada.id}> hello",
        "nonce": KEY,
        "enforce_nonce": True,
        "allowed_mentions": {"parse": [], "replied_user": False},
    }


async def test_the_same_key_again_gives_the_message_that_is_there(stage: Stage) -> None:
    first = await stage.send(Outgoing(text="once"))
    assert await stage.send(Outgoing(text="once")) == first
    assert len(stage.said) == 1


async def test_a_reply_refers_to_its_message_without_a_ping(stage: Stage) -> None:
    asked = await stage.server.say(stage.room, stage.ada, "question")
    await stage.send(Outgoing(text="answer", reply_to=str(asked.id)))
    assert (stage.said[1].reply_to, stage.said[1].mentions) == (asked.id, [])


async def test_a_reply_to_what_is_gone_is_still_sent(stage: Stage) -> None:
    asked = await stage.server.say(stage.room, stage.ada, "question")
    await stage.server.delete(asked)
    await stage.send(Outgoing(text="answer", reply_to=str(asked.id)))
    assert [each.content for each in stage.said] == ["answer"]


async def test_in_a_thread_the_message_that_began_it_is_not_referred_to(stage: Stage) -> None:
    asked = await stage.server.say(stage.room, stage.ada, "question")
    thread = stage.server.thread(stage.room, "talk", from_message=asked)
    await stage.outbound.send(stage.at(thread), Outgoing(text="answer", reply_to=str(asked.id)), KEY)
    assert "message_reference" not in stage.server.asked(SENDING)[0].body
    assert [each.content for each in stage.server.messages(thread)] == ["answer"]


async def test_in_a_forum_the_message_that_began_a_post_is_replied_to(stage: Stage) -> None:
    assert stage.room.guild is not None
    forum = stage.server.channel("help", guild=stage.room.guild, kind=Kind.FORUM)
    post = await stage.server.publish(forum, stage.ada, "Tuning", "how?")
    await holds(lambda: stage.bot.client.get_channel(post.id), "the post is known")
    await stage.outbound.send(stage.at(post), Outgoing(text="so", reply_to=str(post.id)), KEY)
    assert [(each.content, each.reply_to) for each in stage.server.messages(post)] == [("how?", None), ("so", post.id)]


async def test_controls_and_silence(stage: Stage) -> None:
    buttons = (Button(label="Yes", token="q1", value="yes"), Button(label="No", token="q1", value="no"))
    await stage.send(Outgoing(text="Really?", buttons=buttons, silent=True))
    (message,) = stage.said
    assert [each["label"] for each in message.components[0]["components"]] == ["Yes", "No"]
    assert message.flags & Flag.SILENT


async def test_a_file_with_its_description(stage: Stage, tmp_path: Path) -> None:
    data = bytes(range(256)) * 8192  # 2 MiB: more than aiohttp takes as plain bytes
    await stage.send(file(tmp_path, data, description="d" * 2000))
    (attachment,) = stage.said[0].attachments
    assert (attachment.name, attachment.data, attachment.description) == ("song.txt", data, "d" * 1023 + "…")
    assert stage.said[0].nonce == KEY


@pytest.mark.parametrize(
    ("name", "listed"),
    [
        ("a\nb.txt", "a b.txt"), ("a\udcff.txt", "a\ufffd.txt"), ("a\0b", "a b"),
        ("x" * 300 + ".png", "x" * 99 + "….png"),
        ("song\u202egnp.exe", "songgnp.exe"), ("../a.txt", "a.txt"), ("\u200b", "?"), ("結束 x.png", "結束 x.png"),
        ('a"b.txt', "ab.txt"), ("a\r\nX: y.txt", "a X: y.txt"), ("a;b=c.txt", "abc.txt"), ("", "?"), (".", "?"),
        ("x" * 300, "x" * 99 + "…"), ("../../etc/passwd", "passwd"), ("привет.txt", "привет.txt"),
    ],
)  # fmt: skip
async def test_a_file_of_any_name_is_sent_and_found_again(stage: Stage, tmp_path: Path, name: str, listed: str) -> None:
    """What no header of a request holds, or what only seems to be a picture, is not in the name that is sent."""
    outgoing = file(tmp_path, name=name, description="of \ud800")
    sent = await stage.send(outgoing)
    (attachment,) = stage.said[0].attachments
    assert (as_listed(attachment.name), attachment.description) == (as_listed(listed), "of \ufffd")
    assert attachment.data == b"data"
    assert [each.platform_ids for each in await stage.outbound.find(stage.address, outgoing, KEY, 0)] == [(sent,)]


async def test_a_file_that_cannot_be_read_is_refused(stage: Stage, tmp_path: Path) -> None:
    gone = Outgoing(files=(OutgoingFile(path=tmp_path / "gone", name="gone.txt"),))
    with pytest.raises(Refused, match=r"gone\.txt cannot be read: No such file"):
        await stage.send(gone)
    assert stage.server.asked(SENDING) == []


async def test_a_file_that_is_too_large_is_refused(stage: Stage, tmp_path: Path) -> None:
    stage.server.script(Refusal(413, 40005, "Request entity too large"), on=SENDING)
    with pytest.raises(Refused, match="send a smaller one"):
        await stage.send(file(tmp_path))


async def test_a_recording_is_a_voice_message(stage: Stage, tmp_path: Path) -> None:
    await stage.send(file(tmp_path, recording(), name="voice.ogg", voice=True))
    (message,) = stage.said
    assert message.flags & Flag.VOICE
    assert (message.attachments[0].duration, bool(message.attachments[0].waveform)) == (2.0, True)


async def test_a_recording_is_a_file_where_voice_messages_are_not_allowed(stage: Stage, tmp_path: Path) -> None:
    stage.server.permit(stage.room, deny=1 << 46)
    await stage.send(file(tmp_path, recording(), name="voice.ogg", voice=True))
    (message,) = stage.said
    assert not message.flags & Flag.VOICE
    assert message.attachments[0].data == recording()


async def test_what_is_no_recording_is_a_file(stage: Stage, tmp_path: Path) -> None:
    await stage.send(file(tmp_path, b"RIFF", name="voice.wav", voice=True))
    assert not stage.said[0].flags & Flag.VOICE


@pytest.mark.parametrize("cut", [0, 10, 60, len(recording()) - 1])
def test_half_a_recording_is_none(cut: int) -> None:
    assert voice_of(recording()[:cut]) is None


async def test_a_table_is_drawn(stage: Stage) -> None:
    table = {"header": ["a"], "rows": [["1"]], "alignments": ["left"], "alternative": "a: 1"}
    await stage.send(Outgoing(payload={"table": table}))
    (attachment,) = stage.said[0].attachments
    assert (attachment.name, attachment.description) == ("table.png", "a: 1")
    assert attachment.data.startswith(b"\x89PNG")


async def test_a_table_that_cannot_be_drawn_is_refused(stage: Stage) -> None:
    with pytest.raises(Refused, match="cannot be drawn"):
        await stage.send(Outgoing(payload={"table": {"header": ["a"], "rows": [["1"]], "alignments": ["sideways"]}}))


async def test_an_edit_replaces_text_and_controls(stage: Stage) -> None:
    sent = await stage.send(Outgoing(text="before", buttons=(Button(label="Yes", token="q1", value="yes"),)))
    await stage.outbound.edit(stage.address, sent, Outgoing(text=f"<@{stage.ada.id}> after"))
    (message,) = stage.said
    assert (message.content, message.components, message.mentions) == (f"<@{stage.ada.id}> after", [], [])


async def test_what_is_gone_cannot_be_edited_and_need_not_be_deleted(stage: Stage) -> None:
    sent = await stage.send(Outgoing(text="before"))
    await stage.outbound.delete(stage.address, sent)
    await stage.outbound.delete(stage.address, sent)
    assert stage.said == []
    with pytest.raises(Refused, match="not there any more"):
        await stage.outbound.edit(stage.address, sent, Outgoing(text="after"))


async def test_typing_is_shown_and_its_failure_is_silent(stage: Stage) -> None:
    await stage.outbound.typing(stage.address, True)
    await stage.outbound.typing(stage.address, False)
    assert len(stage.server.typing(stage.room)) == 1
    stage.server.script(Refusal(403, 50013, "Missing Permissions"), on="POST /channels/{}/typing")
    await stage.outbound.typing(stage.address, True)
    stage.outbound.client = None
    await stage.outbound.typing(stage.address, True)


async def test_what_was_sent_is_found_by_its_looks(stage: Stage, tmp_path: Path) -> None:
    since = time.time()
    first, second = [await stage.send(Outgoing(text="the same "), key) for key in ("k1", "k2")]
    other = await stage.send(Outgoing(text="another"), "k3")
    named = await stage.send(file(tmp_path, name="my song.txt"), "k4")
    await stage.server.say(stage.room, stage.ada, "the same")

    async def found(outgoing: Outgoing) -> list[str]:
        return [each.platform_ids[0] for each in await stage.outbound.find(stage.address, outgoing, KEY, since)]

    assert await found(Outgoing(text="the same ")) == [first, second]
    assert await found(Outgoing(text="another")) == [other]
    assert await found(file(tmp_path, name="my song.txt")) == [named]
    assert await found(Outgoing(text="never said")) == []


async def test_a_clock_that_is_a_little_off_hides_nothing(stage: Stage) -> None:
    sent = await stage.send(Outgoing(text="just now"))
    found = await stage.outbound.find(stage.address, Outgoing(text="just now"), KEY, time.time() + 5)
    assert [each.platform_ids for each in found] == [(sent,)]


async def test_it_is_found_behind_a_hundred_others_and_not_before_its_time(stage: Stage) -> None:
    early = await stage.server.say(stage.room, stage.server.world.bot, "late", ago=600)
    for number in range(120):
        await stage.server.say(stage.room, stage.ada, str(number))
    sent = await stage.send(Outgoing(text="late"))
    found = await stage.outbound.find(stage.address, Outgoing(text="late"), KEY, time.time() - 300)
    assert [each.platform_ids for each in found] == [(sent,)]
    assert str(early.id) != sent


@pytest.mark.parametrize(
    ("fault", "words"),
    [
        (Refusal(403, 50013, "Missing Permissions"), "give its role Send Messages"),
        (Refusal(403, 50001, "Missing Access"), "View Channel"),
        (Refusal(404, 10003, "Unknown Channel"), "the channel is gone"),
        (Refusal(400, 50035, "Invalid Form Body"), "in this form"),
    ],
)
async def test_a_refusal_is_told_and_not_tried_again(stage: Stage, fault: Refusal, words: str) -> None:
    """Complaints 6 and 37."""
    stage.server.script(fault, on=SENDING)
    with pytest.raises(Refused, match=words):
        await stage.send(Outgoing(text="hello"))
    assert len(stage.server.asked(SENDING)) == 1


@pytest.mark.parametrize("fault", [Broken(503), Lost(done=False), Lost(done=True)])
async def test_what_is_lost_on_the_way_arrives_once_with_the_same_key(stage: Stage, fault: Broken | Lost) -> None:
    stage.server.script(fault, on=SENDING)
    with pytest.raises(Ambiguous):
        await stage.send(Outgoing(text="hello"))
    sent = await stage.send(Outgoing(text="hello"))
    assert [str(each.id) for each in stage.said] == [sent]


@pytest.mark.parametrize("limit", [Limited(0.02), Limited(0.02, scope="shared"), Limited(0.02, everywhere=True)])
async def test_a_short_limit_is_waited_for(stage: Stage, limit: Limited) -> None:
    """Of a route, of everybody in the channel, and over all routes."""
    stage.server.script(limit, on=SENDING)
    await stage.send(Outgoing(text="hello"))
    assert len(stage.said) == 1


async def test_a_long_limit_is_handed_on(stage: Stage) -> None:
    stage.server.script(Limited(600.0), on=SENDING)
    with pytest.raises(RetryLater) as caught:
        await stage.send(Outgoing(text="hello"))
    assert caught.value.after == 600.0


async def test_a_token_that_is_revoked_holds_the_message(stage: Stage) -> None:
    stage.server.revoked = True
    with pytest.raises(LoginNeeded):
        await stage.send(Outgoing(text="hello"))


async def test_sending_opens_an_archived_thread_but_not_a_locked_one(stage: Stage) -> None:
    thread = stage.server.thread(stage.room, "talk")
    stage.server.archive(thread)
    await stage.outbound.send(stage.at(thread), Outgoing(text="hello"), KEY)
    assert not thread.archived
    stage.server.archive(thread, locked=True)
    with pytest.raises(Refused, match=r"locked|permission"):
        await stage.outbound.send(stage.at(thread), Outgoing(text="hello"), "other")


async def test_without_a_connection_it_is_tried_later(stage: Stage) -> None:
    stage.outbound.client = None
    with pytest.raises(RetryLater, match="not connected"):
        await stage.send(Outgoing(text="hello"))
    waiting = asyncio.create_task(stage.send(Outgoing(text="hello")))
    stage.outbound.client = stage.bot.client
    await waiting
    assert len(stage.said) == 1


async def test_after_the_client_was_closed_it_is_tried_later(stage: Stage) -> None:
    await stage.bot.stop()
    with pytest.raises(RetryLater):
        await stage.send(Outgoing(text="hello"))


async def test_sending_goes_on_while_the_gateway_connects_anew(stage: Stage) -> None:
    stage.bot.client.http.gateway = stage.bot.client.http.gateway.with_path("/nowhere")
    await stage.server.drop()

    await holds(lambda: not stage.server.connections, "the drop")
    await stage.send(Outgoing(text="hello"))
    assert len(stage.said) == 1


async def test_an_address_of_another_platform_is_refused(stage: Stage) -> None:
    with pytest.raises(Refused, match="no id of a channel"):
        await stage.outbound.send(Address(chatbot_id="discord", channel_id="spaces/x"), Outgoing(text="hello"), KEY)


async def test_an_answer_goes_out_without_its_reference_where_replies_are_not_allowed(stage: Stage) -> None:
    asked = await stage.server.say(stage.room, stage.ada, "question")
    stage.server.permit(stage.room, deny=1 << 16)  # Read Message History
    await stage.send(Outgoing(text="answer", reply_to=str(asked.id)))
    assert [(each.content, each.reply_to) for each in stage.said] == [("question", None), ("answer", None)]


async def test_in_a_channel_that_is_gone_nothing_is_found(stage: Stage) -> None:
    stage.server.remove(stage.room)
    assert await stage.outbound.find(stage.address, Outgoing(text="hello"), KEY, time.time()) == []
