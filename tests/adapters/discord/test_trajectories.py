"""Trajectories 6.1 and 6.3 of seed 004 on Discord: the whole product with the offline model, against the loopback
Discord."""

import asyncio
import re
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import pytest

from kesoku.app import App, Job
from kesoku.app.cast import cast
from kesoku.config import load
from kesoku.messages.enums import MessageStatus as S
from kesoku.messages.record import Record
from kesoku.testing.discord import Channel, LoopbackDiscord, Message, User
from kesoku.testing.waiting import PATIENCE, until
from kesoku_discord.manifest import MANIFEST

pytestmark = pytest.mark.slow

CONFIG = """
timezone = "Asia/Singapore"
timezone_label = "SGT"

[store]
path = "{folder}/kesoku.db"

[agent]
model = "offline"
workspace = "{folder}"

[tools.run_shell_command]
policy = "allow"

[adapters.discord]
token = "{token}"
allow = ["user:{person}"]
channels.{channel} = {{}}
api_base_url = "{server.api_base_url}"
gateway_url = "{server.gateway_url}"
"""
HELD = "until test -e go; do sleep 0.01; done"
"""A shell command that ends once `Bot.go` was called."""


@dataclass
class Bot:
    """The product at work for one channel, and who writes there."""

    server: LoopbackDiscord
    app: App
    channel: Channel
    person: User
    folder: Path

    def go(self) -> None:
        """Let `HELD` end."""
        (self.folder / "go").touch()

    async def say(self, text: str) -> Message:
        return await self.server.say(self.channel, self.person, text)

    def shown(self) -> list[Message]:
        """What the bot has in the channel now."""
        return [each for each in self.server.messages(self.channel) if each.author_id == self.server.bot_id]

    async def sees(self, holds: Callable[[Message], bool], what: str) -> Message:
        """The message of the bot for which this holds, once it is there."""

        async def there() -> bool:
            return any(map(holds, self.shown()))

        await until(there, what=what)
        return next(filter(holds, self.shown()))

    async def records(self, turn: str | None = None) -> list[Record]:
        """Everything that is stored, as it stands now, of a turn if one is named."""
        found = await self.app.store.read(lambda tx: tx.events.after(0, 1000))
        latest = {change.record.id: change.record for change in found}
        return [each for each in latest.values() if turn in {None, each.turn_id}]

    async def settled(self, kind: str, *statuses: S) -> None:
        """Wait until the records of this kind stand like this, in order."""

        async def there() -> bool:
            return [each.status for each in await self.records() if each.kind == kind] == [*statuses]

        await until(there, what=f"{kind}: {statuses}")


@asynccontextmanager
async def running(app: App) -> AsyncIterator[None]:
    async with app:
        task = asyncio.create_task(app.run())
        try:
            yield
        finally:
            app.stop(patient=False)
            with suppress(TimeoutError):
                await asyncio.wait_for(task, PATIENCE)


@pytest.fixture
async def bot(tmp_path: Path) -> AsyncIterator[Bot]:
    async with LoopbackDiscord() as server:
        guild = server.guild("Band")
        channel, person = server.channel("history", guild=guild), server.user("Chii", username="chii99")
        server.join(guild, person)
        file = tmp_path / "config.toml"
        file.write_text(
            CONFIG.format(folder=tmp_path, token=server.token, person=person.id, channel=channel.id, server=server),
            encoding="utf-8",
        )
        loaded = load(file)
        settings = loaded.config.adapters["discord"].settings
        bots = {"discord": (MANIFEST, settings)}
        app = App(loaded, Job(bots=bots), cast(loaded, bots, offline_fallback=False))

        async def connected() -> bool:
            return server.identifies > 0

        async with running(app):
            await until(connected, what="the bot connects")
            yield Bot(server=server, app=app, channel=channel, person=person, folder=tmp_path)


