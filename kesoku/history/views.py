"""The messages of a history by their exact class, kept with every change, so that nothing is ever searched for."""

from typing import TypeVar, cast

from kesoku.messages.kinds import ToolCall, ToolResult
from kesoku.messages.message import Message

M = TypeVar("M", bound=Message)

_ACTIONS = frozenset({ToolCall, ToolResult})


class Views:
    """Messages by class in the order of the history, and calls and results together. A subclass has its own view."""

    def __init__(self) -> None:
        self._by_class: dict[type[Message], dict[str, Message]] = {}
        self._actions: dict[str, Message] = {}

    def put(self, message: Message) -> None:
        """Take in a message behind all others; one whose id is known keeps its place."""
        self._by_class.setdefault(type(message), {})[message.id] = message
        if type(message) in _ACTIONS:
            self._actions[message.id] = message

    def drop(self, message: Message) -> None:
        """Leave a message out."""
        self._by_class[type(message)].pop(message.id)
        self._actions.pop(message.id, None)

    def clear(self) -> None:
        """Leave out all of them."""
        self._by_class.clear()
        self._actions.clear()

    def of(self, kind: type[M]) -> tuple[M, ...]:
        """Those of exactly this class."""
        return cast("tuple[M, ...]", tuple(self._by_class.get(kind, {}).values()))

    def last(self, kind: type[M]) -> M | None:
        """The last one of exactly this class, or None."""
        return cast("M | None", next(reversed(self._by_class.get(kind, {}).values()), None))

    @property
    def actions(self) -> tuple[ToolCall | ToolResult, ...]:
        """Calls and results."""
        return cast("tuple[ToolCall | ToolResult, ...]", tuple(self._actions.values()))
