"""What `add` makes of words, and how members change. Rows stand beside the tests that prove them."""

from collections.abc import Callable
from typing import Any

import pytest

from kesoku.errors import HistoryError, NotACall, NotAMember, NotAMessage
from kesoku.history.history import History
from kesoku.messages import make
from kesoku.messages.content import Attachment
from kesoku.messages.enums import MessageStatus
from kesoku.messages.kinds import Answer, SystemPrompt, ToolCall, ToolResult, UserPrompt
from kesoku.messages.message import Message
from kesoku.messages.source import SystemSource, UserSource
from kesoku.testing.talk import Talk
from tests.spec.sayings import answer, call, prompt, system, texts

SEVERAL = "Only one message type can be added at a time."


# Adding


def test_adding_appends_exactly_one_message() -> None:  # L-117
    a, b = prompt(), answer()
    history = History([a])
    assert history.add(message=b) is b
    assert list(history) == [a, b]


def test_a_member_that_is_added_again_keeps_its_place() -> None:  # L-118
    a, b, c = UserPrompt.create(source=UserSource(), content={"instruction": "swim"}), answer(), prompt()
    history = History([a, b, c])
    added = history.add(instruction=a, guidance="slowly")
    assert [each.id for each in history] == [a.id, b.id, c.id]
    assert history[a.id] is added
    assert added.content.guidance == "slowly"
    assert added.content.instruction == "swim"
    assert added.version == a.version + 1


CONFLICTS: dict[str, dict[str, Any]] = {
    "L-119": {"instruction": "ask", "assistant_response": "answer"},
    "L-120": {"instruction": "ask", "system": "be brief"},
    "L-121": {"assistant_response": "answer", "system": "be brief"},
    "L-122": {"instruction": "ask", "action_request": call()},
    "an output beside words": {"instruction": "ask", "action_output": 7},
    "empty words beside words": {"instruction": "ask", "assistant_response": ""},
    "a ready message beside words": {"instruction": "ask", "message": answer()},
}


@pytest.mark.parametrize("said", CONFLICTS.values(), ids=CONFLICTS)
def test_two_messages_at_a_time_are_refused(said: dict[str, Any]) -> None:  # L-119 L-120 L-121 L-122
    history = History()
    with pytest.raises(ValueError) as caught:
        history.add(**said)
    assert str(caught.value) == SEVERAL
    assert len(history) == 0


def test_an_output_beside_a_call_is_a_response() -> None:  # L-123
    asked = call()
    history = History([asked])
    added = history.add(action_request=asked, action_output="7 boats")
    assert isinstance(added, ToolResult)
    assert list(history) == [history[asked.id], added]
    assert added.content.request_id == asked.id
    assert history.action_requests[0].is_responded()


@pytest.mark.parametrize("output", [0, "", [], {}], ids=repr)
def test_a_falsy_output_is_an_output(output: Any) -> None:  # L-124
    asked = call()
    history = History([asked])
    added = history.add(action_request=asked, action_output=output)
    assert isinstance(added, ToolResult)
    assert added.to_dict()["content"].get("output") == output
    assert not added.content.error


@pytest.mark.parametrize(
    ("said", "rendered"),
    [({"context": "it rains"}, "it rains"), ({}, ""), ({"assistant_response": None}, "")],
    ids=["only context", "nothing", "None is as if nothing was said"],
)
def test_without_a_kind_it_is_an_instruction(said: dict[str, Any], rendered: str) -> None:  # L-125
    history = History()
    added = history.add(**said)
    assert type(added) is UserPrompt
    assert rendered in added.rendered


READY: dict[str, Callable[[], Message]] = {
    "message": call,
    "instruction": prompt,
    "assistant_response": answer,
    "system": system,
    "action_request": call,
    "action_response": lambda: make.respond(call(), 7)[1],
}


@pytest.mark.parametrize("keyword", READY)
def test_a_ready_message_is_added_as_it_is(keyword: Any) -> None:
    given = READY[keyword]()
    said: Any = {keyword: given}
    assert History().add(**said) is given