async def test_a_turn_is_shown_while_it_runs_and_answered_once(bot: Bot) -> None:
    """K-155, K-229, K-233, K-235, K-237; 6.1."""
    asked = f"think about the history module\nrun {HELD}; echo 5 passed in 0.42s"
    said = await bot.say(asked)
    command = f"🛠️ run_shell_command: {HELD}; echo 5 passed in 0.42s"
    status = await bot.sees(lambda each: "💭 " in each.content and f"{command} ⏳" in each.content, "the running call")
    assert status.components, "it can be stopped"
    await bot.settled("user_prompt", S.PROCESSING)
    bot.go()
    answer = await bot.sees(lambda each: "5 passed in 0.42s" in each.content and each.id != status.id, "the answer")
    await bot.settled("answer", S.DELIVERED)

    async def alone() -> bool:
        return bot.shown() == [answer]

    await until(alone, what="the status is gone")
    assert answer.reply_to == said.id
    assert "-# " in answer.content.splitlines()[-1], "the metrics"
    (line,) = (each for each in status.content.splitlines() if "run_shell_command" in each)
    assert re.fullmatch(rf"{re.escape(command)} [⏳✅]( \d s)?", line), "edited in place"
    typed = bot.server.typing(bot.channel)
    posted = [seen.at for seen in bot.server.asked("POST /channels/{}/messages")]
    assert typed
    assert max(typed) < max(posted), "no typing behind the answer"

    prompt, *rest = await bot.records()
    assert prompt.message.author == "Chii"
    assert prompt.message.rendered.startswith(f"`Chii` <@{bot.person.id}> at `")
    assert prompt.message.rendered.endswith(f" SGT`:\n{asked}")
    assert (prompt.session_id, prompt.status) == (rest[0].session_id, S.PROCESSED)
    kinds = [(each.kind, each.status) for each in rest]
    assert kinds == [
        ("thought", S.DELIVERED),
        ("tool_call", S.DELIVERED),
        ("tool_result", S.DELIVERED),
        ("answer", S.DELIVERED),
    ]


async def test_a_result_edits_its_line_in_place(bot: Bot) -> None:
    """K-159, K-235: ⏳ becomes ✅ in the line of the call, and the other call goes on."""
    await bot.say(f"run {HELD}\nrun sleep 60")
    first, second = f"🛠️ run_shell_command: {HELD}", "🛠️ run_shell_command: sleep 60 ⏳"
    status = await bot.sees(lambda each: f"{first} ⏳" in each.content, "the first call")
    bot.go()
    assert status is await bot.sees(lambda each: f"{first} ✅" in each.content, "the end of the first call")
    lines = [line for line in status.content.splitlines() if "sleep" in line]
    assert [lines[0].startswith(f"{first} ✅"), lines[1].startswith(second)] == [True, True], lines


async def test_an_orderly_stop_still_delivers_the_answer(bot: Bot) -> None:
    """The connection stays until what the running turn says is out, and its status gone."""
    said = await bot.say(f"what is 6 * 7?\nrun {HELD}")
    await bot.sees(lambda each: bool(each.components), "the status")
    bot.app.stop()
    bot.go()

    async def gone() -> bool:
        return bot.server.connections == 0

    await until(gone, what="the end of the bot")
    (answer,) = bot.shown()
    assert (answer.reply_to, "42" in answer.content) == (said.id, True)


async def test_a_new_message_interrupts_and_removes_what_was_shown(bot: Bot) -> None:
    """K-245, K-246, K-247; 6.3."""
    await bot.say("think about a web component\nrun sleep 60")
    status = await bot.sees(lambda each: "💭 " in each.content, "the thought")
    await bot.settled("thought", S.DELIVERED)
    second = await bot.say("what is 6 * 7?")
    answer = await bot.sees(lambda each: "42" in each.content, "the answer to the second message")
    await bot.settled("user_prompt", S.INTERRUPTED, S.PROCESSED)

    async def alone() -> bool:
        return bot.shown() == [answer]

    await until(alone, what="the status of the first turn is gone")
    assert status.deleted
    assert answer.reply_to == second.id
    first, *_ = await bot.records()
    kept = [each.kind for each in await bot.records(first.id)]
    assert {"thought", "tool_call"} <= set(kept), "the rows stay"
    assert "answer" not in kept
