"""A history as plain chat messages, one for each message: for exports and for looking at (C-05, C-17).

Nothing is folded, stripped or left out; what a model is sent is the compiler's business.
"""

from collections.abc import Iterable
from typing import Any, Literal

from kesoku.errors import ProjectionRefused
from kesoku.messages.enums import MessageRole
from kesoku.messages.message import Message

Dialect = Literal["kesoku", "lion"]
"""Whose names of roles are printed; `lion` says action for tool."""

_NAMES: dict[str, dict[MessageRole, str]] = {"kesoku": {}, "lion": {MessageRole.TOOL: "action"}}


def projected(messages: Iterable[Message], *, dialect: Dialect = "kesoku") -> list[dict[str, Any]]:
    """One entry with role and content for each message.

    Raises:
        ProjectionRefused: one cannot be rendered; an entry that is not there would tell another history.
    """
    names = _NAMES[dialect]
    entries: list[dict[str, Any]] = []
    unreadable: list[str] = []
    for message in messages:
        entry = message.chat_msg
        if entry is None:
            unreadable.append(message.id)
        elif message.role in names:
            entries.append({**entry, "role": names[message.role]})
        else:
            entries.append(entry)
    if unreadable:
        raise ProjectionRefused(unreadable=tuple(unreadable))
    return entries