def test_words_become_messages_of_their_kind() -> None:
    history = History()
    history.add(system="be brief", system_datetime="noon")
    history.add(instruction="swim", guidance="slowly", author="Ada", channel="sea")
    history.add(assistant_response="", recipient="alice")
    history.add(action_request="look", action_arguments={"at": "sea"}, metadata={"mood": "calm"})
    begin, asked, said, called = history
    assert [type(each) for each in history] == [SystemPrompt, UserPrompt, Answer, ToolCall]
    assert begin.rendered == "System Time: noon\n\nbe brief"
    assert (begin.author, begin.source) == ("System", SystemSource())
    assert (asked.author, asked.channel, asked.content.guidance) == ("Ada", "sea", "slowly")
    assert said.recipient == "alice"
    assert (said.rendered, said.author) == ("", "Kesoku")
    assert (called.content.tool, called.content.arguments, called.metadata) == ("look", {"at": "sea"}, {"mood": "calm"})


def test_what_a_provider_returned_becomes_an_answer_that_says_its_text() -> None:
    response = {"choices": [{"message": {"content": "at pier 3"}}]}
    added = History().add(assistant_response=response, sender="alice")
    assert (type(added), added.rendered) == (Answer, "at pier 3")
    assert added.to_dict()["metadata"] == {"model_response": response}
    assert added.sender == "alice"


def test_a_system_prompt_is_made_of_words_only() -> None:
    for given in (5, prompt()):
        with pytest.raises(ValueError, match="SystemPrompt"):
            History().add(system=given)


def test_a_prompt_brings_its_files() -> None:
    files = [Attachment(name="a.png", path="/staging/a.png", mime_type="image/png")]
    added = History().add(instruction="look", attachments=iter(files))
    assert added.content.attachments == tuple(files)


def test_a_function_and_its_arguments_as_text_become_a_call() -> None:
    def look(at: str) -> str:
        return at

    added = History().add(action_request=look, action_arguments='{"at": "sea"}')
    assert (added.content.tool, added.content.arguments) == ("look", {"at": "sea"})


def test_a_message_that_was_stored_is_added_with_its_record() -> None:
    waits = Talk().prompt("ask", status=MessageStatus.PENDING_AGENT)
    history = History()
    assert history.add(message=waits) is waits.message
    assert list(history) == [waits.message]
    assert history.compile(active_turn="another").turns == ()  # which its record tells: it waits for its turn


MISPLACED: dict[str, dict[str, Any]] = {
    "guidance of an answer": {"assistant_response": "hi", "guidance": "slowly"},
    "the author of a ready prompt": {"instruction": prompt(), "author": "Bo"},
    "the sender of a ready message": {"message": answer(), "sender": "alice"},
    "arguments of a prompt": {"instruction": "ask", "action_arguments": {}},
    "an answer as a prompt": {"instruction": answer()},
    "a call as a result": {"action_response": call()},
    "a call as a result with an output": {"action_response": call(), "action_output": 7},
    "arguments of a result": {"action_response": make.respond(call(), 7)[1], "action_arguments": {}},
    "words as a ready message": {"message": "hello"},
    "an unknown word": {"instruction": "ask", "colour": "red"},
}


@pytest.mark.parametrize("said", MISPLACED.values(), ids=MISPLACED)
def test_what_does_not_belong_together_is_a_type_error(said: dict[str, Any]) -> None:
    history = History()
    with pytest.raises(TypeError) as caught:
        history.add(**said)
    assert isinstance(caught.value, HistoryError)
    assert len(history) == 0


# Changing


def test_an_update_is_the_next_version_at_the_same_place() -> None:
    a, b = prompt(), answer()
    history = History([a, b])
    updated = history.update(a.id, text="other words", sender=None)
    assert list(history) == [updated, b]
    assert (updated.id, updated.version, updated.sender) == (a.id, a.version + 1, a.sender)
    assert history.instructions == (updated,)
    assert a.rendered == "hello"


