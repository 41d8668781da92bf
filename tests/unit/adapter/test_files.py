"""Files in replies: confined, checked before the send, and never taking the text along."""

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kesoku.adapter import Outgoing, OutgoingFile, RenderContext
from kesoku.adapter.part import EXTRA, apart, decode, encode, row, send_key
from kesoku.messages.content import Attachment
from kesoku.messages.enums import MessageStatus as S
from kesoku.messages.lifecycle import Delivery, DeliveryState, Purpose
from kesoku.messages.record import Address, Record
from kesoku.testing.platform import Fault
from kesoku.testing.recording import RecordingAdapter
from kesoku.testing.waiting import until

FILES = {"media_out": True, "max_file": 1000}
NONE = Fault(kind="none")


def write(runner: Any, name: str, size: int = 10) -> Path:
    path: Path = runner.workspace / name
    path.write_bytes(b"x" * size)
    return path


async def test_a_file_goes_with_its_text_and_is_delivered_once(world: Any, quiet: Any) -> None:
    # K-151
    async with world.runner(**FILES) as runner:
        write(runner, "plot.png")
        record = await runner.answer("c", "Here it is:\n\n[file: plot.png]")
        await quiet(runner)
        await runner.outbox.idle()
        shown = world.platform.shown("c")
        assert [(each.text.strip(), each.files) for each in shown] == [("Here it is:", ()), ("", ("plot.png",))]
        assert await runner.status(record) is S.DELIVERED


async def test_attachments_of_an_answer_are_sent_too(world: Any, quiet: Any) -> None:
    async with world.runner(**FILES) as runner:
        path = write(runner, "a.txt")
        await runner.answer("c", "see", attachments=[Attachment(name="a.txt", path=str(path))])
        await runner.outbox.idle()
        await quiet(runner)
        assert [each.files for each in world.platform.shown("c")] == [(), ("a.txt",)]


@pytest.mark.parametrize("path", ["/etc/passwd", "../secret", "link", "absent.txt", ".", "a\0b", "a" * 300])
async def test_a_path_outside_is_refused_with_a_visible_line(world: Any, quiet: Any, path: str) -> None:
    async with world.runner(**FILES) as runner:
        (runner.workspace.parent / "secret").write_text("s3cret")
        (runner.workspace / "link").symlink_to("/etc/passwd")
        record = await runner.answer("c", f"Look:\n\n[file: {path}]")
        await quiet(runner)
        assert not any(each.files for each in world.platform.shown("c"))
        assert "Look:" in world.platform.texts("c")[0]
        assert await runner.status(record) is S.DELIVERED


class Careless(RecordingAdapter):
    """Sends whatever file it likes."""

    def render(self, record: Record, context: RenderContext) -> tuple[Outgoing, ...]:
        return (Outgoing(text="hi", files=(OutgoingFile(path=Path("/etc/passwd"), name="x"),)),)


async def test_an_adapter_cannot_send_what_was_not_confined(world: Any, quiet: Any) -> None:
    async with world.runner(kind=Careless, **FILES) as runner:
        await runner.answer("c", "hi")
        await quiet(runner)
        assert world.platform.texts("c") == ["hi", "⚠️ x was not sent: it is not in a folder that may be sent from."]


async def test_a_file_that_is_too_big_is_named_and_the_rest_goes(world: Any, quiet: Any) -> None:
    # complaints 80 and 81
    async with world.runner(**FILES) as runner:
        for name, size in (("a.png", 10), ("big.png", 10_700_000), ("c.png", 1000)):
            write(runner, name, size)
        record = await runner.answer("c", "three\n\n[file: a.png]\n\n[file: big.png]\n\n[file: c.png]")
        for _ in range(5):
            await quiet(runner)
            await runner.outbox.idle()
        shown = [each.files or each.text.strip() for each in world.platform.shown("c")]
        assert shown == [
            "three",
            ("a.png",),
            "⚠️ big.png was not sent: it has 10.7 MB, and at most 1.0 kB can be sent here.",
            ("c.png",),
        ]
        assert await runner.status(record) is S.DELIVERED


async def test_where_files_cannot_be_sent_that_is_said(world: Any, quiet: Any) -> None:
    # complaint 90
    async with world.runner() as runner:
        write(runner, "a.png")
        await runner.answer("c", "[file: a.png]")
        await quiet(runner)
        await runner.outbox.idle()
        assert world.platform.texts("c") == ["⚠️ a.png was not sent: files cannot be sent here."]


