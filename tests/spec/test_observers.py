"""Whoever is told of what was added to a history: when, in which order, and what their failures do.

Ids of the rows stand beside the tests that prove them.
"""

import asyncio
from collections.abc import Callable
from functools import partial
from typing import Any
from uuid import UUID, uuid4

import pytest

from kesoku.errors import HistoryError, ObserverAsync
from kesoku.history.history import History
from kesoku.messages import make
from kesoku.messages.message import Message
from kesoku.testing.waiting import PATIENCE
from tests.spec.sayings import call, prompt


class Told:
    """An observer that writes down what it was told."""

    def __init__(self, name: str = "", *, into: list[str] | None = None) -> None:
        self.name = name
        self.names = [] if into is None else into
        self.messages: list[Message] = []

    def __call__(self, message: Message) -> None:
        self.messages.append(message)
        self.names.append(self.name)


class Awaited(Told):
    """The same, to be awaited."""

    async def __call__(self, message: Message) -> None:  # type: ignore[override]
        super().__call__(message)


class Fails(Told):
    """An observer that raises."""

    def __init__(self, failure: Exception) -> None:
        super().__init__()
        self.failure = failure

    def __call__(self, message: Message) -> None:
        super().__call__(message)
        raise self.failure


class Untouched:
    """A sender that tells whether a message is made with it."""

    @property
    def id(self) -> UUID:
        raise AssertionError("a message was made")


async def coroutine(message: Message, _: object = None) -> None:
    raise AssertionError(f"{message} must not be told")


ASYNCHRONOUS: dict[str, Callable[[Message], object]] = {
    "a coroutine function": coroutine,  # L-139
    "hidden in a partial": partial(partial(coroutine), _=1),  # L-140
    "an object with async __call__": Awaited(),  # L-141
    "a partial of such an object": partial(Awaited()),
    "a method": Awaited().__call__,
}


@pytest.mark.parametrize("observer", ASYNCHRONOUS.values(), ids=ASYNCHRONOUS)
def test_what_must_be_awaited_is_refused_before_anything_happens(
    observer: Callable[[Message], object],
) -> None:  # L-139 L-140 L-141
    told, member = Told(), call()
    history = History([member], on_added=[told, observer])
    changes: list[Callable[[], object]] = [
        lambda: history.add(instruction="hello", sender=Untouched()),
        lambda: history.add(message=prompt()),
        lambda: history.respond(member.id, 7),
    ]
    for change in changes:
        with pytest.raises(RuntimeError, match=r"await a_(add|respond)\(\) instead") as caught:
            change()
        assert isinstance(caught.value, HistoryError)
    assert list(history) == [member]
    assert told.messages == []


def test_the_refusal_names_the_observer_and_what_to_call_instead() -> None:
    history = History([prompt()], on_replaced=[coroutine])
    with pytest.raises(ObserverAsync, match=r"coroutine must be awaited, so await a_update\(\)"):
        history.update(history.instructions[0].id, text="x")
    assert history.instructions[0].rendered == "hello"


def test_a_coroutine_that_comes_out_of_a_plain_function_is_a_failure() -> None:
    history = History(on_added=[lambda message: coroutine(message)])
    with pytest.raises(ObserverAsync):
        history.add(message=prompt())
    assert len(history) == 1


def test_an_observer_sees_the_message_as_a_member() -> None:  # L-142
    seen: list[tuple[bool, Message]] = []
    history = History()
    history.on_added.append(lambda message: seen.append((message in history, history[message.id])))
    added = history.add(instruction="hello")
    assert seen == [(True, added)]
    assert seen[0][1] is added


def test_an_observer_is_given_a_value_that_it_cannot_change() -> None:  # D-017
    def meddle(message: Any) -> None:
        message.content.text = "changed"

    later = Told()
    history = History(on_added=[meddle, later])
    with pytest.raises(AttributeError):
        history.add(message=prompt())
    assert later.messages[0].rendered == history.instructions[0].rendered == "hello"


def test_the_observers_of_a_change_are_those_of_its_beginning() -> None:  # L-143
    names: list[str] = []
    late, second = Told("late", into=names), Told("second", into=names)

    def first(_: Message) -> None:
        names.append("first")
        if second in history.on_added:
            history.on_added.remove(second)
            history.on_added.append(late)

    history = History(on_added=[first, second])
    history.add(message=prompt())
    assert names == ["first", "second"]
    names.clear()
    history.add(message=prompt())
    assert names == ["first", "late"]


