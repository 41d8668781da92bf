"""What trouble at Discord holds up is tried again soon, in the order of its channel, and not for ever."""

from collections.abc import Sequence
from pathlib import Path

import discord
import pytest

from kesoku.adapter.access import Access
from kesoku.testing.clock import VirtualClock
from kesoku.testing.discord import Broken, Refusal
from kesoku_discord.inbound.again import LONG_PAUSES, PAUSES, Again

from .message_stage import stage, texts

MEMBER = "GET /guilds/{}/members/{}"
LOOK = "GET /channels/{}/messages/{}"
CHANNEL = 7


class Work:
    """Fails with these, one after the other, and works then."""

    def __init__(self, *errors: Exception) -> None:
        self._errors, self.tries = list(errors), 0

    async def __call__(self) -> str:
        self.tries += 1
        if self._errors:
            raise self._errors.pop(0)
        return "done"


@pytest.mark.parametrize(("pauses", "least", "most"), [(PAUSES, 45, 90), (LONG_PAUSES, 900, 1800)])
def test_it_lasts_a_while_and_the_pauses_grow(pauses: Sequence[float], least: float, most: float) -> None:
    """An outage of some seconds, or minutes, is over by then."""
    assert list(pauses) == sorted(set(pauses))
    assert least <= sum(pauses) <= most


async def test_it_is_tried_until_it_works() -> None:
    """And says what came of it."""
    work = Work(TimeoutError(), ConnectionResetError())
    assert await Again((0, 0)).until_done(CHANNEL, work) == "done"
    assert work.tries == 3


async def test_what_nobody_understands_is_not_tried_again() -> None:
    """A mistake of ours does not get better."""
    work = Work(ZeroDivisionError())
    with pytest.raises(ZeroDivisionError):
        await Again((0, 0)).until_done(CHANNEL, work)
    assert work.tries == 1


async def test_after_it_was_given_up_nobody_waits_until_something_works() -> None:
    """In that channel: an outage is waited for once, and not once a message."""
    again, endless = Again((0, 0)), [TimeoutError()] * 9
    for channel, tries in ((CHANNEL, 3), (CHANNEL, 1), (CHANNEL + 1, 3)):
        work = Work(*endless)
        with pytest.raises(TimeoutError):
            await again.until_done(channel, work)
        assert work.tries == tries
    await again.until_done(CHANNEL, Work())
    work = Work(*endless[:2])
    await again.until_done(CHANNEL, work)
    assert work.tries == 3


async def test_what_takes_long_is_tried_less_often() -> None:
    """The library itself goes on for a while before it gives up."""
    clock = VirtualClock()
    work = Work(*[TimeoutError()] * 9)

    async def slow() -> str:
        clock.jump(50)
        return await work()

    with pytest.raises(TimeoutError):
        await Again((0,) * 9, now=lambda: clock.now() / 1e6, sleep=clock.sleep).until_done(CHANNEL, slow)
    assert work.tries == 2


@pytest.mark.parametrize(("named", "waited"), [(1.0, 5.0), (20.0, 20.0), (900.0, 60.0)])
async def test_a_wait_that_discord_names_is_kept(named: float, waited: float) -> None:
    """Within a minute."""
    slept: list[float] = []

    async def sleep(seconds: float) -> None:
        slept.append(seconds)

    await Again((5.0,), sleep=sleep).until_done(CHANNEL, Work(discord.RateLimited(named)))
    assert slept == [waited]


async def test_a_message_is_heard_in_the_same_session_and_in_order(tmp_path: Path) -> None:
    """Whose thread it is could not be looked up; what was written after it waits."""
    async with stage(tmp_path) as on, on.running(pauses=(0.0, 0.0)) as bot:
        asked = await on.server.say(on.room, on.ada, "<@BOT> one")
        thread = on.server.thread(on.room, "t", from_message=asked)
        on.server.script(Broken(503), Broken(503), on=LOOK)
        await on.server.say(thread, on.ada, "two")
        await on.server.say(thread, on.ada, "<@BOT> three")
        assert texts(await on.prompts(3)) == ["one", "two", "three"]
        assert (bot.adapter.readies, on.server.unused) == (1, 0)


async def test_what_is_refused_is_not_tried_again(tmp_path: Path) -> None:
    """And holds up nothing."""
    async with stage(tmp_path) as on:
        async with on.running():
            pass
        await on.server.say(on.room, on.ada, "<@BOT> one")
        await on.server.say(on.room, on.bob, "<@BOT> two")
        on.server.script(Refusal(403, 50001, "Missing Access"), on=MEMBER)
        async with on.running(pauses=PAUSES):
            assert texts(await on.prompts(1)) == ["two"]


async def test_roles_are_asked_for_again_while_what_was_missed_is_read(tmp_path: Path) -> None:
    """The next message of the channel waits."""
    async with stage(tmp_path) as on:
        band = on.server.role(on.guild, "band")
        on.server.join(on.guild, on.eve, roles=[band])
        on.access = Access(allow=(f"role:{band.id}",))
        async with on.running():
            pass
        for text in ("one", "two"):
            await on.server.say(on.room, on.eve, f"<@BOT> {text}")
        on.server.script(Broken(503), Broken(503), on=MEMBER)
        async with on.running(pauses=(0.0, 0.0)) as bot:
            assert texts(await on.prompts(2)) == ["one", "two"]
            assert bot.adapter.readies == 1


async def test_an_edit_is_tried_again_too(tmp_path: Path) -> None:
    """Whose thread it is could not be looked up when the first sign of a message was its edit."""
    async with stage(tmp_path) as on:
        thread = on.server.thread(on.room, "t", from_message=await on.server.say(on.room, on.bob, "<@BOT> one"))
        message = await on.server.say(thread, on.ada, "hlp")
        on.server.script(Broken(503), on=LOOK)
        async with on.running(pauses=(0.0,), catch_up_hours=0):
            await on.server.edit(message, "help")
            assert texts(await on.prompts(1)) == ["help"]
