"""A history: which messages are members, and the order they stand in. Rows stand beside the tests that prove them."""

import json
from typing import Any

import pytest

from kesoku.errors import ClassChanged, NotAMessage, OrderIncomplete, SelectionInvalid
from kesoku.history.history import History
from kesoku.messages.kinds import Answer
from tests.spec.sayings import answer, call, prompt, system, texts, whisper

# Making one


def test_a_list_is_read_and_what_is_no_message_in_it_is_left_out() -> None:  # L-106
    kept, stored = prompt(), answer()
    history = History([stored.to_dict(), kept, 5, "x"])
    assert list(history) == [stored, kept]
    assert history[kept.id] is kept
    assert history[stored.id].to_dict() == stored.to_dict()


def test_a_serialised_history_comes_back_with_the_same_messages_in_the_same_order() -> None:  # L-107
    history = History([prompt("a"), answer("b")], system=system())
    history.respond(history.add(message=call()).id, 7)
    history.name_progression("short", [history.instructions[0].id])
    history.select("short")
    written = json.loads(json.dumps(history.to_dict()))
    for back in (History(written), History.from_dict(written)):
        assert list(back) == list(history)
        assert [each.to_dict() for each in back] == [each.to_dict() for each in history]
        assert back.progressions == history.progressions
        assert back.progression == history.progression
        assert back.system == history.system


@pytest.mark.parametrize("given", ["nope", prompt(), 5], ids=["text", "a prompt", "a number"])
def test_only_a_system_prompt_is_taken_for_one(given: Any) -> None:  # L-108
    with pytest.raises(ValueError, match="SystemPrompt"):
        History(system=given)
    with pytest.raises(ValueError, match="SystemPrompt"):
        History().set_system(given)


def test_the_system_prompt_stands_first_wherever_it_was_given() -> None:  # L-109
    first, a, b = system(), prompt(), answer()
    assert list(History([a, b], system=first)) == [first, a, b]
    assert list(History([a, first, b])) == [first, a, b]
    assert list(History([a, b, first], progression=[b.id, first.id, a.id])) == [first, b, a]


def test_messages_may_be_given_in_another_order() -> None:
    a, b = prompt(), answer()
    assert list(History([a, b], progression=[b.id, a.id])) == [b, a]
    with pytest.raises(SelectionInvalid, match="gone"):
        History([a, b], progression=[a.id, b.id, "gone"])
    with pytest.raises(OrderIncomplete, match=b.id):
        History([a, b], progression=[a.id])


# Membership


def test_a_message_of_a_subclass_is_accepted() -> None:  # L-110
    history, mine = History(), whisper()
    history.include(mine)
    assert list(history) == [mine]


@pytest.mark.parametrize("given", [{"kind": "answer"}, "hello", None, object()])
def test_what_is_no_message_is_refused(given: Any) -> None:  # L-111
    history = History()
    with pytest.raises(NotAMessage):
        history.include(given)
    assert len(history) == 0


def test_the_first_system_prompt_goes_to_the_beginning() -> None:  # L-112
    a, first = prompt(), system()
    history = History([a])
    history.set_system(first)
    assert list(history) == [first, a]


def test_a_second_system_prompt_takes_the_place_of_the_first_which_leaves() -> None:  # L-113
    one, a, two = system("one"), prompt(), system("two")
    history = History([a], system=one)
    history.set_system(two)
    assert list(history) == [two, a]
    assert one not in history
    assert one.id not in history
    assert history.system is two
    assert texts(history) == ["two", "hello"]


def test_the_current_system_prompt_may_be_said_differently() -> None:  # L-114
    first, a = system(), prompt()
    history = History([a], system=first)
    history.add(system=first.update(text="other words"))
    assert [each.id for each in history] == [first.id, a.id]
    assert history.system is history[first.id]
    assert texts(history) == ["other words", "hello"]


def test_clearing_leaves_the_system_prompt() -> None:  # L-115
    first = system()
    history = History([prompt(), answer()], system=first)
    history.select([first.id])
    history.clear()
    assert list(history) == [first]
    assert history.instructions == ()
    assert history.last_response is None
    assert list(history.progression) == [first.id]


def test_clearing_without_system_prompt_leaves_nothing() -> None:  # L-116
    history = History([prompt(), answer()])
    history.clear()
    assert list(history) == []
    history.add(message=(later := prompt("later")))
    assert list(history) == [later]


def test_a_member_never_becomes_a_message_of_another_class() -> None:
    a = prompt()
    history = History([a])
    forged = Answer.restore(id=a.id, source=a.source, content={"text": "forged"})
    with pytest.raises(ClassChanged):
        history.include(forged)
    assert list(history) == [a]
    assert history.assistant_responses == ()
