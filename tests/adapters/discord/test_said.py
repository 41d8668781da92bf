"""Whatever a model writes is taken by Discord: the real client, at a server that is as strict."""

import asyncio
import itertools
import re
from collections.abc import Iterator
from contextlib import AsyncExitStack, contextmanager
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kesoku.adapter import Address, Attachment, Outgoing, Question, RenderContext
from kesoku.testing.discord import LoopbackDiscord
from kesoku_discord.config import DiscordConfig
from kesoku_discord.drawing import live
from kesoku_discord.drawing.render import render
from kesoku_discord.wire.outbound import Outbound

from .records import BEGAN, answer, call, context, notice, thought
from .wire_stage import connected

pytestmark = pytest.mark.usefixtures("no_proxy")
PIECES = [
    "# Title\n", "#### Four\n", "word ", "x" * 1999, "x" * 2000, "🎸" * 1000, "\n", "\n\n", "- item\n", "  - nested\n",
    "1. one\n", "> quote\n", ">>> rest\n", "-# ", "# ", "> ", "```py\n", "```\n", "> ```\n", "  ```\n", "~~~\n",
    "    code\n", "\n| a | b |\n|---|--:|\n| 結束 | `x|y` |\n", "\n| | |\n|-|-|\n",
    "####\n", "- | a | b |\n  |-|-|\n  | 1 | 2 |\n",
    f"\n| a | b |\n|---|---|\n| {'long ' * 9} | {'wide ' * 9} |\n", "||hidden|| ", "||", "`span` ", "`", "**", "*", "_",
    "[https://good.example](https://bad.example) ", "👨‍👩‍👧 ", "漢字 ", "مرحبا ", "e\u0301" * 200, "@everyone <@1> ",
    "</stop:1> <t:1:R> <#1> ", "$x_1$ ", "[^1]: note\n", "<br>", "<b>", "\\", "\u200b", "\u202e", "\x1b[31m", "\r\n",
    "\ud800", "\udc00", "\0", "\u2028", "\n[question: Why? | a | a]\n", "\n[question: \u200b | \u200b]\n",
    "\n[question: Which? | " + " | ".join(f"c{n}" for n in range(26)) + "]\n",
    f"\n[question: Which? | {'🎸' * 90} | {'y' * 5000}]\n", "- [question: In a list? | a]\n",
    "\n[file: song.txt]\n", "\n[file: gone.txt]\n", "![caption \ud800](song.txt)\n",
]  # fmt: skip
documents = st.lists(st.sampled_from(PIECES), max_size=12).map("".join)
configs = st.builds(
    DiscordConfig,
    metrics=st.sampled_from(["footer", "header", "off"]),
    buttons=st.booleans(),
    wide_tables=st.sampled_from(["picture", "list"]),
    stream_answer=st.just(value=True),
)
CHOICES = (
    ("yes", "no"),
    ("\u200b", ""),
    ("same", "same"),
    tuple("x" * 5000 for _ in range(6)),
    tuple(map(str, range(126))),
)


class Room:
    """A channel in which the bot says parts, one after the other."""

    def __init__(self, runner: asyncio.Runner) -> None:
        self._runner, self._stack, self._keys = runner, AsyncExitStack(), itertools.count()

    async def open(self) -> None:
        server = await self._stack.enter_async_context(LoopbackDiscord())
        self.server, self.channel = server, server.channel("room", guild=server.guild("Band"))
        bot = await self._stack.enter_async_context(connected(server))
        bot.client.http.limiter.now = itertools.count(1 << 40).__next__  # it has all the time in the world
        self._outbound = Outbound()
        self._outbound.client = bot.client

    async def close(self) -> None:
        await self._stack.aclose()

    def say(self, parts: tuple[Outgoing, ...]) -> list[str]:
        """Their texts as Discord keeps them. Raises what Discord says about a part that it does not take."""
        return [self._runner.run(self._said(part)) for part in parts]

    async def _said(self, part: Outgoing) -> str:
        address = Address(chatbot_id="discord", channel_id=str(self.channel.id))
        await self._outbound.send(address, part, f"key-{next(self._keys)}")
        return self.server.messages(self.channel)[-1].content


@contextmanager
def room() -> Iterator[Room]:
    with asyncio.Runner() as runner:
        opened = Room(runner)
        runner.run(opened.open())
        try:
            yield opened
        finally:
            runner.run(opened.close())


def test_every_part_of_an_answer_is_taken(tmp_path: Path) -> None:
    """No document, however odd, is refused."""
    song = tmp_path / "song.txt"
    song.write_text("la la")
    known = RenderContext(files={"song.txt": song, "gone.txt": None})
    with room() as here:

        @settings(max_examples=40)
        @given(documents, configs)
        def taken(markdown: str, config: DiscordConfig) -> None:
            here.say(render(answer(markdown), known, config))

        taken()


def test_eleven_files_are_as_many_messages(tmp_path: Path) -> None:
    """Discord takes ten in one; so each is sent, tried again and told of for itself."""
    names = [f"{n}.txt" for n in range(11)]
    for name in names:
        (tmp_path / name).write_text(name)
    files = [Attachment(name=name, mime_type="text/plain", size=5, path=name) for name in names]
    known = RenderContext(files={name: tmp_path / name for name in names})
    with room() as here:
        here.say(render(answer("here", files=files), known, DiscordConfig()))
        shown = here.server.messages(here.channel)
        assert [file.name for each in shown for file in each.attachments] == names
        assert {len(each.attachments) for each in shown} == {0, 1}


def test_every_question_and_status_is_taken() -> None:
    """Choices of any number and length, names and arguments of tools, thoughts and drafts."""
    with room() as here:

        @settings(max_examples=25)
        @given(documents, st.sampled_from(CHOICES), configs)
        def taken(markdown: str, choices: tuple[str, ...], config: DiscordConfig) -> None:
            asked = Question(id="q", text=markdown, choices=choices, deadline=2e9)
            here.say(render(notice(markdown, asked), context(asked), config))
            state = None
            for item in (thought(markdown), call(tool=markdown, text=markdown, other=[markdown]), notice(markdown)):
                state = live.fold(state, item)
            here.say((live.draw(state, BEGAN, config),))

        taken()


INNER = ["5 > 3 ", "# x ", "-# y ", "- z ", "1. q ", "* a ", ">>> b ", "words ", "漢字 ", "🎸 "]


@given(st.lists(st.sampled_from(INNER), min_size=500, max_size=900).map("".join))
@settings(max_examples=10)
def test_what_stands_within_a_line_begins_no_block_in_the_next_message(line: str) -> None:
    """K-150: Discord would eat the mark of a heading, a quote or a list that was none."""
    parts = [
        part.text for part in render(answer(f"Begin {line}", metrics=None), context(), DiscordConfig(buttons=False))
    ]
    assert all(not re.match(r"\s*(#{1,3}|-#|>{1,3}|[-*]|\d+\.) ", part) for part in parts[1:])
    assert "".join("".join(parts).replace("\\", "").split()) == "".join(f"Begin {line}".split())
