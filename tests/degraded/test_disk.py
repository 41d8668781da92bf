"""The disk fills up, or takes no writes any more, while a turn runs; and then it does again."""

import asyncio
import logging
import sqlite3
from collections import Counter
from pathlib import Path

import pytest

from kesoku.adapter.attempt import pause
from kesoku.agent.dispatcher import Dispatcher
from kesoku.errors import StoreFull
from kesoku.messages.enums import MessageStatus as S
from kesoku.messages.lifecycle import Claim
from kesoku.store import SqlStore
from kesoku.testing.agent_harness import AgentHarness
from kesoku.testing.disk import fill
from kesoku.testing.driver import SqliteFault, faulty_sqlite
from kesoku.testing.gateway_harness import EVERYTHING
from kesoku.testing.model import Held, reply
from kesoku.testing.platform import Fault

from .conftest import HALL, ROOM, Bot, bot_at_work

BEAT = 5
"""Seconds between two attempts; after so many things go on by themselves."""


async def pass_time(bot: Bot | AgentHarness, seconds: int) -> None:
    """Let virtual time pass, and the threads of the store fail meanwhile."""
    for _ in range(seconds):
        await bot.clock.advance(1.0)
        for _ in range(3):  # whoever wakes up writes, and the store answers
            await asyncio.gather(bot.store.write(lambda _: None), return_exceptions=True)


def complaints(caplog: pytest.LogCaptureFixture) -> Counter[str]:
    found = (each for each in caplog.records if each.levelno >= logging.WARNING)
    return Counter(each.getMessage() for each in found)


@pytest.mark.parametrize("seconds", [8, 40], ids=["for a moment", "for longer than a lease"])
async def test_a_full_disk_holds_turns_up_and_nothing_is_lost(
    disk: Path, tmp_path: Path, seconds: int, caplog: pytest.LogCaptureFixture
) -> None:
    held = Held(reply("my view" + "!" * 1_000))
    opened = await SqlStore.open(disk / "kesoku.db")
    async with opened as store, bot_at_work(store, tmp_path, held, "sure", "sure") as bot:
        bot.platform.say(ROOM, "what do you think?")
        await held.entered.wait()
        ballast = fill(disk)
        held.release.set()
        bot.platform.say(HALL, "and you?")
        await pass_time(bot, seconds)
        assert not bot.platform.texts()
        assert {each.status for each in await bot.records()} == {S.PROCESSING}
        (note, wait), *_ = bot.harness.drafts.notes
        assert "is full" in note
        assert wait == BEAT
        tried = complaints(caplog)
        assert max(tried.values()) <= seconds / BEAT + 2, tried  # the first one, and one that an event brought
        assert not [each for each in caplog.records if each.exc_info]
        ballast.unlink()
        await pass_time(bot, BEAT + 1)
        await bot.settled()
    asked_again = seconds > 8  # the turn lost its lease, and what the model had said
    assert [each[:7] for each in bot.platform.texts(ROOM)] == ["sure" if asked_again else "my view"]
    assert bot.platform.texts(HALL) == ["sure"]
    assert len(bot.model.requests) == 2 + asked_again


async def test_what_was_sent_while_the_disk_was_full_is_not_sent_again(disk: Path, tmp_path: Path) -> None:
    # complaint 19
    async with await SqlStore.open(disk / "kesoku.db") as store, bot_at_work(store, tmp_path, "hello") as bot:
        bot.platform.honours_keys = False
        bot.platform.script(ROOM, Fault(kind="stuck"))
        bot.platform.say(ROOM, "hi")
        await bot.shows(ROOM, "hello")
        ballast = fill(disk)
        bot.platform.release()
        await pass_time(bot, 12)
        ballast.unlink()
        await pass_time(bot, BEAT + 1)
        await bot.settled()
    assert [each["op"] for each in bot.platform.ops("send", "repeat")] == ["send"]


@pytest.mark.parametrize("code", [sqlite3.SQLITE_READONLY, sqlite3.SQLITE_IOERR], ids=["read-only", "failing"])
async def test_a_database_that_takes_no_writes_for_a_while_loses_nothing(tmp_path: Path, code: int) -> None:
    fault = SqliteFault(code=code)
    held = Held(reply("my view"))
    opened = await SqlStore.open(tmp_path / "kesoku.db", module=faulty_sqlite(fault))
    async with opened as store, bot_at_work(store, tmp_path, held, "sure") as bot:
        bot.platform.say(ROOM, "what do you think?")
        await held.entered.wait()
        fault.begins = "BEGIN IMMEDIATE"
        held.release.set()
        bot.platform.say(HALL, "and you?")
        await pass_time(bot, 8)
        assert not bot.platform.texts()
        fault.begins = None
        await pass_time(bot, BEAT + 1)
        await bot.settled()
    assert (bot.platform.texts(ROOM), bot.platform.texts(HALL)) == (["my view"], ["sure"])


async def test_a_turn_that_gave_up_while_nothing_could_be_stored_goes_back_within_a_beat(tmp_path: Path) -> None:
    fault = SqliteFault(code=sqlite3.SQLITE_FULL)
    async with await SqlStore.open(tmp_path / "kesoku.db", module=faulty_sqlite(fault)) as store:
        harness, claims = AgentHarness(store=store), list[Claim]()

        async def give_up(claim: Claim) -> None:
            claims.append(claim)
            fault.begins = "BEGIN IMMEDIATE" if len(claims) == 1 else None
            if fault.begins:
                raise StoreFull(path=store.path)
            await harness.finish(claim)

        dispatcher = Dispatcher(harness.gateway, EVERYTHING, give_up, harness.clock, owner="w1")
        said = await harness.say()
        running = asyncio.create_task(dispatcher.run())
        await pass_time(harness, 33)  # longer than a lease
        assert len(claims) == 1
        fault.begins = None
        await pass_time(harness, BEAT + 1)
        assert await harness.status(said) is S.PROCESSED
        dispatcher.stop()
        await running


def test_what_waits_to_be_delivered_is_tried_within_a_beat_however_long_it_failed() -> None:
    for attempts in (1, 5, 50):
        assert pause(StoreFull(path="kesoku.db"), attempts) <= BEAT
    assert pause(ZeroDivisionError(), 50) > BEAT, "a bug is tried less and less often"
