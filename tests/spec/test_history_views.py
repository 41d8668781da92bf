"""What is seen of a history: by class, as chat messages, in chosen orders. Rows stand beside what proves them."""

from collections.abc import Callable

import pytest

from kesoku.errors import FieldMistyped, ProgressionReserved, ProgressionUnknown, ProjectionRefused, SelectionInvalid
from kesoku.history.history import History
from kesoku.history.progression import Progression
from kesoku.messages.message import Message
from kesoku.messages.source import UserSource
from tests.spec.sayings import answer, call, prompt, system, texts, whisper

INVALID = "One or more messages in the requested progression are invalid."


class Unreadable:
    """Content that cannot be rendered."""

    @property
    def rendered(self) -> str:
        raise OSError("the disk is gone")


# Views


def test_views_hold_exactly_their_class_in_order() -> None:  # L-126
    a, b, c, mine = prompt("a"), answer("b"), prompt("c"), whisper()
    history = History([a, b, mine, c], system=system())
    one, other = call("one"), call("other")
    history.include(one)
    history.include(other)
    _, second = history.respond(other.id, 2)
    _, first = history.respond(one.id, 1)
    assert history.instructions == (a, c)
    assert history.assistant_responses == (b,)
    assert [each.id for each in history.action_requests] == [one.id, other.id]
    assert history.action_responses == (second, first)
    assert [each.id for each in history.actions] == [one.id, other.id, second.id, first.id]
    assert mine in history


def test_the_last_instruction_and_the_last_response_are_the_later_ones() -> None:  # L-127 L-128
    assert History([call()]).last_instruction is None
    assert History([call()]).last_response is None
    history = History()
    a, b, c, d = prompt("a"), answer("b"), prompt("c"), answer("d")
    for each in (a, b, c, d):
        history.include(each)
    assert history.last_instruction is c
    assert history.last_response is d
    assert history.update(c.id, text="x") is history.last_instruction


# Raw projection


def mixed() -> History:
    history = History([prompt("ask")], system=system())
    asked = history.add(message=call())
    history.respond(asked.id, "7 boats")
    history.add(assistant_response="")
    return history


def test_an_empty_list_is_an_empty_order() -> None:  # L-129
    assert mixed().to_chat_msgs(progression=[]) == []
    assert mixed().to_chat_msgs(Progression()) == []


def test_no_order_is_that_of_all_messages() -> None:  # L-130
    history = mixed()
    history.select([])
    everything = [each["content"] for each in history.to_chat_msgs()]
    assert everything == texts(history)
    assert history.to_chat_msgs(None) == history.to_chat_msgs(()) == history.to_chat_msgs()


def test_an_order_is_projected_as_it_is() -> None:  # L-131
    a, b = prompt("a"), answer("b")
    history = History([a, b])
    assert history.to_chat_msgs([b.id, a.id]) == [
        {"role": "assistant", "content": "b"},
        {"role": "user", "content": "a"},
    ]


def test_an_unknown_id_is_refused() -> None:  # L-132
    a = prompt()
    with pytest.raises(ValueError) as caught:
        History([a]).to_chat_msgs([a.id, "gone"])
    assert str(caught.value) == INVALID
    assert isinstance(caught.value, ProjectionRefused)
    assert caught.value.unknown == ("gone",)


def test_nothing_is_folded_stripped_or_dropped() -> None:  # L-133
    assert mixed().to_chat_msgs() == [
        {"role": "system", "content": "be brief"},
        {"role": "user", "content": "ask"},
        {"role": "tool", "content": 'Calling tool `look` with arguments:\n```json\n{\n  "at": "sea"\n}\n```'},
        {"role": "tool", "content": "7 boats"},
        {"role": "assistant", "content": ""},
    ]


def test_the_roles_of_tools_have_another_name_in_another_dialect() -> None:
    roles = [each["role"] for each in mixed().to_chat_msgs(dialect="lion")]
    assert roles == ["system", "user", "action", "action", "assistant"]


def test_a_message_that_cannot_be_projected_is_refused() -> None:  # L-134
    broken = Message.create(source=UserSource(), content=Unreadable())
    history = History([prompt(), broken])
    for order in (None, [broken.id]):
        with pytest.raises(ValueError) as caught:
            history.to_chat_msgs(order)
        assert str(caught.value) == INVALID
        assert isinstance(caught.value, ProjectionRefused)
        assert caught.value.unreadable == (broken.id,)


# Chosen orders


def test_without_a_selection_everything_is_read() -> None:  # L-135
    history = mixed()
    assert list(history.progression) == [each.id for each in history]
    assert history.progressions == {"main": history.progression}


def test_a_selection_is_read_and_no_member_leaves() -> None:  # L-136
    a, b = prompt(), answer()
    history = History([a, b])
    history.select([a.id])
    assert list(history.progression) == [a.id]
    assert list(history) == [a, b]
    history.select([])
    assert list(history.progression) == []
    history.select("main")
    assert list(history.progression) == [a.id, b.id]


def test_order_and_membership_do_not_touch_each_other() -> None:  # L-137
    a, b = prompt(), answer()
    history = History([a, b])
    history.name_progression("turned", [b.id, a.id])
    history.select("turned")
    assert list(history) == [a, b]
    history.include(prompt("later"))
    history.update(a.id, text="other words")
    assert list(history.progression) == [b.id, a.id]
    assert len(history) == 3


def test_an_id_that_stands_twice_in_a_selection_is_refused() -> None:  # L-138
    a = prompt()
    history = History([a])
    readers: list[Callable[[list[str]], object]] = [
        history.to_chat_msgs,
        history.select,
        lambda ids: history.compile(selection=ids),
        lambda ids: history.name_progression("twice", ids),
    ]
    for read in readers:
        with pytest.raises(SelectionInvalid) as caught:
            read([a.id, a.id])
        assert caught.value.repeated == (a.id,)


def test_a_new_system_prompt_takes_the_place_of_the_old_one_in_every_order() -> None:
    one, a, two = system("one"), prompt(), system("two")
    history = History([a], system=one)
    history.name_progression("kept", [one.id])
    history.select([a.id, one.id])
    history.set_system(two)
    assert list(history.progression) == [a.id, two.id]
    assert list(history.progressions["kept"]) == [two.id]


def test_orders_that_do_not_exist_are_not_selected() -> None:
    history = History([prompt()])
    with pytest.raises(ProgressionUnknown, match="nope"):
        history.select("nope")
    with pytest.raises(SelectionInvalid, match="gone"):
        history.select(["gone"])
    with pytest.raises(SelectionInvalid, match="not in this session: 5"):
        history.select([5])  # type: ignore[list-item]
    with pytest.raises(FieldMistyped, match="progressions of a history takes a mapping, not list"):
        History.from_dict({"messages": [], "progressions": []})
    with pytest.raises(ProgressionReserved):
        history.name_progression("main", [])
    assert len(history.progression) == 1
