"""A Discord bot in a process of its own that is killed while a certain request is on its way."""

import asyncio
import signal
import sqlite3
import subprocess
import time
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass, field

from kesoku.testing.discord import Channel, Hang, LoopbackDiscord, Message, User, Usual
from kesoku.testing.waiting import PATIENCE, until

from .conftest import Home

SEND, EDIT = "POST /channels/{}/messages", "PATCH /channels/{}/messages/{}"
DELETE = "DELETE /channels/{}/messages/{}"
_HOUR = 3600.0

_PARTS = ("one", "two", "three")
PLUGIN = f"""
import asyncio
from pathlib import Path
from pydantic import BaseModel
from kesoku.llm.manifest import ModelManifest
from kesoku.messages.turn import CallBlock, Delta, Reply, ResultBlock, TextBlock
from kesoku.llm.offline import OfflineModel

PARTS = [f"part {{number}} " + "x" * 1500 for number in {_PARTS!r}]
ANSWER = "\\n\\n".join([*PARTS, "[file: song.txt]", "[question: Again? | Yes | No]"])


class Slow(OfflineModel):
    async def stream(self, request):
        calls = [CallBlock(call_id="c1", name="current_time", arguments={{}})]
        blocks = [TextBlock(text="I think.", thought=True), *calls]
        if any(isinstance(block, ResultBlock) for turn in request.turns for block in turn.blocks):
            while not Path("go").exists():
                await asyncio.sleep(0.01)
            blocks = [TextBlock(text=ANSWER)]
        yield Reply(blocks=tuple(blocks), provider="slow", model="slow")


class Nothing(BaseModel):
    pass


MANIFEST = ModelManifest(name="slow", title="Slow", config=Nothing, create=lambda name, config: Slow(name=name))
"""
"""A model that calls a tool, waits for the file `go`, and answers with three texts, a file and a question."""

CONFIG = """
[agent]
model = "{model}"
workspace = "{work}"
[adapters.discord]
token = "{server.token}"
allow = ["everyone"]
admins = ["user:{ada.id}"]
channels.{room.id} = {{}}
api_base_url = "{server.api_base_url}"
gateway_url = "{server.gateway_url}"
"""


@dataclass(eq=False, kw_only=True)
class KilledBot:
    """`kesoku run` at a loopback Discord, in a room with Ada."""

    home: Home
    server: LoopbackDiscord
    ahead: list[float]
    """By how much Discord's clock is before ours, in seconds; the last one counts."""
    room: Channel
    ada: User
    process: "subprocess.Popen[str] | None" = field(default=None)

    @classmethod
    def at(cls, home: Home) -> "KilledBot":
        """To be used once the server is entered; `prepare` comes then."""
        ahead = [0.0]
        server = LoopbackDiscord(now=lambda: time.time() + ahead[-1])
        guild = server.guild("Band")
        room, ada = server.channel("room", guild=guild), server.user("Ada")
        server.join(guild, ada)
        return cls(home=home, server=server, ahead=ahead, room=room, ada=ada)

    def prepare(self, *, model: str = "slow") -> None:
        """Write the config, and install the model."""
        plugins = self.home.folder / "plugins"
        facts = plugins / "slow_plugin-0.dist-info"
        facts.mkdir(parents=True)
        (plugins / "slow_plugin.py").write_text(PLUGIN, encoding="utf-8")
        (facts / "METADATA").write_text("Metadata-Version: 2.1\nName: slow-plugin\nVersion: 0\n", encoding="utf-8")
        (facts / "entry_points.txt").write_text("[kesoku.models]\nslow = slow_plugin:MANIFEST\n", encoding="utf-8")
        self.home.environment["PYTHONPATH"] = str(plugins)
        (self.home.work / "song.txt").write_text("la la la", encoding="utf-8")
        text = CONFIG.format(server=self.server, room=self.room, ada=self.ada, model=model, work=self.home.work)
        (self.home.work / "config.toml").write_text(text, encoding="utf-8")

    async def start(self) -> None:
        """Start the bot, and wait until it is there."""
        before = self.server.identifies
        with (self.home.folder / "stderr").open("a") as errors:
            self.process = self.home.start("run", stderr=errors)

        async def connected() -> bool:
            return self.server.identifies > before

        await until(connected, what="the bot connects")

    async def kill(self) -> None:
        """SIGKILL."""
        await self._end(signal.SIGKILL)

    async def stop(self) -> None:
        """An orderly end."""
        await self._end(signal.SIGTERM)

    async def _end(self, how: signal.Signals) -> None:
        assert self.process is not None
        self.process.send_signal(how)
        await asyncio.to_thread(self.process.wait, PATIENCE)

    def catch(self, route: str, number: int, *, done: bool) -> None:
        """Let a request of a route hang, the first one being number 1, before or after it is done."""
        self.server.script(*[Usual()] * (number - 1), Hang(done=done), on=route, channel=self.room)

    async def caught(self) -> None:
        """Wait until a request hangs."""

        async def hangs() -> bool:
            return self.server.unused == 0

        await until(hangs, what="the request that hangs")

    def later(self) -> None:
        """An hour passes: at Discord, and for what the bot has noted down."""
        self.ahead.append(self.ahead[-1] + _HOUR)
        with closing(sqlite3.connect(self.home.database)) as connection, connection:
            connection.execute("UPDATE deliveries SET first_sent_at = first_sent_at - ?", (_HOUR * 1e6,))

    def go(self) -> None:
        """Let the model answer."""
        (self.home.work / "go").touch()

    def shown(self) -> list[Message]:
        """What the bot has in the room now."""
        return [each for each in self.server.messages(self.room) if each.author_id == self.server.bot_id]

    async def sees(self, holds: Callable[[list[Message]], bool], what: str) -> None:
        """Wait until this holds for what the bot shows."""

        async def there() -> bool:
            return holds(self.shown())

        await until(there, what=f"{what}: {[each.content[:60] for each in self.shown()]}")

    async def delivered(self) -> None:
        """Wait until it is noted that the answer is out, and that nothing else is shown."""

        async def noted() -> bool:
            with closing(sqlite3.connect(self.home.database)) as connection:
                answers = connection.execute("SELECT status FROM messages WHERE kind = 'answer'").fetchall()
                live = connection.execute("SELECT count(*) FROM deliveries WHERE purpose = 'live'").fetchone()
            return answers == [("delivered",)] and live == (0,)

        await until(noted, what="the answer is delivered")
