"""What is no message is refused with the name of the field, and what is one cannot be changed by any way in."""

import json
from collections import UserDict, UserList, deque
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any
from uuid import UUID

import pytest
from pydantic import BaseModel

from kesoku import (
    Answer,
    Message,
    ModelSource,
    Notice,
    NoticeSource,
    RelaySource,
    SystemPrompt,
    SystemSource,
    ToolCall,
    ToolResult,
    ToolSource,
    UserPrompt,
    UserSource,
    from_json,
    message_from_dict,
    to_json,
)
from kesoku.errors import FieldMistyped, FormatBroken, InvalidParty, KesokuError, MessageUnreadable, NestedTooDeep
from kesoku.messages import make
from kesoku.messages.enums import MessageRole
from kesoku.messages.freeze import DEPTH, FrozenDict, freeze
from kesoku.messages.party import Named, Party, ToRole

MODEL: dict[str, Any] = {"provider": "p", "model": "m"}
WRITTEN = make.user_prompt("hi", author="Ada").to_dict()
ENVELOPE: dict[str, tuple[Any, ...]] = {
    "id": (5, ["a"]),
    "created_at": ("now", None, True),
    "content": ("text", 5, ["a"]),
    "source": ("user", 5),
    "channel": (5,),
    "author": (None, 5),
    "metadata": ("abc", ["a"], 5),
    "version": ("1", True, 1.5, None),
}


@pytest.mark.parametrize(("field", "given"), [(field, each) for field, all_ in ENVELOPE.items() for each in all_])
def test_a_field_of_another_type_is_refused_by_its_name(field: str, given: Any) -> None:
    with pytest.raises(FieldMistyped, match=rf"^{field} of \S.* takes .*, not {type(given).__name__}$") as caught:
        message_from_dict(WRITTEN | {field: given})
    assert (caught.value.field, caught.value.given) == (field, given)


PROMPT = (UserPrompt, UserSource())
CONTENT: tuple[tuple[Any, str, Any], ...] = (
    (PROMPT, "text", 5),
    (PROMPT, "text", b"x"),
    (PROMPT, "instruction", 5),
    (PROMPT, "guidance", ["a"]),
    (PROMPT, "structure", 5),
    (PROMPT, "attachments", 5),
    (PROMPT, "attachments", "file"),
    (PROMPT, "attachments", {"name": "x"}),
    (PROMPT, "attachments", [5]),
    ((Answer, ModelSource(**MODEL)), "text", ["a"]),
    ((Notice, NoticeSource()), "question", 5),
    ((SystemPrompt, SystemSource()), "datetime", 1.0),
    ((ToolCall, ModelSource(**MODEL)), "response_id", 5),
    ((ToolResult, ToolSource(call_id="c")), "error", ["boom"]),
    ((ToolResult, ToolSource(call_id="c")), "summary", 5),
    ((ToolResult, ToolSource(call_id="c")), "request_id", 5),
)


@pytest.mark.parametrize(("of", "field", "given"), CONTENT)
def test_a_field_of_the_content_is_no_other_than_the_class_says(of: Any, field: str, given: Any) -> None:
    cls, source = of
    with pytest.raises(FieldMistyped, match=f"^{field} of "):
        cls.create(source=source, content={"tool": "t", field: given} if cls is ToolCall else {field: given})


def test_the_items_of_a_list_are_looked_at_too() -> None:
    question = {"id": "q", "text": "which?", "choices": ["a", 5]}
    with pytest.raises(FieldMistyped, match=r"^choices\[1\] of Question takes text, not int$"):
        Notice.create(source=NoticeSource(), content={"question": question})


@pytest.mark.parametrize("field", ["platform_ids", "user_id"])
def test_a_field_of_the_source_is_no_other_either(field: str) -> None:
    with pytest.raises(FieldMistyped, match=f"^{field} of UserSource"):
        message_from_dict(WRITTEN | {"source": {"kind": "user", field: 5}})


def test_a_new_message_with_a_slip_of_the_pen_is_refused_and_a_stored_one_from_a_later_version_is_read() -> None:
    with pytest.raises(TypeError, match="PromptContent has no field instuction"):
        UserPrompt.create(source=UserSource(), content={"instuction": "a"})
    read = message_from_dict(WRITTEN | {"content": {"text": "hi", "colour": "red"}})
    assert read.content.to_dict() == {"text": "hi"}


UNREADABLE: dict[str, str | bytes] = {
    "no JSON": "{",
    "bytes that are no text": b"\xff",
    "a list": "[]",
    "a number": "NaN",
    "nested without an end": "[" * 100_000,
    "a key twice": json.dumps(WRITTEN)[:-1] + ', "id": "another"}',
    "a key twice in the content": json.dumps(WRITTEN).replace('"text": "hi"', '"text": "hi", "text": "ho"'),
}


@pytest.mark.parametrize("text", UNREADABLE.values(), ids=UNREADABLE)
def test_json_that_is_no_message_is_refused_as_such(text: str | bytes) -> None:
    with pytest.raises(MessageUnreadable, match="this JSON is no message"):
        from_json(text)


def nested(depth: int) -> Any:
    value: Any = 1
    for number in range(depth):
        value = [value] if number % 2 else {"k": value}
    return value


def cyclic() -> Any:
    value: list[Any] = []
    value.append({"k": value})
    return value


