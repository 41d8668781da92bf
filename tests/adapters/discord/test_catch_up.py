"""What was written while the bot was away is read up: once, in order, and not for ever."""

import asyncio
import logging
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from kesoku.adapter.access import Access
from kesoku.adapter.policy import IntakePolicy
from kesoku.testing.discord import Broken, Hang, Limited, Refusal
from kesoku.testing.discord.wire import entity as wire_entity
from kesoku.testing.discord.world import permission
from kesoku.testing.waiting import until
from kesoku_discord.inbound.doors import Doors
from kesoku_discord.inbound.memory import Channels, OnceADay

from .message_stage import Stage, alone, stage, texts
from .wire_stage import holds

HISTORY = "GET /channels/{}/messages"
OPEN = "POST /users/@me/channels"
MEMBER = "GET /guilds/{}/members/{}"


async def known(on: Stage) -> None:
    """The bot was here once, and knows the direct chat with Ada."""
    async with on.running() as bot:
        await on.server.say(on.room, on.eve, "hello all")
        await on.server.say(on.server.direct(on.ada), on.ada, "first")
        await on.settled(bot, 2)
        await on.prompts(1)


async def test_the_first_start_reads_nothing_up(tmp_path: Path) -> None:
    """A bot that is invited does not answer last week."""
    async with stage(tmp_path) as on:
        await on.server.say(on.room, on.ada, "<@BOT> before you came")
        async with on.running() as bot:
            assert on.server.asked(HISTORY) == []
            newest = on.server.messages(on.room)[-1].id
            assert await bot.inbox.state.get("seen") == str(newest)
        async with on.running():
            assert await on.prompts(0) == []


async def test_what_was_missed_is_answered_once_and_in_order(tmp_path: Path) -> None:
    """Complaint 28: three missed, three turns, also over another restart; nothing is interrupted by them."""
    async with stage(tmp_path) as on:
        await known(on)
        for n in range(3):
            await on.server.say(on.room, on.ada, f"<@BOT> {n}")
            await on.server.say(on.room, on.ada, "beside it")
        for _ in range(2):
            async with on.running():
                assert texts(await on.prompts(4)) == ["first", "0", "1", "2"]
        assert on.shown(on.room) == []


async def test_missed_messages_wait_behind_each_other(tmp_path: Path) -> None:
    """The first that is missed does not fall to the second, as a live one would."""
    async with stage(tmp_path) as on:
        await known(on)
        for n in range(2):
            await on.server.say(on.room, on.ada, f"<@BOT> {n}")
        async with on.running() as bot:
            found = await on.prompts(3)
            await bot.finish(await bot.claim())
            await bot.claim()
            assert [(await bot.status(each)).value for each in found[1:]] == ["processing", "pending_agent"]


async def test_threads_and_direct_chats_are_read_too(tmp_path: Path) -> None:
    """Also where nobody says the bot's name."""
    async with stage(tmp_path) as on:
        thread = on.server.thread(on.room, "songs", by=on.server.world.bot)
        await known(on)
        await on.server.say(thread, on.ada, "in a thread")
        await on.server.say(on.server.direct(on.ada), on.ada, "directly")
        async with on.running():
            assert sorted(texts(await on.prompts(3))) == ["directly", "first", "in a thread"]


async def test_the_chat_with_whom_the_config_names_is_read_from_its_first_message_on(tmp_path: Path) -> None:
    """Discord lists no direct chat to a bot: each is opened, once over restarts."""
    async with stage(tmp_path) as on:
        who: dict[str, Any] = {"admins": [f"user:{on.ada.id}"], "allow": [f"user:{on.ada.id}", f"guild:{on.guild.id}"]}
        async with on.running(**who) as bot:
            await on.server.say(on.room, on.eve, "hello all")
            await on.settled(bot, 1)
        await on.server.say(on.server.direct(on.ada), on.ada, "the first ever")
        async with on.running(**who):
            assert texts(await on.prompts(1)) == ["the first ever"]
        assert len(on.server.asked(OPEN)) == 1


