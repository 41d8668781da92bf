"""Identity, freezing, parties and rewriting of messages."""

import copy
import pickle
from dataclasses import FrozenInstanceError
from typing import Any
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kesoku.errors import AlreadyAnswered, IdentityGiven, IdentityMissing, InvalidParty, UnknownKind
from kesoku.messages import make
from kesoku.messages.content import PromptContent
from kesoku.messages.enums import MessageRole
from kesoku.messages.freeze import FrozenDict, freeze, thaw
from kesoku.messages.kinds import UserPrompt, message_from_dict
from kesoku.messages.message import Message, same_content
from kesoku.messages.source import RelaySource, SystemSource, UserSource
from kesoku.messages.visibility import Presentation, Visibility

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)


def prompt(text: str = "hi") -> UserPrompt:
    return make.user_prompt(text, author="Chii")


def test_creation_mints_and_refuses_an_id() -> None:  # D-001 D-002 D-003 D-004
    one, other = prompt(), prompt()
    assert one.id != other.id
    assert same_content(one, other)
    assert one != other
    with pytest.raises(IdentityGiven, match="use restore"):
        UserPrompt.create(source=UserSource(), content=PromptContent(text="x"), id="mine")


def test_import_keeps_the_id_and_needs_one() -> None:  # D-020 D-021
    assert UserPrompt.restore(id="msg_user_001", source=UserSource(), content={"text": "x"}).id == "msg_user_001"
    with pytest.raises(IdentityMissing, match="use create"):
        UserPrompt.restore(id="", source=UserSource())


def test_nothing_of_a_message_can_be_changed() -> None:  # D-014 D-015 D-016
    given_metadata: dict[str, Any] = {"a": {"b": [1]}}
    message = UserPrompt.create(source=UserSource(), content={"text": "x"}, metadata=given_metadata)
    given_metadata["a"]["b"].append(2)
    assert thaw(message.metadata) == {"a": {"b": [1]}}
    with pytest.raises(FrozenInstanceError):
        message.id = "other"  # type: ignore[misc]
    with pytest.raises(FrozenInstanceError):
        message.content.text = "other"
    for change in (
        lambda: message.metadata.__setitem__("k", 1),
        lambda: message.metadata["a"].update(k=1),
        lambda: message.metadata.__ior__({"k": 1}),
        lambda: message.metadata["a"].pop("b"),
    ):
        with pytest.raises(TypeError):
            change()  # type: ignore[no-untyped-call]


def test_a_frozen_dict_is_frozen_to_the_bottom_however_it_is_made() -> None:  # D-014
    inner = {"b": [1]}
    for frozen in (FrozenDict(a=inner), FrozenDict({"a": inner}), FrozenDict([("a", inner)]), freeze({"a": inner})):
        inner["b"].append(2)
        assert frozen == {"a": {"b": (1,)}}
        inner["b"] = [1]


def test_frozen_dicts_survive_copy_and_pickle() -> None:
    frozen = FrozenDict(a=1)
    assert copy.deepcopy(frozen) == pickle.loads(pickle.dumps(frozen)) == frozen


@given(JSON)
def test_freeze_and_thaw_are_inverse_for_json(value: Any) -> None:
    assert thaw(freeze(value)) == value


def test_role_keys_are_dropped_on_import() -> None:
    forged = prompt().to_dict() | {"role": "assistant", "type": "thought"}
    assert message_from_dict(forged).role is MessageRole.USER


def test_an_unknown_kind_or_source_is_refused() -> None:
    with pytest.raises(UnknownKind, match="message kind 'x'"):
        message_from_dict(prompt().to_dict() | {"kind": "x"})
    with pytest.raises(UnknownKind, match="source kind 'x'"):
        message_from_dict(prompt().to_dict() | {"source": {"kind": "x"}})


