"""/branch, /fork, /edit and /retry: other ways that a conversation could have gone on (D-031)."""

import pytest

from kesoku.errors import CommandMisused, EarlierConversation, NotPossible
from kesoku.messages import make
from kesoku.messages.enums import MessageStatus
from kesoku.messages.record import Address, Post
from kesoku.messages.redaction import redacted
from kesoku.testing.gateway_harness import ROOM
from kesoku.testing.model import Held

from .desk import desk, read_by


async def test_an_answered_prompt_is_edited_as_a_new_message_on_a_branch_of_its_own() -> None:
    table = desk("one", "two", "three")
    first, second = await table.talk("first", "secnod")
    assert "on the branch edit-3" in await table.give("/edit 3 second")
    (again,) = await table.waiting()
    assert again.id != second.id
    assert again.message.metadata["clone_from"] == second.id
    assert again.message.author == "Ada"
    await table.work()
    assert read_by(table.model.requests[-1]) == ["first", "one", "second"]
    assert (await table.harness.record(second)).message.rendered == "secnod"
    assert first.id


async def test_both_branches_can_be_selected() -> None:
    table = desk("one", "two", "three", "four", "five")
    await table.talk("first", "second")
    await table.give("/edit 3 other")
    await table.work()
    assert "branch main" in await table.give("/branch switch main")
    await table.talk("third")
    assert read_by(table.model.requests[-1]) == ["first", "one", "second", "two", "third"]
    await table.give("/branch switch edit-3")
    await table.talk("fourth")
    assert read_by(table.model.requests[-1]) == ["first", "one", "other", "three", "fourth"]
    assert (await table.give("/branch")).splitlines() == [
        "- edit-3 (here), up to #10: `five`",
        "- main, up to #8: `four`",
    ]


@pytest.mark.parametrize("line", ["/fork 1", "/edit 3 other", "/retry"])
async def test_the_reply_names_the_way_back(line: str) -> None:
    table = desk("one", "two", "three")
    await table.talk("first", "second")
    *_, hint = (await table.give(line)).split(". ")
    assert hint == "/branch switch main goes back."
    told = await table.give(hint.removesuffix(" goes back."))
    assert told.startswith("This conversation goes on on the branch main. ")
    assert told.split("/branch switch ")[1].startswith(line.split(maxsplit=1)[0][1:])
    await table.talk("third")
    assert read_by(table.model.requests[-1]) == ["first", "one", "second", "two", "third"]


async def test_a_prompt_that_waits_is_edited_in_its_place() -> None:
    """The same message, said differently, and no second turn (C-44)."""
    held = Held()
    table = desk(held, "two")
    async with table.harness.at_work():
        running = await table.harness.say("go")
        await held.entered.wait()
        waiting = await table.harness.say("secnod", catch_up=True)
        assert await table.give("/edit 2 second") == "#2 waits with the new words."
        held.release.set()
        await table.harness.answered(running)
        await table.harness.answered(waiting)
    assert read_by(table.model.requests[-1])[-1].strip() == "second"
    assert (await table.harness.record(waiting)).message.version == 2


async def test_a_running_prompt_is_edited_by_stopping_it() -> None:
    held = Held()
    table = desk(held, "done")
    async with table.harness.at_work():
        running = await table.harness.say("go wrong")
        await held.entered.wait()
        assert "is stopped" in await table.give("/edit 1 go right")
        await table.harness.until(running, MessageStatus.INTERRUPTED)
        await table.worked()
    assert read_by(table.model.requests[-1]) == ["go right"]


async def test_retry_answers_the_last_prompt_once_more_without_its_first_answer() -> None:
    table = desk("one", "two", "better")
    await table.talk("first", "second")
    await table.give("/retry")
    await table.work()
    assert read_by(table.model.requests[-1]) == ["first", "one", "second"]


async def test_retry_of_an_earlier_turn_leaves_out_what_followed() -> None:
    table = desk("one", "two", "better")
    await table.talk("first", "second")
    assert "retry-1" in await table.give("/retry 2")
    await table.work()
    assert read_by(table.model.requests[-1]) == ["first"]


async def test_retries_of_one_turn_have_names_of_their_own() -> None:
    table = desk("one", "two", "three", "four")
    await table.talk("first")
    for name in ("retry-1", "retry-3", "retry-5"):
        assert name in await table.give("/retry")
        await table.work()
    await table.give("/branch switch main")
    assert "retry-1-2" in await table.give("/retry 1")


async def test_what_an_earlier_turn_said_while_a_prompt_waited_is_read_by_its_retry() -> None:
    held = Held()
    table = desk(held, "two", "better")
    async with table.harness.at_work():
        running = await table.harness.say("first")
        await held.entered.wait()
        waiting = await table.harness.say("second", catch_up=True)
        held.release.set()
        await table.harness.answered(running)
        await table.harness.answered(waiting)
    await table.give("/retry")
    await table.work()
    assert read_by(table.model.requests[-1]) == ["first", "late", "second"]


