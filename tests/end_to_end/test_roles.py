"""Two channels of one bot with two models, one of them in a role: said, restarted, repeated and replayed."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from kesoku.app import App, Job
from kesoku.app.cast import Cast
from kesoku.config import Loaded, load
from kesoku.llm.offline import OfflineModel
from kesoku.testing.model import Held, Line, ScriptedModel, call, reply
from kesoku.testing.platform import RecordedPlatform
from kesoku.testing.recording import PLAIN, recording_manifest
from kesoku.testing.waiting import until

TEXT = """
[agent]
model = "offline"
instructions = "Be plain."
[models.pro]
type = "offline"
[roles.cook]
instructions = "You are a cook."
model = "pro"
[adapters.room]
type = "recording"
allow = ["everyone"]
admins = ["user:ada"]
[adapters.room.channels.kitchen]
role = "cook"
"""
SENT = "Requests of this turn that come out of the log as they were sent: 1 of 1."


class Bot:
    """One bot over one platform and one database, which both outlive its processes."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.platform = folder, RecordedPlatform()
        self._manifest = recording_manifest(platform=self.platform, visibility=PLAIN, key_window=60.0)

    def config(self, text: str = TEXT) -> Loaded:
        path = self.folder / "config.toml"
        path.write_text(f'{text}\n[store]\npath = "{self.folder}/kesoku.db"\n', encoding="utf-8")
        manifests: Any = {"adapters": {"recording": self._manifest}}
        return load(path, environment={}, manifests=manifests)

    @asynccontextmanager
    async def running(self, *lines: Line, text: str = TEXT) -> AsyncIterator[ScriptedModel]:
        """A process in which the cook's model says these lines."""
        loaded, pro = self.config(text), ScriptedModel(*lines, name="pro")
        job = Job(bots={"room": (self._manifest, loaded.config.adapters["room"].settings)})
        async with App(loaded, job, Cast(loaded.config, [OfflineModel()], [pro])) as app:
            running = asyncio.create_task(app.run())
            try:
                yield pro
            finally:
                app.stop(patient=False)
                await running

    async def asks(self, channel: str, text: str, *answers: str) -> str:
        """Say something; the last text in the channel once each of these stands in one that came after it."""
        before = len(self.platform.texts(channel))
        self.platform.say(channel, text)
        await until(lambda: self._shows(channel, before, answers), what=str(answers))
        return self.platform.texts(channel)[-1]

    async def _shows(self, channel: str, before: int, answers: tuple[str, ...]) -> bool:
        new = self.platform.texts(channel)[before:]
        return all(any(each in text for text in new) for each in answers)


@pytest.fixture
def bot(tmp_path: Path) -> Bot:
    return Bot(tmp_path)


async def test_each_channel_has_its_own_model_and_system_prompt(bot: Bot) -> None:
    async with bot.running("soup", "more soup") as pro:
        await bot.asks("kitchen", "dinner?", "soup")
        await bot.asks("hall", "what is 6 * 7?", "42")
        assert "Model: pro." in await bot.asks("kitchen", "/status", "Model:")
        assert "Model: offline." in await bot.asks("hall", "/status", "Model:")
        assert (await bot.asks("kitchen", "/system", "You are")).endswith("You are a cook.")
        assert (await bot.asks("hall", "/system", "You are")).endswith("Be plain.")
        await bot.asks("kitchen", "/retry", "more soup")
        await bot.asks("kitchen", "/replay", SENT)
    (system,) = {request.system for request in pro.requests}
    assert (len(pro.requests), system.endswith("\n\nYou are a cook."), "Be plain." in system) == (2, True, False)


async def test_a_new_conversation_stays_with_the_role_of_its_channel(bot: Bot) -> None:
    async with bot.running("soup", "more soup") as pro:
        await bot.asks("kitchen", "dinner?", "soup")
        await bot.asks("kitchen", "/new", "A new conversation")
        assert "Model: pro." in await bot.asks("kitchen", "/status", "Model:")
        await bot.asks("kitchen", "/steer with leeks", "more soup")
    assert len({each.system for each in pro.requests}) == 1


async def test_a_turn_goes_on_after_a_restart_as_it_began_even_where_the_channel_has_changed(bot: Bot) -> None:
    held = Held()
    async with bot.running(held) as first:
        bot.platform.say("kitchen", "dinner?")
        await held.entered.wait()
    changed = TEXT.replace('channels.kitchen]\nrole = "cook"', 'channels.attic]\nrole = "cook"')
    async with bot.running("soup", text=changed) as second:
        await until(lambda: bot._shows("kitchen", 0, ("soup",)), what="soup")
        await bot.asks("kitchen", "/replay", SENT)
        await bot.asks("kitchen", "what is 6 * 7?", "42")  # said after the change
    assert [each.system for each in second.requests] == [each.system for each in first.requests]


async def test_where_the_role_is_gone_the_bot_answers_as_itself(bot: Bot, caplog: pytest.LogCaptureFixture) -> None:
    held = Held()
    async with bot.running(held):
        bot.platform.say("kitchen", "what is 6 * 7?")
        await held.entered.wait()
    gone = TEXT.replace("[roles.cook]", "[roles.baker]").replace('role = "cook"', "")
    async with bot.running(text=gone):
        await until(lambda: bot._shows("kitchen", 0, ("42",)), what="42")
    assert sum("the role 'cook' is asked for" in each.getMessage() for each in caplog.records) == 1


async def test_an_agent_works_in_the_role_of_who_sent_it(bot: Bot) -> None:
    spawn = reply(call("spawn_agent", task="count the pots", name="scout"))
    async with bot.running(spawn, "I wait.", "seven", "Seven pots.") as pro:
        await bot.asks("kitchen", "how many pots?", "Seven pots.")
    assert len({each.system for each in pro.requests}) == 1
    assert pro.lines == []
