"""Take the picture of a turn on Discord: run the real bot against the loopback Discord, and draw its channel.

Usage: python docs/picture_discord.py [docs/pictures/discord.svg]
"""

import asyncio
import re
import sys
import tempfile
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from html import escape
from pathlib import Path

from wcwidth import width

from kesoku.app import App, Job
from kesoku.app.cast import cast
from kesoku.config import Loaded, load
from kesoku.testing.discord import Channel, LoopbackDiscord, Message
from kesoku.testing.waiting import until
from kesoku_discord.manifest import MANIFEST

QUESTION = "think about the sea\nwhat is 6 * 7?\nrun sleep 4; echo the tide is in"
CONFIG = """
[store]
path = "{folder}/kesoku.db"
[agent]
model = "offline"
workspace = "{workspace}"
[tools.run_shell_command]
policy = "allow"
[adapters.discord]
token = "{token}"
allow = ["channel:{channel}"]
channels.{channel} = {{}}
api_base_url = "{server.api_base_url}"
gateway_url = "{server.gateway_url}"
"""
WIDE, LEFT, LINE, COLUMNS = 760, 72, 22, 76
_INLINE = re.compile(r"(`[^`]+`|\*\*[^*]+\*\*)")
_HEAD = f"""\
<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDE} {{height}}">
<style>
text {{{{ fill: #dbdee1; font: 15px 'gg sans', 'Noto Sans', 'DejaVu Sans', sans-serif; white-space: pre }}}}
.small {{{{ fill: #949ba4; font-size: 12px }}}}
.name {{{{ font-weight: 600; fill: #f2f3f5 }}}}
.code {{{{ font: 13px 'DejaVu Sans Mono', Menlo, monospace }}}}
.bold {{{{ font-weight: 700 }}}}
.badge {{{{ fill: #fff; font-size: 10px; font-weight: 600 }}}}
</style>
<rect width="{WIDE}" height="{{height}}" rx="8" fill="#313338"/>
"""


@dataclass
class Drawing:
    """The picture as far as it is drawn; `y` is the base of the next line."""

    y: float = 38
    parts: list[str] = field(default_factory=list)

    def text(self, x: float, text: str, kind: str = "") -> None:
        """Words at the present line."""
        self.parts.append(f'<text class="{kind}" x="{x}" y="{self.y:g}">{escape(text)}</text>')

    def box(self, x: float, wide: float, high: float, fill: str, *, up: float = 16, round_: float = 4) -> None:
        """A filled box, `up` above the present line."""
        at = f'x="{x}" y="{self.y - up:g}" width="{wide:g}" height="{high:g}" rx="{round_}"'
        self.parts.append(f'<rect {at} fill="{fill}"/>')

    def caption(self, text: str) -> None:
        """What the reader sees below."""
        self.text(24, text, "small")
        self.y += 30

    def message(self, name: str, message: Message, *, bot: bool, reply: str = "") -> None:
        """A message with its author, its text and its buttons."""
        if reply:
            self.text(LEFT, f"↱ {reply}", "small")
            self.y += 20
        colour = "#5865f2" if bot else "#eb459e"
        self.parts.append(f'<circle cx="40" cy="{self.y + 6:g}" r="20" fill="{colour}"/>')
        self.parts.append(f'<text class="name" x="34" y="{self.y + 11:g}">{escape(name[0])}</text>')
        self.text(LEFT, name, "name")
        if bot:
            x = LEFT + 10 * len(name) + 6
            self.box(x, 30, 15, "#5865f2", up=12)
            self.text(x + 5, "APP", "badge")
        self.y += LINE
        fenced = False
        for line in message.content.split("\n"):
            if line.startswith("```"):
                fenced = not fenced
            elif fenced:
                self.box(LEFT, WIDE - LEFT - 24, LINE, "#2b2d31", round_=0)
                self.text(LEFT + 8, line, "code")
                self.y += LINE
            else:
                self._line(line)
        self._buttons(message)
        self.y += 22

    def _line(self, line: str) -> None:
        small = line.startswith("-# ")
        for row in _wrapped(line.removeprefix("-# ")):
            if small:
                self.text(LEFT, row, "small")
            else:
                self._spans(row)
            self.y += LINE

    def _spans(self, row: str) -> None:
        x = float(LEFT)
        for span in filter(None, _INLINE.split(row)):
            code, bold = span.startswith("`"), span.startswith("**")
            said = span.strip("`") if code else span.strip("*") if bold else span
            wide = width(said) * (8 if code else 8.2)
            if code:
                self.box(x, wide + 6, 19, "#1e1f22", up=14)
            self.text(x + 3 * code, said, "code" if code else "bold" if bold else "")
            x += wide + 6 * code

    def _buttons(self, message: Message) -> None:
        x = LEFT
        for button in (each for row in message.components for each in row["components"]):
            wide = 8.5 * len(button["label"]) + 28
            self.box(x, wide, 30, "#da373c" if button["style"] == 4 else "#4e5058")
            self.y += 4
            self.text(x + 14, button["label"])
            self.y -= 4
            x += round(wide) + 8
        if message.components:
            self.y += 24

    def __str__(self) -> str:
        return _HEAD.format(height=round(self.y)) + "\n".join(self.parts) + "\n</svg>\n"


