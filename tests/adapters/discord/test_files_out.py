"""Files of the bot that Discord does not take: the text arrives still, and a line names the file."""

from pathlib import Path

import pytest

from kesoku.adapter import Attachment
from kesoku.messages.enums import MessageStatus
from kesoku.testing.discord import Refusal, Usual
from kesoku.testing.waiting import until
from kesoku_discord.limits import MAX_FILE

from .turn_stage import Turn, turn

pytestmark = pytest.mark.usefixtures("no_proxy")
SENDING = "POST /channels/{}/messages"


async def _answered(on: Turn, size: int, *, as_: MessageStatus) -> list[str]:
    """What stands in the chat with Ada after an answer with a file of this size."""
    path = on.bot.workspace / "song.txt"
    with path.open("wb") as file:
        file.truncate(size)
    chat = on.server.direct(on.ada)
    song = Attachment(name="song.txt", mime_type="text/plain", size=size, path=str(path))
    record = await on.bot.answer(str(chat.id), "here it is", attachments=[song])

    async def ended() -> bool:
        return await on.bot.status(record) is as_

    await until(ended, what=f"the answer is {as_}")
    return [line for each in on.server.messages(chat) for line in each.content.splitlines()]


async def test_a_file_that_is_too_large_is_named_and_never_sent(tmp_path: Path) -> None:
    """Complaint 80: 10 MiB are known, so it is not even tried."""
    async with turn(tmp_path) as on:
        text, *rest = await _answered(on, MAX_FILE + 1, as_=MessageStatus.DELIVERED)
        assert text == "here it is"
        assert any("song.txt" in line for line in rest)
        assert not any(each.files for each in on.server.asked(SENDING))


async def test_a_file_that_discord_refuses_is_named(tmp_path: Path) -> None:
    """Where a server takes less; the answer counts as not delivered, and nothing of it is sent again."""
    async with turn(tmp_path) as on:
        chat = on.server.direct(on.ada)
        on.server.script(Usual(), Refusal(413, 40005, "Request entity too large"), on=SENDING, channel=chat)
        text, *rest = await _answered(on, 3, as_=MessageStatus.ERROR)
        assert text == "here it is"
        assert rest[-1].startswith("⚠️ song.txt was not sent: the file is larger than Discord takes here")
        assert on.server.unused == 0