@pytest.mark.parametrize(
    "message",
    [
        prompt(),
        make.cron_prompt("x", job="daily", marks={"wechat_cronjob": True}),
        make.compaction_prompt(user_id="7"),
        make.system_prompt("x"),
        make.wakeup("j", "x"),
        make.nudge(),
        make.hook_note("x", hook="h"),
        make.thought("x", provider="p", model="m", replay_state={"s": "AA=="}, interim=True),
        make.answer("x", provider="p", model="m"),
        make.error_answer("x", error="ValueError"),
        make.notice("x", reason="reply"),
        *make.respond(make.tool_call("t", {"a": [1, None]}, provider="p", model="m"), {"out": [1]}, summary="s"),
        make.summary("x", covered=["a", "b"]),
        Message.create(source=RelaySource(mail_id="m"), content={"free": ["form"]}, sender=UUID(int=9), recipient=None),
    ],
    ids=lambda message: f"{message.kind}/{message.source.kind}",
)
def test_every_kind_survives_its_dict_form(message: Message) -> None:
    again = message_from_dict(message.to_dict())
    assert type(again) is type(message)
    assert again == message
    assert again.content == message.content
    assert again.source == message.source
    assert again.to_dict() == message.to_dict()


@pytest.mark.parametrize(
    "value", [None, MessageRole.USER, MessageRole.UNSET, UUID(int=7), "assistant", "alice", str(UUID(int=8))]
)
def test_parties_equal_what_they_were_made_from_and_survive_json(value: Any) -> None:
    message = Message.create(source=RelaySource(), recipient=value)
    assert str(message.recipient.plain()) == str(value)
    assert message_from_dict(message.to_dict()).recipient == message.recipient
    assert message.is_broadcast is (value is None)


@pytest.mark.parametrize("value", ["", 42, object(), b"x"])
def test_what_cannot_be_addressed_is_refused(value: Any) -> None:
    with pytest.raises(InvalidParty, match="Invalid sender or recipient"):
        Message.create(source=RelaySource(), sender=value)


def test_update_returns_the_next_version_and_leaves_the_first_alone() -> None:  # D-026
    first = prompt("a")
    second = first.update(text="b")
    assert (second.id, second.version, second.rendered) == (first.id, 2, "b")
    assert first.rendered == "a"
    assert first != second


def test_a_clone_is_a_new_message_that_names_its_origin() -> None:
    first = prompt("a")
    clone = first.clone()
    assert clone.id != first.id
    assert clone.metadata["clone_from"] == first.id
    assert same_content(first, clone)


def test_call_and_result_are_linked_both_ways_once() -> None:
    call = make.tool_call("t", {}, provider="p", model="m")
    assert not call.is_responded()
    answered, result = make.respond(call, None)
    assert answered.id == call.id
    assert answered.content.response_id == result.id
    assert result.content.request_id == call.id
    with pytest.raises(AlreadyAnswered, match="replace=True"):
        make.respond(answered, "again")
    again, second = make.respond(answered, "again", replace=True)
    assert again.content.response_id == second.id


@pytest.mark.parametrize("output", [0, "", [], {}, None, "x" * 300])
def test_the_summary_of_a_result_is_its_first_200_characters(output: Any) -> None:
    _, result = make.respond(make.tool_call("t", {}, provider="p", model="m"), output)
    assert result.content.summary == result.rendered[:200]


def test_visibility_follows_the_column_and_two_rules() -> None:
    hidden = Presentation.HIDDEN
    column = Visibility(
        user_text=Presentation.SHOWN,
        assistant_text=Presentation.SHOWN,
        thought=hidden,
        tool_call=hidden,
        tool_result=hidden,
        notice=hidden,
    )
    assert column.of(make.notice("x")) is hidden
    assert column.of(make.notice("x", reason="reply")) is Presentation.SHOWN  # K-103
    assert column.of(make.nudge()) is hidden  # K-100
    assert column.of(make.wakeup("j", "x")) is hidden  # K-097
    assert column.of(make.error_answer("x")) is Presentation.SHOWN  # K-106
    assert column.of(make.system_prompt("x")) is hidden


def test_source_is_required_and_typed() -> None:  # D-005
    with pytest.raises(TypeError):
        UserPrompt.create(content={"text": "x"})  # type: ignore[call-arg]
    assert make.system_prompt("x").source == SystemSource()