def test_one_failure_stops_nobody_and_is_raised_as_itself() -> None:  # L-144
    second = Told()
    history = History(on_added=[Fails(KeyError("one")), second])
    with pytest.raises(KeyError, match="one"):
        history.add(message=prompt())
    assert len(second.messages) == 1


def test_several_failures_are_raised_together_in_order() -> None:  # L-145
    failures = (KeyError("one"), OSError("two"))
    history = History(on_added=[Fails(failures[0]), Told(), Fails(failures[1])])
    with pytest.raises(BaseExceptionGroup) as caught:
        history.add(message=prompt())
    assert caught.value.message == "on_message_added hooks failed"
    assert caught.value.exceptions == failures


@pytest.mark.parametrize("failures", [1, 2])
def test_the_message_stays_whatever_fails(failures: int) -> None:  # L-146
    member, added = prompt("a"), prompt("b")
    history = History([member], on_added=[Fails(KeyError())] * failures)
    for _ in range(2):
        with pytest.raises((KeyError, BaseExceptionGroup)):
            history.add(message=added)
        assert list(history) == [member, added]
    history.on_added.clear()
    assert history.add(message=added) is added
    assert list(history) == [member, added]


async def test_observers_are_called_and_awaited_in_the_order_of_the_list() -> None:  # L-147
    names: list[str] = []
    history = History(on_added=[Awaited("a", into=names), Told("b", into=names), Awaited("c", into=names)])
    added = await history.a_add(instruction="hello")
    assert names == ["a", "b", "c"]
    assert list(history) == [added]


async def test_failures_of_the_awaited_are_raised_together_and_the_message_stays() -> None:  # L-148
    async def fails(_: Message) -> None:
        raise OSError("two")

    last = Told()
    history = History(on_added=[Fails(KeyError("one")), fails, last])
    with pytest.raises(BaseExceptionGroup) as caught:
        await history.a_add(message=(added := prompt()))
    assert caught.value.message == "on_message_added hooks failed"
    assert [type(each) for each in caught.value.exceptions] == [KeyError, OSError]
    assert list(history) == [added]
    assert last.messages == [added]
    history.on_added.pop(0)
    with pytest.raises(OSError, match="two"):
        await history.a_add(message=added)
    assert list(history) == [added]


async def test_an_observer_may_add_again_and_that_has_observers_of_its_own() -> None:  # L-149
    names: list[str] = []

    async def again(message: Message) -> None:
        names.append(f"again {message.rendered}")
        if message.rendered == "outer":
            history.on_added.append(Told("late", into=names))
            await history.a_add(message=prompt("inner"))

    history = History(on_added=[again, Told("last", into=names)])
    async with asyncio.timeout(PATIENCE):
        await history.a_add(message=prompt("outer"))
    assert names == ["again outer", "again inner", "last", "late", "last"]
    assert [each.rendered for each in history] == ["outer", "inner"]


class Joins:
    """A sender whose id, when it is read, puts one more observer into the list: while the message is being made."""

    def __init__(self, history: History, observer: Told) -> None:
        self.history, self.observer = history, observer

    @property
    def id(self) -> UUID:
        self.history.on_added.append(self.observer)
        return uuid4()


def test_a_sync_change_takes_its_observers_before_it_makes_the_message() -> None:  # L-150
    history, late = History(), Told()
    history.add(instruction="hello", sender=Joins(history, late))
    assert history.on_added == [late]
    assert late.messages == []


async def test_an_async_change_takes_its_observers_after_the_message_is_in() -> None:  # L-150
    history, late = History(), Told()
    added = await history.a_add(instruction="hello", sender=Joins(history, late))
    assert late.messages == [added]


async def test_messages_that_are_added_at_once_stand_in_the_order_in_which_they_came_in() -> None:  # L-151
    first_is_told, go_on = asyncio.Event(), asyncio.Event()

    async def holds(message: Message) -> None:
        if message is one:
            first_is_told.set()
            await go_on.wait()

    one, two, three = prompt("one"), prompt("two"), prompt("three")
    history = History(on_added=[holds])
    async with asyncio.timeout(PATIENCE), asyncio.TaskGroup() as group:
        group.create_task(history.a_add(message=one))
        group.create_task(history.a_add(message=two))
        await first_is_told.wait()
        await history.a_add(message=three)  # while the first is still being told
        assert list(history) == [one, two, three]
        go_on.set()


