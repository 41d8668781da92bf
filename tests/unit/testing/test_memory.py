"""What makes the fake store a store: it rolls back, it refuses, and it runs operations twice on demand."""

import math

import pytest

from kesoku.errors import NotStorable, StoreClosed, StoreConflict, StoreReadOnly
from kesoku.messages import make
from kesoku.messages.enums import MessageStatus
from kesoku.messages.message import Message
from kesoku.messages.record import Address, Post, Record
from kesoku.ports import Transaction
from kesoku.testing.memory import MemoryStore

ROOM = Address(chatbot_id="cli", channel_id="cli")


def insert(tx: Transaction, post: Post) -> Record:
    session = tx.sessions.bound(ROOM) or tx.sessions.create(at=1)
    tx.sessions.bind(ROOM, session.id)
    return tx.messages.insert(post, session_id=session.id, at=1)


def prompt(text: str = "hi") -> Post:
    return Post(message=make.user_prompt(text, author="Ada"), address=ROOM, keys=(text,))


async def test_a_failed_operation_leaves_nothing() -> None:
    store, kept, lost = MemoryStore(), prompt("kept"), prompt("lost")
    await store.write(lambda tx: insert(tx, kept))

    def fails(tx: Transaction) -> None:
        record = insert(tx, lost)
        tx.state.set("a", "b", 1)
        tx.state.set("a", "b", None)
        tx.messages.move(record.id, MessageStatus.PROCESSING, [MessageStatus.PENDING_AGENT], actor="", reason="", at=1)
        tx.leases.take(record, owner="w", at=1, until=2)
        raise ZeroDivisionError

    for _ in range(2):
        with pytest.raises(ZeroDivisionError):
            await store.write(fails)
    session = await store.read(lambda tx: tx.sessions.bound(ROOM))
    assert session is not None
    assert session.last_n == 1
    assert await store.read(lambda tx: tx.messages.get(lost.message.id)) is None
    assert await store.read(lambda tx: tx.messages.find("cli", ["lost"])) is None
    assert await store.read(lambda tx: tx.leases.held()) == []
    assert [each.record.id for each in await store.read(lambda tx: tx.events.after(0, 9))] == [kept.message.id]
    again = await store.write(lambda tx: insert(tx, lost))
    assert (again.seq, again.session_n) == (2, 2)


async def test_operations_that_cannot_run_twice_are_found() -> None:
    store = MemoryStore(rerun=True)
    post, count = prompt(), []

    def operation(tx: Transaction) -> Record:
        count.append(1)
        return insert(tx, post)

    assert (await store.write(operation)).session_n == 1
    assert len(count) == 2
    posts = [prompt("only once")]
    with pytest.raises(IndexError):
        await store.write(lambda tx: insert(tx, posts.pop()))


async def test_reading_does_not_write() -> None:
    store = MemoryStore()
    with pytest.raises(StoreReadOnly):
        await store.read(lambda tx: insert(tx, prompt()))


async def test_a_closed_store() -> None:
    store = MemoryStore()
    await store.aclose()
    with pytest.raises(StoreClosed):
        await store.read(lambda tx: tx.events.head())
    with pytest.raises(StoreClosed):
        await store.write(lambda tx: tx.events.head())


@pytest.mark.parametrize("bad", [{"x": math.nan}, {"x": b"bytes"}, {"x": object()}])
async def test_what_is_no_json_is_refused(bad: dict[str, object]) -> None:
    call = make.tool_call("t", bad, provider="p", model="m")
    with pytest.raises(NotStorable):
        await MemoryStore().write(lambda tx: insert(tx, Post(message=call, address=ROOM)))


@pytest.mark.parametrize(
    ("message", "status"),
    [
        (make.user_prompt("x", author="Ada"), MessageStatus.PENDING),
        (make.thought("x", provider="p", model="m"), MessageStatus.PENDING_AGENT),
        (make.notice("x"), MessageStatus.PROCESSED),
    ],
)
async def test_a_status_that_the_role_cannot_have(message: Message, status: MessageStatus) -> None:
    with pytest.raises(StoreConflict):
        await MemoryStore().write(lambda tx: insert(tx, Post(message=message, address=ROOM, status=status)))
