"""A reply to a command with a file: every platform gets both, whatever its adapter knows of notices."""

from collections.abc import Sequence
from typing import Any

import pytest

from kesoku.adapter import Address, Command, CommandSpec, Invocation, Pressed, Principal, Prompt
from kesoku.adapter.command import FiledReply
from kesoku.messages.content import Attachment
from kesoku.messages.enums import MessageStatus as S
from kesoku.testing.recording import RecordingAdapter

ROOM = Address(chatbot_id="recording", channel_id="c")
ADA = Principal(user_id="ada", display_name="Ada")
FILES = {"media_out": True, "max_file": 1000}


class Filing:
    """One command, whose reply is a file."""

    def __init__(self, file: Attachment) -> None:
        self.file = file

    def specs(self) -> Sequence[CommandSpec]:
        return (CommandSpec(name="export", description="a file"),)

    async def run(self, invocation: Invocation) -> str | None:
        return FiledReply("Here it is.", files=[self.file])


def kept(runner: Any) -> Attachment:
    """A file in the workspace of the bot, known by another name to people."""
    path = runner.workspace / "0815-export.json"
    path.write_text("{}", encoding="utf-8")
    return Attachment(name="export.json", path=str(path))


def on(world: Any, **facts: Any) -> Any:
    file = kept(world.runner())
    return world.runner(commands=Filing(file), **facts)


async def test_text_and_file_are_sent_and_the_reply_is_delivered(world: Any, quiet: Any) -> None:
    async with on(world, **FILES) as runner:
        (notice,) = await runner.inbox.accept([Prompt(keys=("k",), address=ROOM, principal=ADA, text="/export")])
        await quiet(runner)
        shown = [(each.text, each.files) for each in world.platform.shown("c")]
        assert shown == [("Here it is.", ()), ("", ("export.json",))]
        assert await runner.status(notice) is S.DELIVERED


async def test_a_platform_without_files_says_that_there_is_one(world: Any, quiet: Any) -> None:
    async with on(world) as runner:
        await runner.inbox.accept([Prompt(keys=("k",), address=ROOM, principal=ADA, text="/export")])
        await quiet(runner)
        assert world.platform.texts("c") == ["Here it is.", "⚠️ export.json was not sent: files cannot be sent here."]


class Interactive(RecordingAdapter):
    """Answers commands by itself."""

    async def answer(self, event: Pressed | Command, text: str) -> None:
        self.hooks.append(("answer", text))


async def test_a_platform_that_answers_commands_at_once_gets_the_file_behind_it(world: Any, quiet: Any) -> None:
    async with on(world, kind=Interactive, **FILES) as runner:
        await runner.inbox.accept([Command(key="k", address=ROOM, principal=ADA, name="export")])
        await quiet(runner)
        assert ("answer", "Here it is.") in runner.adapter.hooks
        assert [each.files for each in world.platform.shown("c")] == [(), ("export.json",)]


@pytest.mark.parametrize("text", ["[file: 0815-export.json]", "see [file: /etc/passwd]"])
async def test_words_of_a_notice_name_no_file(world: Any, quiet: Any, text: str) -> None:
    async with world.runner(**FILES) as runner:
        kept(runner)
        await runner.notice("c", text)
        await quiet(runner)
        assert not any(each.files for each in world.platform.shown("c"))