@pytest.mark.parametrize(("fault", "times"), [(Refusal(403, 50001, "Missing Access"), 1), (Broken(503), 2)])
async def test_a_chat_that_is_refused_is_not_opened_again(tmp_path: Path, fault: Refusal | Broken, times: int) -> None:
    """Trouble of Discord's own is no refusal."""
    async with stage(tmp_path) as on:
        on.server.script(fault, on=OPEN)
        for _ in range(3):
            async with on.running(admins=[f"user:{on.ada.id}"]):
                pass
        assert len(on.server.asked(OPEN)) == times


async def test_the_chat_with_a_stranger_who_is_let_in_later_is_read(tmp_path: Path) -> None:
    """What was refused is not answered; what was written after an admin let them in, is."""
    async with stage(tmp_path) as on:
        async with on.running() as bot:
            await on.server.say(on.server.direct(on.eve), on.eve, "hello")
            await on.settled(bot, 1)
        on.access = replace(on.access, allow=(*on.access.allow, f"user:{on.eve.id}"))
        await on.server.say(on.server.direct(on.eve), on.eve, "here I am")
        async with on.running():
            assert texts(await on.prompts(1)) == ["here I am"]


async def test_what_is_too_old_is_counted_in_one_line(tmp_path: Path) -> None:
    """Complaint 28: where it was written, once; what was not meant for the bot does not count, nor strangers."""
    async with stage(tmp_path) as on:
        elsewhere = on.server.channel("elsewhere", guild=on.guild)
        async with on.running() as bot:
            await bot.inbox.state.set("seen", str(on.server.world.snowflakes.before(9000)))
        for text, by in (("<@BOT> a", on.ada), ("<@BOT> b", on.bob), ("<@BOT> c", on.eve), ("mine", on.ada)):
            await on.server.say(on.room, by, text, ago=7300)
        await on.server.say(elsewhere, on.ada, "mine", ago=7300)
        await on.server.say(on.room, on.ada, "<@BOT> new", ago=60)
        for _ in range(2):
            async with on.running(catch_up_hours=2):
                assert texts(await on.prompts(1)) == ["new"]
        (line,) = on.shown(on.room)
        assert line.startswith("-# 2 messages were not answered, from before <t:")
        assert line.endswith(":f>: I was away.")
        assert on.shown(elsewhere) == []


@pytest.mark.parametrize("options", [{"catch_up_hours": 0}, {"catch_up_messages": 0}])
async def test_reading_up_can_be_turned_off(tmp_path: Path, options: dict[str, Any]) -> None:
    """And the cursor goes on."""
    async with stage(tmp_path) as on:
        await known(on)
        await on.server.say(on.room, on.ada, "<@BOT> missed")
        async with on.running(**options):
            await on.prompts(1)
            assert on.server.asked(HISTORY) == []
        async with on.running():
            await on.prompts(1)


async def test_live_messages_come_after_the_missed_ones(tmp_path: Path) -> None:
    """Those that come before the bot has begun to read up; each once, though history holds them, too."""
    async with stage(tmp_path) as on:
        await known(on)
        await on.server.say(on.room, on.ada, "<@BOT> missed")
        began, gate = asyncio.Event(), asyncio.Event()

        async def hold() -> None:
            began.set()
            await gate.wait()

        async with on.running(hold=hold, ready=False) as bot:
            await began.wait()
            live = await on.server.say(on.room, on.ada, "<@BOT> live")
            room = bot.adapter.client.get_channel(on.room.id)
            await holds(lambda: room.last_message_id == live.id, "it is with the client")
            await on.prompts(1)
            gate.set()
            await on.settled(bot, 1)
            assert texts(await on.prompts(3)) == ["first", "missed", "live"]


