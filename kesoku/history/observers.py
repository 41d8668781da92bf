"""Whoever wants to know what happens to a history is told afterwards; what they make of it undoes nothing (C-20, C-22).

Those who are told of a change are those who stood in the list when it began. All of them are told, whatever the others
raise, and then their failures are raised.
"""

from asyncio import CancelledError, current_task, isfuture
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from inspect import isawaitable, iscoroutine, iscoroutinefunction

from kesoku.errors import ObserverAsync
from kesoku.messages.message import Message

Observer = Callable[[Message], object]
"""Called with the message that is a member; may be a coroutine function."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """What happened to a history."""

    added: tuple[Message, ...] = ()
    replaced: tuple[Message, ...] = ()

    @property
    def failure(self) -> str:
        """What several failures of its observers are called."""
        return f"on_message_{'added' if self.added else 'replaced'} hooks failed"


@dataclass(frozen=True, slots=True, kw_only=True)
class Audience:
    """The observers of one change, as they stood in their lists."""

    added: tuple[Observer, ...] = ()
    replaced: tuple[Observer, ...] = ()

    def admit(self, *, instead: str) -> None:
        """Refuse those that a synchronous change could not await.

        Raises:
            ObserverAsync: one is a coroutine function, a partial of one, or has such a `__call__`; `instead` awaits it.
        """
        for observer in (*self.added, *self.replaced):
            if _is_async(observer):
                raise ObserverAsync(observer=observer, instead=instead)

    def tell(self, change: Change, *, instead: str) -> None:
        """Call all of them, then raise what failed.

        Raises:
            BaseException: the one that an observer raised.
            BaseExceptionGroup: several failed, in the order in which they did.
        """
        failures: list[BaseException] = []
        for observer, message in self._calls(change):
            try:
                _refuse_result(observer, observer(message), instead)
            except BaseException as error:  # noqa: BLE001 - an observer's code; the others must be told all the same
                failures.append(error)
        _raise(failures, change)

    async def tell_and_wait(self, change: Change) -> None:
        """The same, and await those that ask for it, one after the other. Only a cancellation ends it at once."""
        failures: list[BaseException] = []
        for observer, message in self._calls(change):
            try:
                result = observer(message)
                if isawaitable(result):
                    await result
            except BaseException as error:  # an observer's code; the others must be told all the same
                if isinstance(error, CancelledError) and _is_cancelled():
                    raise
                failures.append(error)
        _raise(failures, change)

    def _calls(self, change: Change) -> Iterator[tuple[Observer, Message]]:
        yield from ((observer, message) for message in change.added for observer in self.added)
        yield from ((observer, message) for message in change.replaced for observer in self.replaced)


def _is_async(observer: object) -> bool:
    while isinstance(observer, partial):
        observer = observer.func
    return iscoroutinefunction(observer) or iscoroutinefunction(getattr(type(observer), "__call__", None))  # noqa: B004


def _refuse_result(observer: Observer, result: object, instead: str) -> None:
    """What only the call brought to light, and nobody would ever await, is a failure; a task or future is none."""
    if iscoroutine(result):
        result.close()
    if isawaitable(result) and not isfuture(result):
        raise ObserverAsync(observer=observer, instead=instead)


def _is_cancelled() -> bool:
    """Whether this task was asked to end; an observer may raise such an error by itself."""
    task = current_task()
    return task is None or bool(task.cancelling())


def _raise(failures: Iterable[BaseException], change: Change) -> None:
    failures = tuple(failures)
    if len(failures) == 1:
        raise failures[0]
    if failures:
        raise BaseExceptionGroup(change.failure, failures)
