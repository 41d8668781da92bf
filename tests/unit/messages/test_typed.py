"""Messages in typed parts on their way through flat rows, the database, and the model's input."""

from collections.abc import Iterable
from pathlib import Path

import pytest

from kesoku import (
    Address,
    Answer,
    Message,
    Record,
    SystemContent,
    SystemPrompt,
    SystemSource,
    UserPrompt,
    UserSource,
    create_tool_result_message,
)
from kesoku.history import compile_turns
from kesoku.messages import make
from kesoku.messages.enums import MessageStatus
from kesoku.messages.kinds import category_of
from kesoku.messages.party import UNADDRESSED
from kesoku.messages.record import SYSTEM_ADDRESS
from kesoku.messages.restore import record_from_row
from kesoku.messages.turn import TextBlock, TurnRequest
from kesoku.testing.store_material import add, said
from kesoku.testing.sync_store import SyncStore

HERE = Address(chatbot_id="b", channel_id="c")
URL = "https://example.com/a.png"
TYPED = UserPrompt.create(
    source=UserSource(user_id="7"),
    author="Ada",
    content={"instruction": "a", "context": ["c", {"k": 1}], "images": [URL, "aGVsbG8="], "image_detail": "low"},
)
AS_TEXT = f"Instruction: a\nContext:\n  - c\n  - k: 1\n[Image: {URL}]\n[Image: image/jpeg, 5 bytes]"


def placed(message: Message, status: MessageStatus | None = None) -> Record:
    address = SYSTEM_ADDRESS if message.kind == "system_prompt" else HERE
    first = category_of(message).status
    return Record(message=message, address=address, session_id="s", status=status or first, turn_id=message.id)


def read_by_the_model(message: Message) -> Iterable[object]:
    (turn,) = compile_turns([placed(message, MessageStatus.PROCESSING)], (), TurnRequest()).turns
    return turn.blocks


def test_the_text_of_a_message_names_its_images() -> None:
    assert TYPED.text == AS_TEXT
    assert [part["type"] for part in TYPED.rendered] == ["text", "image_url", "image_url"]
    assert make.answer("hi", provider="p", model="m").text == "hi"


def test_the_model_is_given_the_sections_and_the_names_of_images() -> None:
    assert read_by_the_model(TYPED) == (TextBlock(text=AS_TEXT),)
    assert read_by_the_model(make.user_prompt("hi", author="Ada")) == (TextBlock(text="hi"),)


def test_a_row_of_a_typed_prompt_is_read_as_people_read_it_and_comes_back_whole() -> None:
    row = placed(TYPED).to_row()
    assert row["content"] == AS_TEXT
    assert row["envelope"] == {"content": TYPED.content.to_dict()}
    assert record_from_row(row).message.content == TYPED.content


def test_a_row_of_a_master_prompt_keeps_its_time_apart() -> None:
    content = SystemContent(text="p", datetime="T")
    row = placed(SystemPrompt.create(source=SystemSource(), content=content, author="System")).to_row()
    assert row["content"] == "System Time: T\n\np"
    assert record_from_row(row).message.content == content


DEFAULT = {"system_prompt": ("system", "assistant"), "answer": (UNADDRESSED, "user"), "user_prompt": (UNADDRESSED,) * 2}
SPOKEN = (
    make.system_prompt("p"),
    make.answer("a", provider="p", model="m"),
    make.user_prompt("u", author="Ada"),
)


@pytest.mark.parametrize("message", SPOKEN, ids=lambda each: each.kind)
def test_the_parties_that_a_class_has_by_default_are_in_no_row_and_come_back(message: Message) -> None:
    # L-044, L-089
    row = placed(message).to_row()
    assert "envelope" not in row
    read = record_from_row(row).message
    for each in (message, read):
        assert (each.sender, each.recipient) == DEFAULT[message.kind]


def test_other_parties_than_the_default_stand_in_the_row() -> None:
    unsent = Answer.create(source=make.answer("", provider="p", model="m").source, recipient="unset")
    row = placed(unsent).to_row()
    assert row["envelope"] == {"recipient": "unset"}
    assert record_from_row(row).message.recipient == UNADDRESSED


@pytest.mark.parametrize(
    "message",
    [TYPED, *SPOKEN[1:], SPOKEN[1].with_recipient("unset"), create_tool_result_message(call_id="c", content="x")],
    ids=lambda each: each.kind,
)
def test_the_database_gives_back_what_it_was_given(message: Message, tmp_path: Path) -> None:
    # D-024, L-089
    store = SyncStore(tmp_path / "kesoku.db")
    try:
        store.run(add(said(message)))
        (read,) = store.run(lambda tx: tx.messages.tail("s1", 1))
    finally:
        store.close()
    assert read.message == message
    assert read.message.to_dict() == message.to_dict()
    assert read.message.content == message.content