async def test_live_messages_wait_while_history_is_read(tmp_path: Path) -> None:
    """In their channel; others go on."""
    async with stage(tmp_path) as on:
        other = on.server.channel("other", guild=on.guild)
        await known(on)
        await on.server.say(on.room, on.ada, "<@BOT> missed")
        on.server.script(Limited(0.2), on=HISTORY, channel=on.room)
        async with on.running(ready=False) as bot:
            await holds(lambda: [each for each in on.server.asked(HISTORY) if each.scripted], "history is asked for")
            await on.server.say(on.room, on.ada, "<@BOT> live")
            await on.server.say(other, on.ada, "<@BOT> elsewhere")
            await on.settled(bot, 2)
            assert texts(await on.prompts(4)) == ["first", "elsewhere", "missed", "live"]


async def test_what_is_missed_between_two_sessions_is_read_up(tmp_path: Path) -> None:
    """The session could not be resumed; the process went on."""
    async with stage(tmp_path) as on, on.running() as bot:
        await on.server.say(on.room, on.ada, "<@BOT> one")
        await on.prompts(1)
        on.server.forget_sessions()
        await on.server.drop()
        await on.server.say(on.room, on.ada, "<@BOT> two")
        await holds(lambda: bot.adapter.readies == 2, "a second session")
        assert texts(await on.prompts(2)) == ["one", "two"]


async def test_a_session_that_ends_while_history_is_read_leaves_no_gap(tmp_path: Path) -> None:
    """The next one reads from where the first began."""
    async with stage(tmp_path) as on:
        other = on.server.channel("other", guild=on.guild)
        async with on.running() as bot:
            await bot.inbox.state.set("seen", str(on.server.world.snowflakes.before(100)))
        await on.server.say(on.room, on.ada, "<@BOT> missed", ago=50)
        on.server.script(Limited(0.2), on=HISTORY, channel=on.room)
        async with on.running(ready=False) as bot:
            await holds(lambda: [each for each in on.server.asked(HISTORY) if each.scripted], "history is asked for")
            on.server.forget_sessions()
            await on.server.drop()
            await on.server.say(other, on.ada, "<@BOT> gap", ago=30)
            await on.server.say(on.room, on.ada, "<@BOT> later")
            await holds(lambda: bot.adapter.readies == 2, "a second session")
            assert sorted(texts(await on.prompts(3))) == ["gap", "later", "missed"]


async def test_the_cursor_does_not_pass_what_was_not_finished(tmp_path: Path) -> None:
    """The process ends while the earlier of two is in work: it is not lost."""
    async with stage(tmp_path) as on:
        other = on.server.channel("other", guild=on.guild)
        await known(on)
        options = {str(on.room.id): {"respond": "addressed", "auto_thread": True}}
        async with on.running(channels=options):
            on.server.script(Hang(), on="POST /channels/{}/messages/{}/threads")
            await on.server.say(on.room, on.ada, "<@BOT> slow")
            await holds(lambda: on.server.asked("POST /channels/{}/messages/{}/threads"), "a thread is asked for")
            await on.server.say(other, on.ada, "<@BOT> quick")
            assert texts(await on.prompts(2)) == ["first", "quick"]
        async with on.running(channels=options):
            assert texts(await on.prompts(3)) == ["first", "quick", "slow"]


async def test_history_is_asked_for_once_more(tmp_path: Path) -> None:
    """Where Discord has trouble."""
    async with stage(tmp_path) as on:
        await known(on)
        await on.server.say(on.room, on.ada, "<@BOT> missed")
        on.server.script(Broken(503), on=HISTORY, channel=on.room)
        async with on.running(pauses=(0.0,)):
            assert texts(await on.prompts(2)) == ["first", "missed"]


async def test_trouble_that_lasts_leaves_the_cursor(tmp_path: Path) -> None:
    """The next session reads what this one could not, though others went on."""
    async with stage(tmp_path) as on:
        other = on.server.channel("other", guild=on.guild)
        await known(on)
        await on.server.say(on.room, on.ada, "<@BOT> missed")
        on.server.script(Broken(503), Broken(503), on=HISTORY, channel=on.room)
        async with on.running(pauses=(0.0,)):
            await on.server.say(other, on.ada, "<@BOT> live")
            assert texts(await on.prompts(2)) == ["first", "live"]
        async with on.running():
            assert texts(await on.prompts(3)) == ["first", "live", "missed"]


