"""What was edited and deleted while the bot was away counts, as long as the question waits."""

from pathlib import Path

import pytest

from kesoku.gateway import BusyPolicy, StoreGateway
from kesoku.messages.enums import MessageStatus
from kesoku.testing.discord import Broken, Kind
from kesoku.testing.fakes import FakePresence
from kesoku.testing.faulty_store import BEFORE, FaultyStore
from kesoku_discord.inbound.revisit import revisit

from .message_stage import Stage, stage, texts

LOOK = "GET /channels/{}/messages/{}"


async def asked(on: Stage, *words: str) -> list[int]:
    """Ada asks, in the room and directly, and the bot goes."""
    async with on.running():
        said = [await on.server.say(on.room, on.ada, f"<@BOT> {each}") for each in words]
        await on.prompts(len(words))
    return [each.id for each in said]


async def test_an_edit_and_a_deletion_while_the_bot_is_away(tmp_path: Path) -> None:
    """The first is rewritten under its id, the second withdrawn, and the third stays as it is."""
    async with stage(tmp_path) as on:
        first, second, _ = [on.server.world.messages[each] for each in await asked(on, "one", "two", "three")]
        before = await on.prompts(3)
        await on.server.edit(first, "<@BOT> first")
        await on.server.delete(second)
        async with on.running() as bot:
            found = await on.prompts(3)
            assert texts(found) == ["first", "two", "three"]
            assert [each.id for each in found] == [each.id for each in before]
            assert [await bot.status(each) for each in found] == [
                MessageStatus.PENDING_AGENT,
                MessageStatus.INTERRUPTED,
                MessageStatus.PENDING_AGENT,
            ]
            assert found[0].message.rendered == before[0].message.rendered.replace("one", "first")


@pytest.mark.parametrize("kind", [Kind.TEXT, Kind.FORUM])
async def test_where_it_is_answered_in_a_thread(tmp_path: Path, kind: Kind) -> None:
    """A message with a thread stands in its channel, the first one of a post in the post."""
    async with stage(tmp_path) as on:
        place = on.server.channel("help", guild=on.guild, kind=kind)
        async with on.running(auto_thread=True):
            if kind is Kind.FORUM:
                (said,) = (await on.server.publish(place, on.ada, "Tuning", "<@BOT> hw?")).messages
            else:
                said = await on.server.say(place, on.ada, "<@BOT> hw?")
            await on.prompts(1)
        await on.server.edit(said, "<@BOT> how?")
        async with on.running(auto_thread=True):
            (record,) = await on.prompts(1)
            assert record.message.rendered.endswith("how?")
            assert record.address.channel_id == str(said.id)


async def test_in_a_direct_chat(tmp_path: Path) -> None:
    """Which the library has not met yet."""
    async with stage(tmp_path) as on:
        async with on.running():
            said = await on.server.say(on.server.direct(on.ada), on.ada, "hw?")
            await on.prompts(1)
        await on.server.edit(said, "how?")
        async with on.running():
            assert texts(await on.prompts(1)) == ["how?"]


async def test_what_is_answered_already_is_not_looked_at(tmp_path: Path) -> None:
    """Nor anything where nothing waits."""
    async with stage(tmp_path) as on:
        async with on.running() as bot:
            said = await on.server.say(on.room, on.ada, "<@BOT> one")
            await on.prompts(1)
            await bot.finish(await bot.claim())
        await on.server.edit(said, "<@BOT> two")
        async with on.running():
            assert texts(await on.prompts(1)) == ["one"]
        assert on.server.asked(LOOK) == []


async def test_trouble_leaves_the_question_as_it_is(tmp_path: Path) -> None:
    """And the next one is looked at."""
    async with stage(tmp_path) as on:
        said = [on.server.world.messages[each] for each in await asked(on, "one", "two")]
        for each in said:
            await on.server.edit(each, f"{each.content}!")
        on.server.script(Broken(503), on=LOOK)
        async with on.running():
            assert texts(await on.prompts(2)) == ["one", "two!"]


async def test_what_goes_wrong_keeps_nobody_from_being_heard(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """The store fails when it is asked what waits: what was missed and what comes is taken in still."""
    async with stage(tmp_path) as on:
        await asked(on, "one")
        on.gateway = StoreGateway(faulty := FaultyStore(on.store, on.clock), on.clock, BusyPolicy(), FakePresence())
        on.store = faulty
        faulty.script("GatewayInbox.waiting", BEFORE)
        await on.server.say(on.room, on.ada, "<@BOT> two")
        async with on.running():
            await on.server.say(on.room, on.ada, "<@BOT> three")
            assert texts(await on.prompts(3)) == ["one", "two", "three"]
        assert "made by a test" in caplog.text


async def test_a_long_queue_is_looked_at_from_its_beginning(tmp_path: Path) -> None:
    """What is answered next counts."""
    async with stage(tmp_path) as on, on.running() as bot:
        said = [await on.server.say(on.room, on.ada, f"<@BOT> {n}") for n in range(3)]
        await on.prompts(3)
        await revisit(await bot.inbox.waiting(), bot.adapter.client, bot.adapter.room, most=2)
        assert [each.path.rpartition("/")[2] for each in on.server.asked(LOOK)] == [str(each.id) for each in said[:2]]