def _wrapped(line: str) -> Iterator[str]:
    row = ""
    for word in line.split(" "):
        if row and width(f"{row} {word}") > COLUMNS:
            yield row
            row = word
        else:
            row = f"{row} {word}" if row else word
    yield row


async def take(server: LoopbackDiscord, folder: Path) -> str:
    """Run a turn; what the channel showed while it ran, and behind it."""
    guild = server.guild("Band")
    channel, person = server.channel("practice", guild=guild), server.user("Chii")
    server.join(guild, person)
    drawing = Drawing()
    async with _running(_settings(server, channel, folder)):
        await _becomes(lambda: server.identifies > 0)
        drawing.caption("While it works")
        drawing.message("Chii", await server.say(channel, person, QUESTION), bot=False)
        drawing.message("Kesoku", await _shown(server, channel, "✅", "⏳"), bot=True)
        drawing.caption("When it is done")
        reply = "@Chii " + QUESTION.replace("\n", " ")
        drawing.message("Kesoku", await _shown(server, channel, "-# "), bot=True, reply=reply)
    return str(drawing)


def _settings(server: LoopbackDiscord, channel: Channel, folder: Path) -> Loaded:
    facts = {"folder": folder, "workspace": Path.cwd(), "token": server.token}
    file = folder / "config.toml"
    file.write_text(CONFIG.format(**facts, channel=channel.id, server=server), encoding="utf-8")
    return load(file)


@asynccontextmanager
async def _running(loaded: Loaded) -> AsyncIterator[None]:
    bots = {"discord": (MANIFEST, loaded.config.adapters["discord"].settings)}
    async with App(loaded, Job(bots=bots), cast(loaded, bots, offline_fallback=False)) as app:
        run = asyncio.create_task(app.run())
        yield
        app.stop(patient=False)
        await run


async def _shown(server: LoopbackDiscord, channel: Channel, *words: str) -> Message:
    """The last message of the channel, once it has all these words."""
    await _becomes(lambda: all(word in server.messages(channel)[-1].content for word in words))
    return server.messages(channel)[-1]


async def _becomes(holds: Callable[[], bool]) -> None:
    async def there() -> bool:
        return holds()

    await until(there, what="the next scene", seconds=20)


async def drawn() -> str:
    """The picture."""
    with tempfile.TemporaryDirectory() as folder:
        async with LoopbackDiscord(bot_name="Kesoku") as server:
            return await take(server, Path(folder))


if __name__ == "__main__":
    target = Path(sys.argv[1] if len(sys.argv) > 1 else "docs/pictures/discord.svg")
    target.write_text(asyncio.run(drawn()), encoding="utf-8")
