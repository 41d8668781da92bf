"""What the contract of the store is played with: addresses, posts, operations. Times are small integers."""

# ruff: noqa: S101 - a contract is made of assertions

from collections.abc import Callable, Iterable
from typing import Any

from kesoku.messages import make
from kesoku.messages.enums import MessageStatus as S
from kesoku.messages.kinds import ToolCall
from kesoku.messages.lifecycle import Delivery, Purpose, Serving
from kesoku.messages.message import Message
from kesoku.messages.record import Address, Post, Record
from kesoku.ports import Store, Transaction
from kesoku.testing.talk import Talk

HERE = Address(chatbot_id="discord", channel_id="lounge")
THERE = Address(chatbot_id="discord", channel_id="attic")
ELSEWHERE = Address(chatbot_id="wechat", channel_id="lounge")
EVERYWHERE = Serving(addresses=frozenset({HERE.whole, ELSEWHERE.whole}))
MODEL: dict[str, Any] = {"provider": "test", "model": "test-1"}


def serving(*addresses: Address) -> Serving:
    """A process that serves these addresses."""
    return Serving(addresses=frozenset(addresses))


def prompt(text: str = "hello", *, user_id: str = "u1", at: Address = HERE, **place: Any) -> Post:
    """Something that a person says."""
    return Post(message=make.user_prompt(text, author="Chii", user_id=user_id), address=at, **place)


def said(message: Message, *, at: Address = HERE, **place: Any) -> Post:
    """Something that the agent says."""
    return Post(message=message, address=at, **place)


def call() -> ToolCall:
    """A tool call."""
    return make.tool_call("run_shell_command", {"command": "true"}, **MODEL)


def add(*posts: Post, session: str = "s1", at: int = 10) -> Callable[[Transaction], list[Record]]:
    """An operation that stores posts in a session, made if there is none."""

    def operation(tx: Transaction) -> list[Record]:
        if tx.sessions.get(session) is None:
            tx.sessions.create(session_id=session, at=1)
        return [tx.messages.insert(post, session_id=session, at=at) for post in posts]

    return operation


def store_talk(tx: Transaction, talk: Talk, *, session: str) -> None:
    """Write a whole talk into a new session, its records as they stand and its steps."""
    tx.sessions.create(session_id=session, at=1)
    for record in sorted(talk.records, key=lambda record: record.seq):
        post = Post(
            message=record.message,
            address=record.address,
            parent_id=record.parent_id,
            turn_id=record.turn_id,
            round=record.round,
            status=record.status,
        )
        tx.messages.insert(post, session_id=session, at=1)
        if record.superseded_by is not None:
            tx.messages.supersede(record.id, by=record.superseded_by)
    for step in talk.steps:
        tx.steps.open(step.turn_id, [step.turn_id])
        tx.steps.add(step)


def move(record: Record, to: S, *expected: S, at: int = 20) -> Callable[[Transaction], Record | None]:
    """An operation that moves a status."""
    return lambda tx: tx.messages.move(record.id, to, expected, actor="tester", reason="because", at=at)


def ids(records: Iterable[Record]) -> list[str]:
    """The ids, in order."""
    return [record.id for record in records]


async def stored(store: Store, message_id: str) -> Record:
    """The record as the store has it now."""
    found = await store.read(lambda tx: tx.messages.get(message_id))
    assert found is not None
    return found


def part(record: Record, number: int = 0, *, purpose: Purpose = Purpose.FINAL, body: str = "{}") -> Delivery:
    """A planned part of a message."""
    return Delivery(
        message_id=record.id,
        part=number,
        address=record.address,
        purpose=purpose,
        body=body,
        hash=f"hash of {body}",
        send_key=f"{record.id}/{number}",
    )