async def test_a_file_that_the_platform_refuses_ends_in_error_but_takes_nothing_along(world: Any, quiet: Any) -> None:
    # complaints 80 and 81; N-01
    async with world.runner(**FILES) as runner:
        for name in ("a.png", "b.png", "c.png"):
            write(runner, name)
        world.platform.script("c", NONE, NONE, Fault(kind="refuse"))
        record = await runner.answer("c", "three\n\n[file: a.png]\n\n[file: b.png]\n\n[file: c.png]")
        for _ in range(5):
            await quiet(runner)
            await runner.outbox.idle()
        shown = [each.files or each.text.strip() for each in world.platform.shown("c")]
        assert shown == ["three", ("a.png",), ("c.png",), "⚠️ b.png was not sent: forbidden"]
        assert await runner.status(record) is S.ERROR
        rows = await runner.store.read(lambda tx: tx.deliveries.of(record.id))
        assert [(each.part, each.state) for each in rows] == [
            (0, DeliveryState.SENT),
            (1, DeliveryState.SENT),
            (2, DeliveryState.REFUSED),
            (3, DeliveryState.SENT),
            (EXTRA + 2, DeliveryState.SENT),
        ]


async def test_a_retry_sends_the_bytes_that_were_planned(world: Any, quiet: Any) -> None:
    async with world.runner(**FILES) as runner:
        path = write(runner, "a.txt")
        world.platform.script("c", Fault(kind="retry", seconds=10.0))
        record = await runner.answer("c", "[file: a.txt]")
        await until(lambda: is_put_off(runner, record), what="it is tried again later")
        path.write_bytes(b"something else, and much longer")
        (planned,) = await parts_of(runner, record)
        assert decode(planned.body).files[0].path.read_bytes() == b"x" * 10
        await world.clock.advance(11)
        await quiet(runner)
        assert await runner.status(record) is S.DELIVERED


async def is_put_off(runner: Any, record: Record) -> bool:
    return any(part.next_attempt_at for part in await parts_of(runner, record))


async def parts_of(runner: Any, record: Record) -> list[Delivery]:
    found: list[Delivery] = await runner.store.read(lambda tx: tx.deliveries.of(record.id))
    return found


text = st.text(max_size=20)
files = st.lists(st.builds(OutgoingFile, path=st.builds(Path, st.just("/tmp/x")), name=text), max_size=3).map(tuple)
payloads = st.none() | st.dictionaries(text, st.none() | st.booleans() | st.integers() | text | st.lists(text))
outgoing = st.builds(
    Outgoing, text=text, files=files, reply_to=st.none() | text, silent=st.booleans(), payload=payloads
)


@given(outgoing)
def test_a_part_survives_the_ledger(part: Outgoing) -> None:
    assert decode(encode(part)) == part
    assert encode(decode(encode(part))) == encode(part)


def test_a_part_with_a_lone_surrogate_survives_as_plain_ascii() -> None:
    assert decode(encode(Outgoing(text="\ud800"))).text == "\ud800"
    assert encode(Outgoing(text="\ud800")).isascii()


@given(st.lists(outgoing, max_size=4))
def test_files_are_parts_of_their_own_and_nothing_is_lost(parts: list[Outgoing]) -> None:
    # complaint 80
    split = list(apart(parts))
    assert all(len(each.files) + bool(each.text or each.buttons or each.payload) <= 1 for each in split)
    assert "".join(each.text for each in split) == "".join(each.text for each in parts)
    assert [f for each in split for f in each.files] == [f for each in parts for f in each.files]
    assert [each.payload for each in split if each.payload] == [each.payload for each in parts if each.payload]


@given(text, st.integers(0, 9999))
def test_a_send_key_is_short_plain_and_its_own(message_id: str, part: int) -> None:
    key = send_key(message_id, part)
    assert len(key) == 24
    assert key.isascii()
    assert key.isalnum()
    others = {
        send_key(message_id, part + 1),
        send_key(message_id, part, Purpose.LIVE),
        send_key(message_id + "x", part),
    }
    assert key not in others
    assert (
        key
        == row(Outgoing(), message_id=message_id, address=Address(chatbot_id="b", channel_id="c"), part=part).send_key
    )