async def test_what_had_joined_a_turn_is_said_again_with_it() -> None:
    table = desk("both", "both again")
    note = make.user_prompt("by the way", author="Ada", user_id="id-Ada")
    await table.harness.gateway.accept([Post(message=note, address=ROOM, mode="inject")])
    await table.talk("first")
    await table.give("/retry")
    async with table.harness.at_work():
        (opener,) = [each for each in await table.waiting() if each.mode == "followup"]
        await table.harness.answered(opener)
    assert "".join(read_by(table.model.requests[-1])).count("by the way") == 1
    assert "".join(read_by(table.model.requests[-1])).count("first") == 1


async def test_fork_goes_on_from_here_under_another_name() -> None:
    table = desk("one", "two", "three")
    await table.talk("first")
    assert "fork-2" in await table.give("/fork")
    await table.talk("second")
    await table.give("/branch switch main")
    await table.talk("third")
    assert read_by(table.model.requests[1]) == ["first", "one", "second"]
    assert read_by(table.model.requests[2]) == ["first", "one", "third"]


async def test_fork_from_a_message_reads_up_to_the_end_of_its_turn() -> None:
    table = desk("one", "two", "three")
    await table.talk("first", "second")
    await table.give("/fork 1")
    await table.talk("third")
    assert read_by(table.model.requests[-1]) == ["first", "one", "third"]


async def test_a_cleared_conversation_can_be_forked_and_undone_apart() -> None:
    table = desk("one", "two", "three")
    await table.talk("first")
    await table.give("/clear")
    await table.give("/fork")
    with pytest.raises(NotPossible):
        await table.give("/clear undo")
    await table.give("/branch switch main")
    await table.give("/clear undo")
    await table.talk("second")
    assert read_by(table.model.requests[-1]) == ["first", "one", "second"]


@pytest.mark.parametrize("line", ["/edit 1 mine now", "/retry 1"])
async def test_others_do_not_speak_for_a_person(line: str) -> None:
    table = desk("one", "two")
    await table.talk("first")
    with pytest.raises(NotPossible, match="somebody else wrote it"):
        await table.give(line, by="Mallory")
    assert await table.waiting() == []
    await table.give(line, by="Root", admin=True)
    (again,) = await table.waiting()
    assert again.message.author == "Ada"


async def test_the_line_that_says_who_wrote_it_stays_above_the_new_words() -> None:
    table = desk("one", "two")
    await table.talk("`Ada` at `2026-05-27 20:45:00 Asia/Shanghai`:\nfirst")
    await table.give("/edit 1 other\nwords")
    (again,) = await table.waiting()
    assert again.message.rendered == "`Ada` at `2026-05-27 20:45:00 Asia/Shanghai`:\nother\nwords"


async def test_what_cannot_be_edited_or_switched_to_is_said() -> None:
    table = desk("one")
    await table.talk("first")
    with pytest.raises(NotPossible, match="no message of a person"):
        await table.give("/edit 2 other")
    with pytest.raises(NotPossible, match="there are: main"):
        await table.give("/branch switch nowhere")
    for line in ("/branch switch", "/branch list fork-2"):
        with pytest.raises(CommandMisused, match="/branch switch NAME"):
            await table.give(line)
    assert await table.give("/branch switch main") == "This is the branch main."


async def test_nothing_is_retried_before_a_person_said_something() -> None:
    table = desk()
    await table.harness.gateway.post(Post(message=make.notice("hello"), address=ROOM))
    with pytest.raises(NotPossible, match="what the model reads here holds none of a person"):
        await table.give("/retry")


@pytest.mark.parametrize(
    ("line", "read"),
    [
        ("/retry 3", ["first", "one", "second"]),
        ("/edit 3 other", ["first", "one", "other"]),
        ("/retry 1", ["first"]),
        ("/edit 1 other", ["other"]),
    ],
)
async def test_where_a_pinned_turn_has_not_been_said_yet_it_is_not_read(line: str, read: list[str]) -> None:
    table = desk("one", "two", "better")
    await table.talk("first", "second")
    await table.give("/pin 3")
    await table.give(line)
    await table.work()
    assert read_by(table.model.requests[-1]) == read
    assert (await table.give("/pin")).startswith("Nothing is pinned here. /pin MESSAGE keeps ")


async def test_a_turn_that_was_pinned_before_stays_pinned() -> None:
    table = desk("one", "two", "three")
    await table.talk("first", "second")
    await table.give("/pin 1")
    await table.give("/fork 4")
    await table.give("/clear")
    await table.talk("third")
    assert read_by(table.model.requests[-1]) == ["first", "one", "third"]