async def test_an_odd_message_does_not_hide_the_others(tmp_path: Path) -> None:
    """History holds one that the library cannot read."""
    async with stage(tmp_path) as on:
        await known(on)
        said = [await on.server.say(on.room, on.ada, f"<@BOT> {n}") for n in range(3)]
        said[1].author = replace(said[1].author, id="nobody")  # type: ignore[arg-type]
        async with on.running():
            assert texts(await on.prompts(3)) == ["first", "0", "2"]


async def test_a_message_that_cannot_be_handled_does_not_stop_the_others(tmp_path: Path) -> None:
    """It is read again by the next session; what comes after it is not held up."""
    async with stage(tmp_path) as on:
        await known(on)
        thread = on.server.thread(on.room, "t", from_message=await on.server.say(on.room, on.bob, "<@BOT> 0"))
        await on.server.say(thread, on.ada, "1")
        await on.server.say(thread, on.ada, "<@BOT> 2")
        on.server.script(Broken(503), on="GET /channels/{}/messages/{}", channel=on.room)
        async with on.running():
            assert texts(await on.prompts(3)) == ["first", "0", "2"]
        async with on.running():
            assert texts(await on.prompts(4)) == ["first", "0", "2", "1"]


async def test_a_thread_that_was_put_away_meanwhile_is_read_too(tmp_path: Path) -> None:
    """Discord does not list it; it is asked for as long as there is something new in it."""
    async with stage(tmp_path) as on:
        thread = on.server.thread(on.room, "songs", by=on.server.world.bot)
        band = on.server.role(on.guild, "band")
        on.server.join(on.guild, on.eve, roles=[band])
        on.access = Access(allow=(f"role:{band.id}",))
        async with on.running():
            await on.server.say(thread, on.eve, "one")
            await on.prompts(1)
        await on.server.say(thread, on.eve, "two")
        on.server.archive(thread)
        expected = ["one", "two"]
        for n in range(3):
            async with on.running():
                assert texts(await on.prompts(len(expected))) == expected
                await on.server.say(on.room, on.eve, f"<@BOT> {n}")
                expected.append(str(n))
                await on.prompts(len(expected))
        assert len(on.server.asked("GET /channels/{}")) == 2


@pytest.mark.parametrize("stored", ["abc", "", -5, 1.5, [1], {"a": 1}, "9" * 40])
async def test_a_cursor_that_makes_no_sense_loses_nothing(tmp_path: Path, stored: Any) -> None:
    """What is known is known, so everything that is young enough is read."""
    async with stage(tmp_path) as on:
        await known(on)
        async with on.running() as bot:
            await bot.inbox.state.set("seen", stored)
        missed = await on.server.say(on.room, on.ada, "<@BOT> missed")
        async with on.running() as bot:
            assert texts(await on.prompts(2)) == ["first", "missed"]
            assert await bot.inbox.state.get("seen") == str(missed.id)


@pytest.mark.parametrize("stored", [{"a": 1}, "zz", 7, ["x", None, "5"]])
async def test_what_is_remembered_in_another_form_is_forgotten(tmp_path: Path, stored: Any) -> None:
    """And stands in the way of nothing."""
    async with stage(tmp_path) as on:
        async with on.running() as bot:
            for key in ("direct", "threads", "thread_told"):
                await bot.inbox.state.set(key, stored)
        await on.server.say(on.room, on.ada, "<@BOT> missed")
        on.server.script(Refusal(403, 50013, "Missing Permissions"), on="POST /channels/{}/messages/{}/threads")
        async with on.running(auto_thread=True) as bot:
            assert texts(await on.prompts(1)) == ["missed"]
            await on.server.say(on.server.direct(on.ada), on.ada, "live")
            assert texts(await on.prompts(2)) == ["missed", "live"]
            assert (await bot.inbox.state.get("direct"))[-1] == str(on.server.direct(on.ada).id)