# Replacements


def test_an_update_tells_of_one_replacement_and_of_no_addition() -> None:
    added, replaced = Told(), Told()
    history = History([prompt()], on_added=[added], on_replaced=[replaced])
    updated = history.update(history.instructions[0].id, text="other words")
    again = history.replace(updated.with_sender("Bo"))
    assert replaced.messages == [updated, again]
    assert added.messages == []


def test_a_response_tells_of_the_result_and_then_of_the_call() -> None:
    names: list[str] = []
    added, replaced = Told("added", into=names), Told("replaced", into=names)
    history = History([asked := call()], on_added=[added], on_replaced=[replaced])
    linked, result = history.respond(asked.id, 7)
    assert names == ["added", "replaced"]
    assert (added.messages, replaced.messages) == ([result], [linked])
    added.messages.clear()
    history.add(action_request=linked, action_output=8, replace=True)
    assert names == ["added", "replaced"] * 2


def test_an_answered_call_is_in_place_when_the_result_is_told() -> None:
    seen: list[bool] = []
    history = History([call()], on_added=[lambda _: seen.append(history.action_requests[0].is_responded())])
    history.respond(history.action_requests[0].id, 7)
    assert seen == [True]


def test_failures_of_a_replacement_are_called_so() -> None:
    history = History([prompt()], on_replaced=[Fails(KeyError()), Fails(OSError())])
    with pytest.raises(BaseExceptionGroup, match="on_message_replaced hooks failed"):
        history.update(history.instructions[0].id, text="other words")
    assert history.instructions[0].rendered == "other words"


async def test_what_must_be_awaited_is_told_of_replacements_too() -> None:
    added, replaced = Awaited(), Awaited()
    history = History([asked := call()], on_added=[added], on_replaced=[replaced])
    linked, result = await history.a_respond(asked.id, 7)
    updated = await history.a_update(result.id, output=8)
    again = await history.a_replace(linked.with_sender("Bo"))
    assert added.messages == [result]
    assert replaced.messages == [linked, updated, again]


def test_an_addition_is_not_kept_from_those_who_watch_replacements_asynchronously() -> None:
    history = History(on_replaced=[coroutine])
    history.add(message=prompt())
    assert len(history) == 1


def test_what_is_included_is_told_to_nobody() -> None:
    told = Told()
    history = History([prompt()], on_added=[told], on_replaced=[told])
    history.include(prompt())
    history.set_system(make.system_prompt("be brief"))
    history.clear()
    assert told.messages == []


async def test_who_is_cancelled_while_an_observer_is_awaited_leaves_the_message() -> None:
    waits, reached = asyncio.Event(), asyncio.Event()

    async def holds(_: Message) -> None:
        reached.set()
        await waits.wait()

    history = History(on_added=[holds])
    task = asyncio.create_task(history.a_add(message=(added := prompt())))
    await reached.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert list(history) == [added]


class Stops(BaseException):
    """What is no Exception, such as an order to end the process."""


@pytest.mark.parametrize("stops", [Stops(), SystemExit(3), asyncio.CancelledError()], ids=repr)
async def test_whatever_an_observer_raises_the_others_are_told(stops: BaseException) -> None:
    def fails(_: Message) -> None:
        raise stops

    last = Told()
    history = History(on_added=[fails, last])
    with pytest.raises(type(stops)):
        history.add(message=(one := prompt("one")))
    with pytest.raises(type(stops)):
        await history.a_add(message=(two := prompt("two")))
    assert list(history) == last.messages == [one, two]


class Owed:
    """Something to be awaited that is no coroutine."""

    def __await__(self) -> Any:
        raise AssertionError("nobody awaits it")


async def test_what_a_plain_function_leaves_to_be_awaited_is_a_failure_unless_it_runs_by_itself() -> None:
    history = History(on_added=[lambda _: Owed()])
    with pytest.raises(ObserverAsync):
        history.add(message=prompt())
    running = asyncio.get_running_loop().create_future()
    history.on_added[:] = [lambda _: running]
    assert history.add(message=prompt("two")) in history
    running.cancel()
