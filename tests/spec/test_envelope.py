"""The envelope of a message: identity, role, parties, rendering, rewriting, cloning."""

import json
from dataclasses import FrozenInstanceError, dataclass
from typing import Any
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

import kesoku
from kesoku import (
    Answer,
    Message,
    MessageRole,
    RelaySource,
    SystemPrompt,
    SystemSource,
    ToolCall,
    ToolResult,
    UserPrompt,
    UserSource,
    from_json,
    message_from_dict,
    to_json,
)
from kesoku.errors import InvalidParty
from kesoku.messages import make
from kesoku.messages.kinds import KINDS
from kesoku.messages.message import same_content

MAIL = RelaySource()
BRANCH, NOBODY = UUID(int=7), UUID(int=8)
MODEL: dict[str, Any] = {"provider": "p", "model": "m"}
CALL = make.tool_call("t", {"a": [1, None]}, **MODEL)
ONE_OF_EACH: tuple[Message, ...] = (
    Message.create(source=MAIL, content={"free": ["form"]}),
    make.system_prompt("be kind"),
    make.user_prompt("hi", author="Chii"),
    make.answer("hello", **MODEL),
    *make.respond(CALL, {"out": [1]}),
    make.thought("hm", **MODEL),
    make.notice("wait"),
    make.nudge(),
    make.summary("long ago", covered=["a"]),
)


def mail(**fields: Any) -> Message:
    return Message.create(source=MAIL, **fields)


def each_message(test: Any) -> Any:
    return pytest.mark.parametrize("message", ONE_OF_EACH, ids=lambda each: each.kind)(test)


def test_a_new_message_starts_empty_and_unique() -> None:
    # L-001
    one, other = mail(), mail()
    assert one.id != other.id
    assert type(one.created_at) is float
    assert (one.content, one.metadata) == (None, {})
    assert not hasattr(one, "embedding")


@pytest.mark.parametrize("name", ["id", "created_at", "role", "content", "metadata"])
def test_nothing_of_a_message_can_be_assigned(name: str) -> None:
    # L-002, L-007, D-016
    with pytest.raises((FrozenInstanceError, AttributeError, TypeError)):
        setattr(make.user_prompt("hi", author="Chii"), name, "x")


def test_the_roles_are_a_closed_vocabulary() -> None:
    # L-003
    assert {role.value for role in MessageRole} == {"system", "user", "assistant", "unset", "tool"}
    assert MessageRole.ACTION is MessageRole("action") is MessageRole.TOOL
    with pytest.raises(ValueError, match="moderator"):
        MessageRole("moderator")


ROLES: dict[type[Message], str] = {
    Message: "unset",
    SystemPrompt: "system",
    UserPrompt: "user",
    Answer: "assistant",
    ToolCall: "action",
    ToolResult: "action",
}


@pytest.mark.parametrize(("cls", "role"), ROLES.items(), ids=lambda each: getattr(each, "kind", each))
def test_the_class_fixes_the_role_whatever_a_caller_says(cls: type[Message], role: str) -> None:
    # L-004, L-005, L-006
    assert cls.role is MessageRole(role)
    forged: dict[str, Any] = {"role": "assistant" if role != "assistant" else "user"}
    assert cls.create(source=SystemSource(), **forged).role is MessageRole(role)


@each_message
def test_the_role_is_written_and_a_forged_one_is_not_read(message: Message) -> None:
    # L-008, L-009
    written = message.to_dict()
    assert (written["role"], type(written["role"])) == (message.role.value, str)
    forged = message_from_dict(written | {"role": "assistant", "type": "thought"})
    assert (type(forged), forged.role) == (type(message), message.role)


@each_message
def test_every_class_survives_a_dict_and_json(message: Message) -> None:
    # L-010
    for again in (message_from_dict(message.to_dict()), from_json(to_json(message))):
        assert type(again) is type(message)
        assert (again.id, again.created_at, again.content) == (message.id, message.created_at, message.content)
        assert again.to_dict() == message.to_dict()


@dataclass
class Branch:
    id: Any


OTHER = make.notice("x")
PARTIES: tuple[tuple[str, Any, Any], ...] = (
    ("L-011", MessageRole.USER, MessageRole.USER),
    ("L-012", BRANCH, BRANCH),
    ("L-013 a branch", Branch(BRANCH), BRANCH),
    ("L-013 a message", OTHER, UUID(OTHER.id)),
    ("L-014", "assistant", MessageRole.ASSISTANT),
    ("L-015", str(BRANCH), BRANCH),
    ("L-016", "alice", "alice"),
    ("L-018", None, None),
)