@pytest.mark.parametrize(
    ("line", "read"),
    [
        ("/fork 6", ["first", "one", "other", "three", "last"]),
        ("/retry 6", ["first", "one", "other", "last"]),
    ],
)
async def test_a_message_of_another_branch_is_taken_with_what_was_read_there(line: str, read: list[str]) -> None:
    table = desk("one", "two", "three", *["four"] * 2)
    await table.talk("first", "second")
    await table.give("/edit 3 other")
    await table.work()
    await table.give("/branch switch main")
    await table.give(line)
    if await table.waiting():
        await table.work()
        assert read_by(table.model.requests[-1]) == read[:-1]
    else:
        await table.talk("last")
        assert read_by(table.model.requests[-1]) == read


async def test_a_message_that_was_cleared_is_taken_with_what_was_read_then() -> None:
    table = desk("one", "two", "three", "four")
    await table.talk("first", "second")
    await table.give("/clear")
    await table.give("/fork 4")
    await table.talk("third")
    assert read_by(table.model.requests[-1]) == ["first", "one", "second", "two", "third"]
    await table.give("/branch switch main")
    await table.give("/retry 3")
    await table.work()
    assert read_by(table.model.requests[-1]) == ["first", "one", "second"]


async def test_a_fork_leaves_out_what_joined_a_later_turn() -> None:
    held = Held()
    table = desk(held, "two", "three")
    async with table.harness.at_work():
        running = await table.harness.say("first")
        await held.entered.wait()
        note = make.user_prompt("by the way", author="Ada", user_id="id-Ada")
        await table.harness.gateway.accept([Post(message=note, address=ROOM, mode="inject")])
        held.release.set()
        await table.harness.answered(running)
    await table.talk("second")
    assert "by the way" in "".join(read_by(table.model.requests[-1]))
    await table.give("/fork 1")
    await table.talk("third")
    assert read_by(table.model.requests[-1]) == ["first", "late", "third"]


@pytest.mark.parametrize("number", ["1", "#1", "#01"])
async def test_a_prompt_that_had_joined_is_edited_and_the_others_are_said_again(number: str) -> None:
    table = desk("both", "both again")
    note = make.user_prompt("by the way", author="Ada", user_id="id-Ada")
    await table.harness.gateway.accept([Post(message=note, address=ROOM, mode="inject")])
    await table.talk("first")
    await table.give(f"/edit {number} by the way, in short")
    async with table.harness.at_work():
        (opener,) = [each for each in await table.waiting() if each.mode == "followup"]
        await table.harness.answered(opener)
    assert opener.message.rendered == "first"
    assert sorted(each.strip() for each in read_by(table.model.requests[-1])) == ["by the way, in short", "first"]


@pytest.mark.parametrize("line", ["/edit 1 other", "/retry"])
async def test_a_command_that_is_delivered_twice_says_it_once(line: str) -> None:
    table = desk("one", "two")
    await table.talk("first")
    for _ in range(2):
        await table.give(line, keys=["event-1"])
    assert len(await table.waiting()) == 1
    await table.work()
    await table.give(line, keys=["event-1"])
    assert await table.waiting() == []


async def test_a_message_of_an_earlier_conversation_of_the_channel_is_told_as_that() -> None:
    table = desk("one", "two")
    (old,) = await table.talk("first")
    await table.harness.store.write(lambda tx: tx.sessions.bind(ROOM, tx.sessions.create(at=1).id))
    await table.talk("second")
    for line in (f"/retry {old.id}", f"/edit {old.id} other", f"/pin {old.id}"):
        with pytest.raises(EarlierConversation, match="an earlier conversation of this channel"):
            await table.give(line)


async def test_nobody_is_asked_about_words_that_were_redacted() -> None:
    table = desk("one", "two")
    (first,) = await table.talk("first")
    gone = redacted(first.message)
    await table.harness.store.write(lambda tx: tx.messages.rewrite(gone, actor="user:id-Ada", at=9))
    for line in ("/retry", "/retry 1", "/retry 2"):
        with pytest.raises(NotPossible, match="/edit #1 TEXT says something in their place"):
            await table.give(line)
    await table.give("/edit #1 other")
    await table.work()
    assert read_by(table.model.requests[-1]) == ["other"]


@pytest.mark.parametrize("line", ["/edit 1 other", "/retry 1", "/retry"])
async def test_what_is_said_again_is_answered_where_the_command_was_given(line: str) -> None:
    """Also of a conversation that came from elsewhere, by import say: its first channel may be served by nobody."""
    table, desktop = desk("one", "two"), Address(chatbot_id="cli", channel_id="desk")
    (first,) = await table.talk("first")
    await table.harness.store.write(lambda tx: tx.sessions.bind(desktop, first.session_id))
    await table.give(line, at=desktop)
    (again,) = await table.waiting()
    assert again.address == desktop
    await table.work()
    assert (await table.harness.session(first))[-1].address == desktop