async def test_a_stranger_is_told_once(tmp_path: Path) -> None:
    """A bot that is started again and again does not say it again and again."""
    async with stage(tmp_path) as on:
        async with on.running() as bot:
            await on.server.say(on.room, on.eve, "<@BOT> hi")
            await on.settled(bot, 2)  # the hint is the bot's own message
        for _ in range(2):
            async with on.running():
                assert len(on.shown(on.room)) == 1


async def test_a_server_that_comes_late_is_read_too(tmp_path: Path) -> None:
    """Discord has an outage there when the session begins; the cursor waits, and what comes live waits, too."""
    async with stage(tmp_path) as on:
        late = on.server.guild("Late")
        on.server.join(late, on.ada)
        hall = on.server.channel("hall", guild=late)
        async with on.running() as bot:
            await bot.inbox.state.set("seen", str(on.server.world.snowflakes.before(100)))
        await on.server.say(hall, on.ada, "<@BOT> late", ago=50)
        await on.server.say(on.room, on.ada, "<@BOT> missed", ago=40)
        began, gate = asyncio.Event(), asyncio.Event()

        async def hold() -> None:
            began.set()
            await gate.wait()

        async with on.running(hold=hold, ready=False) as bot:
            await began.wait()
            on.server.world.emit("GUILD_DELETE", {"id": str(late.id), "unavailable": True}, guild=late)
            await holds(lambda: bot.adapter.client.get_guild(late.id).unavailable, "the outage")
            gate.set()
            assert texts(await on.prompts(1)) == ["missed"]
            seen = await bot.inbox.state.get("seen")
            on.server.world.emit("GUILD_CREATE", wire_entity.guild_create(on.server.world, late), guild=late)
            await on.server.say(hall, on.ada, "<@BOT> live")
            await holds(lambda: bot.adapter.readies, "all is read")
            assert texts(await on.prompts(3)) == ["missed", "late", "live"]
            assert int(await bot.inbox.state.get("seen")) > int(seen)


