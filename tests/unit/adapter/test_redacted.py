"""What was redacted does not come back: neither out of a lane, nor by an echo of the platform (C-16)."""

import asyncio
from typing import Any

from kesoku.adapter import Address, Edited, Outgoing, Principal, Prompt
from kesoku.adapter.part import decode
from kesoku.commands.copies import copies
from kesoku.commands.wipe import wipe
from kesoku.messages.enums import MessageStatus as S
from kesoku.messages.record import Record
from kesoku.messages.redaction import REDACTED
from kesoku.testing.adapter_runner import AdapterRunner
from kesoku.testing.clock import settle
from kesoku.testing.platform import Fault
from kesoku.testing.recording import RecordingAdapter

from .test_live import BAR, call, live_rows, thought, turn

ROOM = Address(chatbot_id="recording", channel_id="c")
ADA = Principal(user_id="ada", display_name="Ada")


async def redact(runner: AdapterRunner, record: Record) -> None:
    found = await runner.store.read(lambda tx: copies(tx, record))
    await runner.store.write(lambda tx: wipe(tx, found, actor="a", at=1))


async def test_a_part_that_waits_for_another_attempt_goes_out_redacted(world: Any, quiet: Any) -> None:
    async with world.runner(max_text=20) as runner:
        world.platform.script("c", Fault(kind="none"), Fault(kind="retry", seconds=30.0))
        record = await runner.answer("c", "the first part.\n\nthe second part.\n\nthe third part.")
        await settle()
        await redact(runner, record)
        await world.clock.advance(31)
        await quiet(runner)
        assert world.platform.texts("c") == ["the first part.", REDACTED, REDACTED]
        assert await runner.status(record) is S.DELIVERED


class Patient(RecordingAdapter):
    """Has no room for a message before it is told so."""

    room: asyncio.Event
    asked = 0

    def plan(self, address: Address, parts: tuple[Outgoing, ...], state: Any) -> tuple[Outgoing, ...] | None:
        self.asked += 1
        return parts if self.room.is_set() else None


async def test_a_message_that_was_rendered_before_is_rendered_again(world: Any, quiet: Any) -> None:
    async with world.runner(kind=Patient) as runner:
        runner.adapter.room = asyncio.Event()
        record = await runner.answer("c", "my secret")
        await settle()
        assert runner.adapter.asked == 1
        await redact(runner, record)
        runner.adapter.room.set()
        runner.outbox.spoke(ROOM)
        await quiet(runner)
        assert world.platform.texts("c") == [REDACTED]
        parts = await runner.store.read(lambda tx: tx.deliveries.of(record.id))
        assert ["secret" in each.body for each in parts] == [False]


async def test_a_live_status_that_is_drawn_once_more_does_not_bring_the_words_back(world: Any, quiet: Any) -> None:
    """It stays until the answer is out, longer than its turn."""
    async with world.runner(**BAR) as runner:
        claim = await turn(world, runner)
        said = await runner.say(claim, thought("my secret"))
        await world.clock.advance(2)
        (row,) = await live_rows(runner, claim)
        assert "my secret" in row.body
        await redact(runner, said)
        await runner.say(claim, call("run"))
        await world.clock.advance(2)
        assert "run" in world.platform.texts("c")[0]
        (row,) = await live_rows(runner, claim)
        assert decode(row.body).text == REDACTED
        await runner.finish(claim, "done")
        await quiet(runner)
        assert world.platform.texts("c") == ["done"]


async def test_an_echo_of_the_platform_does_not_bring_the_words_back(world: Any) -> None:
    """Some platforms report an edit when only a preview was added."""
    runner = world.runner()
    (record,) = await runner.inbox.accept([Prompt(keys=("k",), address=ROOM, principal=ADA, text="my secret")])
    await redact(runner, record)
    assert await runner.inbox.accept([Edited(key="k", address=ROOM, principal=ADA, text="my secret")]) == []
    found = await runner.store.read(lambda tx: tx.messages.get(record.id))
    assert found.message.rendered == REDACTED