@pytest.mark.parametrize(("given_", "kept"), [row[1:] for row in PARTIES], ids=[row[0] for row in PARTIES])
def test_a_party_is_normalised(given_: Any, kept: Any) -> None:
    message = mail(sender=given_, recipient=given_)
    assert (message.sender, message.recipient) == (kept, kept)
    assert type(message.sender.plain()) is type(kept)


@pytest.mark.parametrize("value", [42, "", b"x", object(), Branch("no uuid")], ids=lambda each: type(each).__name__)
def test_what_cannot_be_addressed_is_refused(value: Any) -> None:
    # L-017, L-022
    for side in ("sender", "recipient"):
        with pytest.raises(ValueError, match=r"^Invalid sender or recipient$"):
            mail(**{side: value})


# made from, JSON, is_broadcast, is_direct
RECIPIENTS: dict[str, tuple[dict[str, Any], str | None, bool, bool]] = {  # L-019, L-020, L-023, L-024, L-025
    "broadcast": ({"recipient": None}, None, True, False),
    "direct": ({"recipient": BRANCH}, str(BRANCH), False, True),
    "direct to nobody": ({"recipient": NOBODY}, str(NOBODY), False, True),
    "role": ({"recipient": "assistant"}, "assistant", False, False),
    "named": ({"recipient": "bob"}, "bob", False, False),
    "unaddressed": ({}, "unset", False, False),
}


@pytest.mark.parametrize("name", RECIPIENTS)
def test_the_states_of_a_recipient_are_told_apart(name: str) -> None:
    fields, written, is_broadcast, is_direct = RECIPIENTS[name]
    message = mail(**fields)
    assert (message.is_broadcast, message.is_direct) == (is_broadcast, is_direct)
    assert message.to_dict()["recipient"] == written
    assert message.recipient == fields.get("recipient", MessageRole.UNSET)


ANYBODY = st.one_of(
    st.none(),
    st.uuids(),
    st.sampled_from(MessageRole),
    st.text(min_size=1, max_size=40),
    st.just(...),
)


@given(ANYBODY, ANYBODY)
def test_a_recipient_survives_json_and_rewriting(recipient: Any, other: Any) -> None:
    # L-021 and all five states, with decision R-2
    def sent(to: Any) -> Message:
        return mail() if to is ... else mail(recipient=to)

    def state(message: Message) -> tuple[Any, ...]:
        return type(message.recipient), message.recipient, message.is_broadcast, message.is_direct

    message = sent(recipient)
    assert state(from_json(to_json(message))) == state(message)
    assert state(message.update(sender="carol")) == state(message)
    assert state(message.with_recipient(sent(other).recipient)) == state(sent(other))
    assert (message.recipient == sent(other).recipient) is (state(message) == state(sent(other)))


def test_a_channel_is_an_optional_label_that_is_carried() -> None:
    # L-026
    assert mail().channel is None
    message = mail(channel="x", recipient=BRANCH)
    assert from_json(to_json(message)).channel == "x"
    assert message.recipient == BRANCH
    assert message.is_direct


def test_a_base_message_keeps_any_content() -> None:
    # L-027
    thing = object()
    assert mail(content=thing).content is thing
    assert mail(content=5).content == 5
    assert mail(content={"a": {"b": [1]}}).content == {"a": {"b": (1,)}}


@pytest.mark.parametrize("cls", [each for each in KINDS.values() if each.content_class], ids=lambda each: each.kind)
def test_a_typed_message_takes_its_content_a_dict_or_nothing(cls: Any) -> None:
    # L-028, L-029, L-030, L-031
    empty = cls.content_class()
    for accepted in (empty, empty.to_dict(), None):
        assert cls.create(source=SystemSource(), content=accepted).content == empty
    for refused in ("str", 5, ["a"]):
        with pytest.raises(TypeError, match=cls.content_class.__name__):
            cls.create(source=SystemSource(), content=refused)


def test_the_content_of_another_class_is_refused() -> None:
    # L-031
    with pytest.raises(TypeError, match="PromptContent"):
        UserPrompt.create(source=UserSource(), content=make.answer("x", **MODEL).content)


class Shown:
    def __init__(self, rendered: Any) -> None:
        self.rendered = rendered


class Broken:
    @property
    def rendered(self) -> str:
        raise ValueError("no")


