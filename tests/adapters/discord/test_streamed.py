"""The answer is shown while it is written, in the status message of its turn."""

from pathlib import Path

import pytest

from kesoku.messages.enums import MessageStatus

from .turn_stage import Turn, turn
from .wire_stage import holds

pytestmark = pytest.mark.usefixtures("no_proxy")


def _writes(on: Turn, text: str, *, thought: str = "") -> None:
    """The model has written so much."""
    prompt = on.claim.prompt
    on.bot.drafts.publish(prompt.id, prompt.address, step=2, thought=thought, text=text)


async def _shows(on: Turn, text: str) -> None:
    await holds(lambda: on.status.content.endswith(text), text)


async def test_the_beginning_of_an_answer_is_edited_in_and_gives_way_to_the_answer(tmp_path: Path) -> None:
    """There is one message all the time."""
    async with turn(tmp_path) as on:
        for text in ("The answer is", "The answer is forty"):
            _writes(on, text)
            await _shows(on, text)
            assert len(on.shown()) == 1
        await on.ends(as_=MessageStatus.DELIVERED)
        await holds(lambda: on.shown() == ["42"], "the answer alone")


async def test_who_does_not_want_that_sees_the_thoughts_alone(tmp_path: Path) -> None:
    """`stream_answer = false`."""
    async with turn(tmp_path, stream_answer=False) as on:
        _writes(on, "The answer is", thought="multiplying")
        await holds(lambda: "multiplying" in on.status.content, "the thought")
        assert "The answer is" not in on.status.content
        await on.ends(as_=MessageStatus.DELIVERED)
        await holds(lambda: on.shown() == ["42"], "the answer alone")
