"""What becomes of a turn whose place, person or login goes while it runs: an end with its reason, and only its own."""

from collections.abc import Callable
from pathlib import Path

import pytest

from kesoku.adapter.supervisor import Ending
from kesoku.messages.enums import MessageStatus as S
from kesoku.messages.lifecycle import DeliveryState
from kesoku.testing.discord.world import permission
from kesoku.testing.waiting import until

from .turn_stage import Turn, turn
from .wire_stage import holds

pytestmark = pytest.mark.usefixtures("no_proxy")
SENDING = "POST /channels/{}/messages"


def _loses_its_role(on: Turn) -> None:
    on.server.permit(on.room, deny=permission.SEND_MESSAGES_IN_THREADS)


def _sees_it_no_more(on: Turn) -> None:
    on.server.permit(on.room, deny=permission.VIEW_CHANNEL)


@pytest.mark.parametrize(
    ("goes", "words"),
    [
        (lambda on: on.server.archive(on.thread, locked=True), "the thread is locked; somebody with Manage Threads"),
        (_loses_its_role, "give its role Send Messages"),
        (_sees_it_no_more, "give its role View Channel here"),
    ],
    ids=["locked", "muted", "hidden"],
)
async def test_an_answer_that_nobody_takes_ends_with_its_reason(
    tmp_path: Path, goes: Callable[[Turn], None], words: str
) -> None:
    """It is tried once, the turn itself counts as done, and the bot answers elsewhere."""
    async with turn(tmp_path) as on:
        goes(on)
        tried = len(on.server.asked(SENDING))
        answer = await on.ends(as_=S.ERROR)
        assert words in await on.why(answer)
        assert await on.bot.status(on.claim.prompt) is S.PROCESSED
        await on.answers_elsewhere()
        assert len(on.server.asked(SENDING)) == tried + 2


@pytest.mark.parametrize(
    "goes",
    [
        lambda on: on.server.expel(on.guild),
        lambda on: on.server.remove(on.thread),
        lambda on: on.server.remove(on.room),
    ],
    ids=["kicked", "thread", "channel"],
)
async def test_a_turn_whose_place_is_gone_is_stopped(tmp_path: Path, goes: Callable[[Turn], None]) -> None:
    """With what waits behind it: nobody could read the answers, or press Stop."""
    async with turn(tmp_path) as on:
        await on.server.say(on.thread, on.ada, "and 6 * 8?")

        async def is_queued() -> bool:
            return len(await on.bot.inbox.waiting()) == 1

        await until(is_queued, what="a second question")
        (second,) = await on.bot.inbox.waiting()
        goes(on)

        async def is_stopped() -> bool:
            return {await on.bot.status(each) for each in (on.claim.prompt, second)} == {S.INTERRUPTED}

        await until(is_stopped, what="both have ended")
        await on.answers_elsewhere()


@pytest.mark.parametrize(
    ("goes", "words"),
    [
        (lambda on: setattr(on.thread, "deleted", True), "the channel is gone"),
        (lambda on: on.guild.members.pop(on.server.bot_id), "or is no longer in its server"),
    ],
    ids=["deleted", "kicked"],
)
async def test_an_answer_to_a_place_that_went_unheard_ends_with_its_reason(
    tmp_path: Path, goes: Callable[[Turn], None], words: str
) -> None:
    """The connection was away when it happened."""
    async with turn(tmp_path) as on:
        goes(on)
        assert words in await on.why(await on.ends(as_=S.ERROR))
        await on.answers_elsewhere()


@pytest.mark.parametrize(
    ("goes", "reply"),
    [
        (lambda on: on.server.archive(on.thread), True),
        (lambda on: on.server.outage(on.guild), True),
        (lambda on: on.server.leave(on.guild, on.ada), True),
        (lambda on: on.server.ban(on.guild, on.ada), False),
    ],
    ids=["archived", "outage", "left", "banned"],
)
async def test_an_answer_arrives_where_there_is_still_somewhere(
    tmp_path: Path, goes: Callable[[Turn], None], *, reply: bool
) -> None:
    """A thread that was put away opens again; who asked may be gone, and others read along."""
    async with turn(tmp_path) as on:
        goes(on)
        await on.ends(as_=S.DELIVERED)
        await holds(lambda: on.status.deleted, "the status is gone")
        shown = [each for each in on.server.messages(on.thread) if each.author_id == on.server.bot_id]
        assert [(each.content.splitlines()[0], each.reply_to) for each in shown] == [
            ("42", on.asked.id if reply else None)
        ]
        assert not on.thread.archived
        await on.answers_elsewhere()


async def test_what_a_refused_token_held_goes_out_when_it_is_taken_again(tmp_path: Path) -> None:
    """The connection stays meanwhile; nobody has to write or to reconnect."""
    async with turn(tmp_path) as on:
        on.server.revoked = True
        answer = await on.bot.finish(on.claim, "42")

        async def held() -> bool:
            parts = await on.stage.store.read(lambda tx: tx.deliveries.of(answer.id))
            return any(each.state is DeliveryState.HELD for each in parts)

        await until(held, what="it is held")
        assert (await on.bot.status(answer)) is S.PENDING
        on.server.restore()
        await holds(lambda: on.shown() == ["42"], "the answer alone")
        assert on.server.identifies == 1


async def test_the_status_of_a_bot_that_is_gone_is_removed_by_the_next_one(tmp_path: Path) -> None:
    """Complaint 94: its turn was stopped when nobody was there to say so."""
    async with turn(tmp_path) as on:
        on.server.revoke()
        await on.bot.supervisor
        await on.bot.inbox.interrupt(on.claim.prompt.address, by="somebody")
        on.server.restore()
        assert on.shown() != []
        async with on.stage.bot(on.ada):
            await holds(lambda: on.status.deleted, "the status is gone")
        assert on.shown() == []


async def test_a_token_that_is_revoked_ends_the_bot_and_the_next_one_answers_once(tmp_path: Path) -> None:
    """Discord ends the connection, too. What was asked before is answered by the bot that logs in again."""
    async with turn(tmp_path) as on:
        on.server.revoke()
        assert await on.bot.supervisor is Ending.LOGIN_NEEDED
        assert "make a new token at" in on.bot.health.text
        await on.bot.finish(on.claim, "42")
        tried = len(on.server.requests)
        on.server.restore()
        async with on.stage.bot(on.ada):
            await holds(lambda: on.shown() == ["42"], "the answer alone")
        assert len(on.server.requests) > tried