@pytest.mark.parametrize(
    ("content", "rendered"),
    [(Shown("r"), "r"), (Shown([1]), [1]), (42, "42"), (None, "")],
    ids=["L-032"] * 2 + ["L-033", "L-034"],
)
def test_a_message_renders_its_content(content: Any, rendered: Any) -> None:
    assert mail(content=content).rendered == rendered


def test_a_message_becomes_a_chat_message() -> None:
    # L-035
    assert make.answer("hi", **MODEL).chat_msg == {"role": "assistant", "content": "hi"}


def test_what_cannot_be_rendered_is_no_chat_message() -> None:
    # L-036
    assert mail(content=Broken()).chat_msg is None


def test_a_falsy_party_is_no_update() -> None:
    # L-037, L-038
    message = mail(sender=BRANCH, recipient="bob")
    same = message.update(sender=None, recipient=None)
    assert same.sender == BRANCH
    assert same.recipient == "bob"
    assert message.update(sender="carol").sender == "carol"


def test_an_update_rebuilds_the_content_and_leaves_the_earlier_one_alone() -> None:
    # L-039, D-026
    first = UserPrompt.create(source=UserSource(), content={"instruction": "a", "guidance": "g"})
    second = first.update(instruction="b")
    assert (second.content.instruction, second.content.guidance) == ("b", "g")
    assert (first.content.instruction, first.content.guidance) == ("a", "g")
    assert (second.id, second.created_at, second.version) == (first.id, first.created_at, first.version + 1)
    assert first != second


def test_an_update_sets_a_field_to_none_and_knows_its_fields() -> None:
    prompt = UserPrompt.create(source=UserSource(), content={"instruction": "a", "guidance": "g"})
    assert prompt.update(guidance=None).content.guidance is None
    with pytest.raises(TypeError, match="no field colour"):
        prompt.update(colour="red")
    assert mail(content={"a": 1}).update(b=2).content == {"a": 1, "b": 2}
    assert mail(content=1).update(content=2).content == 2
    with pytest.raises(TypeError, match="pass content="):
        mail(content=1).update(b=2)


def test_no_update_makes_a_broadcast_and_with_recipient_does() -> None:
    # L-040, with decision R-1
    message = mail(recipient=BRANCH)
    assert not message.update(recipient=None).is_broadcast
    assert message.with_recipient(None).is_broadcast
    assert message.with_sender(None).sender == None  # noqa: E711 - a party equals what it was made from


@each_message
def test_a_clone_says_the_same_as_another_message(message: Message) -> None:
    # L-041, D-031
    clone = message.clone()
    assert type(clone) is type(message)
    assert same_content(clone, message)
    assert clone.role is message.role
    assert clone.id != message.id
    assert clone.created_at >= message.created_at
    assert clone.version == 1
    assert clone.metadata["clone_from"] == message.id


def test_a_clone_of_a_clone_names_the_clone() -> None:
    # L-042
    first = mail(content=1).clone()
    assert first.clone().metadata["clone_from"] == first.id


@each_message
def test_a_message_without_a_role_is_no_turn_of_a_model(message: Message) -> None:
    # L-043
    assert message.is_turn is (type(message) is not Message)


@pytest.mark.parametrize("name", ["RoledMessage", "Sendable"])
def test_no_label_that_promises_nothing_is_offered(name: str) -> None:
    # L-181
    assert not hasattr(kesoku, name)
    assert not hasattr(kesoku.messages, name)


FACE: list[str] = getattr(kesoku, "__all__")  # noqa: B009 - type checkers read the stub, which has none


def test_no_other_name_for_a_message_is_offered() -> None:
    # L-180, L-182: fields check themselves, and annotations need the one name only
    assert [name for name in FACE if getattr(kesoku, name) is Message] == ["Message"]
    with pytest.raises(InvalidParty):
        Message.create(source=MAIL, sender=42)


def test_the_public_face_offers_every_class_and_error() -> None:
    offered = {name: getattr(kesoku, name) for name in FACE}
    assert set(KINDS.values()) <= {each for each in offered.values() if isinstance(each, type)}
    assert {"KesokuError", "InvalidParty", "MessageRole", "errors", "create_message"} <= offered.keys()
    assert set(FACE) <= set(dir(kesoku))
    with pytest.raises(AttributeError, match="has no attribute 'Sendable'"):
        getattr(kesoku, "Sendable")  # noqa: B009


def test_json_of_a_message_is_one_line_that_any_reader_takes() -> None:
    text = to_json(make.user_prompt("a\nb \ud800 海", author="Chii"))
    assert "\n" not in text
    assert json.loads(text.encode("ascii"))["content"] == {"text": "a\nb \ud800 海"}