async def test_a_channel_that_refuses_does_not_stop_the_others(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """Complaint 28: one line in the log; what is known to be refused is not asked for."""
    async with stage(tmp_path) as on:
        hidden, mute = (on.server.channel(name, guild=on.guild) for name in ("hidden", "mute"))
        await known(on)
        for channel in (hidden, mute, on.room):
            await on.server.say(channel, on.ada, "<@BOT> hi")
        on.server.permit(mute, deny=permission.READ_MESSAGE_HISTORY)
        on.server.script(Refusal(403, 50001, "Missing Access"), on=HISTORY, channel=hidden)
        with caplog.at_level(logging.WARNING, logger="kesoku_discord"):
            async with on.running():
                assert [each.address.channel_id for each in await on.prompts(2)][1:] == [str(on.room.id)]
        assert [f"channel {hidden.id} cannot be read" in each.message for each in caplog.records] == [True]
        paths = [each.path for each in on.server.asked(HISTORY)]
        assert not any(str(mute.id) in path for path in paths)
        assert len([path for path in paths if str(hidden.id) in path]) == 1


@pytest.mark.parametrize(
    ("limit", "expected"), [(200, [str(n) for n in range(120)]), (110, [str(n) for n in range(10, 120)])]
)
async def test_history_is_read_in_pages_up_to_a_limit(tmp_path: Path, limit: int, expected: list[str]) -> None:
    """Where there is more, the newest count."""
    async with stage(tmp_path) as on:
        async with on.running() as bot:
            await bot.inbox.state.set("seen", str(on.server.world.snowflakes.before(3000)))
        for n in range(120):
            await on.server.say(on.room, on.ada, f"<@BOT> {n}", ago=2000 - n)
        async with on.running(catch_up_messages=limit):
            assert texts(await on.prompts(len(expected))) == expected
        assert [int(each.query["limit"]) for each in on.server.asked(HISTORY)] == [100, limit - 100]


async def test_who_has_a_role_is_known_though_history_does_not_tell(tmp_path: Path) -> None:
    """Asked once a person and catch-up, roles and nickname as they are now."""
    async with stage(tmp_path) as on:
        band = on.server.role(on.guild, "band")
        on.access = Access(allow=(f"role:{band.id}",))
        async with on.running():
            pass
        on.server.join(on.guild, on.ada, nick="Chii", roles=[band])
        for n in range(3):
            await on.server.say(on.room, on.ada, f"<@BOT> {n}")
        await on.server.say(on.room, on.eve, "<@BOT> and me?")
        async with on.running():
            found = await on.prompts(3)
            assert {each.message.author for each in found} == {"Chii"}
        assert len(on.server.asked(MEMBER)) == 2


async def test_who_has_left_the_server_has_no_role(tmp_path: Path) -> None:
    """What goes by the id of the person still holds."""
    async with stage(tmp_path) as on:
        await known(on)
        await on.server.say(on.room, on.ada, "<@BOT> missed")
        on.server.script(Refusal(404, 10007, "Unknown Member"), on=MEMBER)
        async with on.running():
            (_, record) = await on.prompts(2)
            assert record.message.author == "Ada"


async def test_whose_roles_nobody_knows_is_heard_later(tmp_path: Path) -> None:
    """Without roles neither `allow` nor `deny` would hold."""
    async with stage(tmp_path) as on:
        await known(on)
        await on.server.say(on.room, on.ada, "<@BOT> missed")
        on.server.script(Broken(503), on=MEMBER)

        async def asked() -> bool:
            return len(on.server.asked(MEMBER)) == 1

        async with on.running():
            await until(asked, what="the roles are asked for")
        async with on.running():
            (_, record) = await on.prompts(2)
            assert record.message.author == "Ada"


async def test_quiet_reading_moves_the_cursor(tmp_path: Path) -> None:
    """So that a busy channel is not looked through again from the day of the last prompt."""
    now = [time.time()]
    async with stage(tmp_path, now=lambda: now[0]) as on:
        await known(on)
        async with on.running() as bot:
            now[0] += 60
            message = await on.server.say(on.room, on.eve, "beside it")
            await on.settled(bot, 1)
            assert await bot.inbox.state.get("seen") == str(message.id)


async def test_doors_open_for_one_session() -> None:
    """Those of the next one are shut again."""
    session: list[str | None] = [None]
    doors = Doors(lambda: session[0])
    waiting = asyncio.create_task(doors.passed(1))
    await asyncio.sleep(0)
    assert not waiting.done()
    session[0] = "a"
    await doors.open("a", but=[2])
    await waiting
    for door in (2, 3):
        await doors.open("a", but=[2, 3])
        shut = asyncio.create_task(doors.passed(*{2: (2,), 3: (4, 3)}[door]))
        await asyncio.sleep(0)
        assert not shut.done()
        await doors.open_one(door)
        await shut
    session[0] = "b"
    late = asyncio.create_task(doors.passed(1))
    await asyncio.sleep(0)
    assert not late.done()
    await doors.open("b")
    await late


async def test_what_is_remembered_is_bounded(tmp_path: Path) -> None:
    """The newest stay."""
    state = alone(tmp_path, IntakePolicy()).inbox.state
    await state.set("direct", [str(n) for n in range(499)])
    direct = Channels(state, "direct")
    for n in (499, 500, 500, 501):
        await direct.add(n)
    assert await Channels(state, "direct").all() == list(range(2, 502))
    await state.set("thread_told", {str(n): 1 for n in range(500)})
    told = OnceADay(state)
    assert [await told.first(7, day) for day in (1, 2, 2)] == [False, True, False]
    assert await told.first(500, 2)
    stored = await state.get("thread_told")
    assert (len(stored), "0" in stored, stored["7"], stored["500"]) == (500, False, 2, 2)