PARTIES: dict[str, tuple[dict[str, Any], str, str]] = {
    "nothing": ({"sender": None, "recipient": None}, "alice", "bob"),  # L-037
    "another sender": ({"sender": "carol"}, "carol", "bob"),  # L-038
    "no recipient": ({"recipient": None}, "alice", "bob"),  # L-040
}


@pytest.mark.parametrize(("said", "sender", "recipient"), PARTIES.values(), ids=PARTIES)
def test_an_update_of_a_member_cannot_take_its_parties_away(said: dict[str, Any], sender: str, recipient: str) -> None:
    history = History()
    added = history.add(instruction="swim", guidance="slowly", sender="alice", recipient="bob")
    updated = history.update(added.id, **said)
    assert updated.sender.plain() == sender
    assert updated.recipient.plain() == recipient
    assert history[added.id] is updated


def test_an_update_of_a_member_keeps_the_fields_that_it_does_not_name() -> None:  # L-039
    history = History()
    added = history.add(instruction="swim", guidance="slowly")
    before = added.content
    updated = history.update(added.id, instruction="walk")
    assert (updated.content.instruction, updated.content.guidance) == ("walk", "slowly")
    assert (before.instruction, updated.id, len(history)) == ("swim", added.id, 1)


def test_a_clone_of_a_member_is_another_member() -> None:  # L-041 L-042
    history = History([a := prompt()])
    b = history.add(message=a.clone())
    c = history.add(message=b.clone())
    assert list(history) == [a, b, c]
    assert (b.metadata["clone_from"], c.metadata["clone_from"]) == (a.id, b.id)
    assert len({each.id for each in history}) == 3


def test_nothing_is_updated_or_replaced_that_is_not_there() -> None:
    history = History()
    with pytest.raises(NotAMember):
        history.update("gone", text="x")
    with pytest.raises(NotAMember):
        history.replace(prompt())
    with pytest.raises(KeyError, match="gone"):
        history["gone"]
    with pytest.raises(NotAMessage):
        history.replace("words")  # type: ignore[arg-type]


def test_a_rewrite_shows_and_leaves_the_value_that_others_hold_alone() -> None:  # D-018 D-026
    a = prompt("same")
    b = a.clone()
    assert a.content is b.content
    history = History([a, b])
    rewritten = history.replace(a.update(text="other words"))
    assert rewritten.id == a.id
    assert rewritten != a
    assert texts(history) == ["other words", "same"]
    assert (a.rendered, b.rendered) == ("same", "same")


def test_a_response_is_linked_both_ways() -> None:
    asked = call()
    history = History([asked])
    linked, result = history.respond(asked.id, 7)
    assert list(history) == [linked, result]
    assert (linked.id, linked.content.response_id) == (asked.id, result.id)
    assert (result.content.request_id, result.content.output) == (asked.id, 7)


def test_a_second_response_must_be_asked_for() -> None:
    asked = call()
    history = History([asked])
    _, first = history.respond(asked.id, 7)
    with pytest.raises(ValueError, match=first.id):
        history.respond(asked.id, 8)
    with pytest.raises(ValueError, match=first.id):
        history.add(action_request=asked, action_output=8)
    second = history.add(action_request=asked, action_error="no boats", replace=True)
    assert history.action_responses == (first, second)
    assert history.action_requests[0].content.response_id == second.id


def test_only_a_call_that_is_a_member_is_answered() -> None:
    asked, stranger = prompt(), call()
    history = History([asked])
    with pytest.raises(NotACall):
        history.respond(asked.id, 7)
    with pytest.raises(NotACall):
        history.add(action_output=7)
    with pytest.raises(NotAMember):
        history.add(action_request=stranger, action_output=7)
    assert list(history) == [asked]


def test_a_ready_result_with_a_new_output_links_nothing() -> None:  # L-103
    asked = call()
    _, result = make.respond(asked, 7)
    history = History([asked, result])
    again = history.add(action_request=asked, action_response=result, action_output=9)
    assert list(history) == [asked, again]
    assert (again.id, again.version) == (result.id, result.version + 1)
    assert (again.content.output, again.content.summary) == (9, "9")
    assert not history.action_requests[0].is_responded()
