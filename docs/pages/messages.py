"""messages.md: kinds, categories, statuses and what may follow what."""

from collections.abc import Iterable, Mapping
from enum import StrEnum
from typing import Any

from pages.markdown import code, codes, line, members, table

from kesoku.messages.enums import MessageRole, MessageStatus, MessageType
from kesoku.messages.kinds import CATEGORIES, KINDS
from kesoku.messages.lifecycle import DELIVERY_TRANSITIONS, DeliveryState
from kesoku.messages.status import TRANSITIONS


def messages() -> str:
    """The page."""
    parts = (
        ("Kinds", f"A kind is a class, and fixes role and type.\n\n{_kinds()}"),
        ("Roles", members(MessageRole)),
        ("Types", members(MessageType)),
        ("The twelve categories", f"Kind and source fix the author and the first status.\n\n{_categories()}"),
        ("Statuses", members(MessageStatus)),
        ("Status transitions", f"Nothing else is possible.\n\n{_moves(TRANSITIONS)}"),
        ("Delivery states", f"Every part of an outgoing message has one in the ledger.\n\n{members(DeliveryState)}"),
        ("Delivery transitions", _moves(DELIVERY_TRANSITIONS)),
    )
    intro = "# Messages\n\nWhat stands behind the tables: [the message model](../explanation/message-model.md).\n"
    return "\n".join([intro, *(f"## {title}\n\n{body}" for title, body in parts)])


def _kinds() -> str:
    rows = (
        (code(name), code(k.role.value), code(k.type.value), line(k.__doc__)) for name, k in KINDS.items() if k.type
    )
    return table("kind", "role", "type", "meaning", rows=rows)


def _categories() -> str:
    rows = (
        (each.title, code(kind), code(source), each.author or "its name", code(each.status.value))
        for (kind, source), each in CATEGORIES.items()
    )
    return table("category", "kind", "source", "author", "first status", rows=rows)


def _moves(transitions: Mapping[Any, Iterable[StrEnum]]) -> str:
    rows = ((code(one.value), codes(sorted(each.value for each in to))) for one, to in transitions.items())
    return table("from", "to", rows=rows)