PLACES: dict[str, Callable[[Any], Message]] = {
    "content": lambda value: Message.create(source=RelaySource(), content=value),
    "metadata": lambda value: Message.create(source=RelaySource(), metadata={"k": value}),
    "context": lambda value: UserPrompt.create(source=UserSource(), content={"context": value}),
    "arguments": lambda value: make.tool_call("t", {"k": value}, **MODEL),
    "replay state": lambda value: make.tool_call("t", {}, **MODEL, replay_state=value),
    "output": lambda value: make.respond(make.tool_call("t", {}, **MODEL), value)[1],
    "response": lambda value: Answer.from_response({"content": "a", "more": value}),
}


@pytest.mark.parametrize("endless", [nested(100_000), cyclic()], ids=["deep", "cyclic"])
@pytest.mark.parametrize("place", PLACES.values(), ids=PLACES)
def test_what_has_no_end_is_refused_wherever_it_stands(place: Callable[[Any], Message], endless: Any) -> None:
    with pytest.raises(NestedTooDeep, match=f"up to {DEPTH} deep"):
        place(endless)


@pytest.mark.parametrize("place", PLACES.values(), ids=PLACES)
def test_what_is_as_deep_as_it_may_be_is_rendered_and_written(place: Callable[[Any], Message]) -> None:
    message = place(nested(DEPTH - 4))
    assert message.text is not None
    assert from_json(to_json(message)).to_dict() == message.to_dict()


class Liar(dict[str, Any]):
    """A dict that says of its values what is not so."""

    def values(self) -> Any:
        return ["text"]

    def items(self) -> Any:
        return [("k", "text")]


MUTABLE: dict[str, Callable[[list[int]], Any]] = {
    "a list": lambda inner: inner,
    "a deque": deque,
    "a list of somebody's own": UserList,
    "a dict that lies": lambda inner: Liar(k=inner),
    "a mapping that is no dict": lambda inner: UserDict(k=inner),
    "bytes that change": bytearray,
    "a set": lambda inner: {*inner},
}


def held(value: Any) -> Iterator[Any]:
    yield value
    if isinstance(value, (dict, tuple, frozenset)):
        for each in dict.values(value) if isinstance(value, dict) else value:
            yield from held(each)


@pytest.mark.parametrize("make_mutable", MUTABLE.values(), ids=MUTABLE)
def test_whatever_could_be_changed_is_kept_as_a_copy_that_cannot(make_mutable: Callable[[list[int]], Any]) -> None:
    # D-014, D-015
    given = make_mutable([1])
    for frozen in (freeze(given), freeze({"k": [given]}), FrozenDict({"k": given})):
        assert {type(each) for each in held(frozen)} <= {FrozenDict, tuple, frozenset, bytes, int}
        assert not any(each is given for each in held(frozen))


CHANGED: Any = replace
"""The way round every maker."""


@pytest.mark.parametrize("field", ["content", "metadata"])
def test_a_message_is_frozen_however_it_is_made(field: str) -> None:
    # D-015, D-019
    mine: dict[str, Any] = {"k": [1]}
    message = CHANGED(Message.create(source=RelaySource()), **{field: mine})
    mine["k"].append(2)
    assert getattr(message, field) == {"k": (1,)}
    assert CHANGED(message, sender="alice").sender == "alice"
    assert CHANGED(make.notice("x"), content={"text": "y"}).rendered == "y"


@pytest.mark.parametrize(
    "made", [Named("assistant"), Named("unset"), Named(str(UUID(int=7))), ToRole(MessageRole.UNSET)]
)
def test_a_party_made_by_hand_is_what_is_read_back(made: Party) -> None:
    # L-014, L-015, L-021
    message = Message.create(source=RelaySource(), recipient=made)
    for each in (message, message.with_recipient(made)):
        read = from_json(to_json(each))
        assert type(read.recipient) is type(each.recipient)
        assert (read.recipient, read.is_direct) == (each.recipient, each.is_direct)


def test_no_name_is_empty_by_whatever_way() -> None:
    # L-022
    for refused in (Named(""), ""):
        with pytest.raises(InvalidParty):
            Message.create(source=RelaySource(), recipient=refused)
    with pytest.raises(InvalidParty):
        message_from_dict(WRITTEN | {"recipient": ""})


def test_no_update_makes_a_broadcast_by_the_recipient_of_another_message() -> None:
    # L-040
    direct, everybody = make.notice("x").with_recipient("bob"), make.notice("x").with_recipient(None)
    assert direct.update(recipient=everybody.recipient).recipient == "bob"
    assert direct.with_recipient(everybody.recipient).is_broadcast


class NoSchema(BaseModel):
    """A model class that cannot describe itself."""

    act: Callable[[int], int]


class Broken:
    """A structure that fails."""

    def __init__(self, response_format: Any) -> None:
        raise RuntimeError("nothing\nworks")


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"response_format": NoSchema}, r"response_format NoSchema cannot be described \(PydanticInvalidForJsonSchema"),
        ({"response_format": {"a": 1}, "structure": Broken}, r"described by Broken \(RuntimeError: nothing works\)"),
        ({"response_format": {"a": 1}, "structure": int}, r"described by int \(TypeError"),
    ],
)
def test_a_form_that_cannot_be_described_is_refused_when_the_prompt_is_made(fields: Any, said: str) -> None:
    with pytest.raises(FormatBroken, match=said) as caught:
        UserPrompt.create(source=UserSource(), content={"instruction": "a", **fields})
    assert isinstance(caught.value, KesokuError)
    assert "\n" not in str(caught.value)
