"""What a history is made of at first: messages in whatever form they are given, in whatever order they shall stand."""

from collections.abc import Iterable, Mapping
from typing import Any

from kesoku.errors import OrderIncomplete, SelectionInvalid
from kesoku.history.progression import Progression
from kesoku.messages.kinds import message_from_dict
from kesoku.messages.message import Message
from kesoku.messages.record import Record


def readable(given: Iterable[Any]) -> list[Message | Record]:
    """Messages, records, and the messages that dicts stand for; whatever else is given is left out (L-106).

    Raises:
        UnknownKind: a dict is that of no known kind of message.
    """
    found = (message_from_dict(each) if isinstance(each, Mapping) else each for each in given)
    return [each for each in found if isinstance(each, (Message, Record))]


def ordered(given: list[Message | Record], progression: Iterable[str] | None) -> list[Message | Record]:
    """The same in the order of `progression`, if there is one.

    Raises:
        SelectionInvalid: it has an id twice, or an unknown one.
        OrderIncomplete: it leaves one of them out.
    """
    if progression is None:
        return given
    order, known = Progression(ids=tuple(progression)), {each.id: each for each in given}
    if unknown := tuple(each for each in order if each not in known):
        raise SelectionInvalid(missing=unknown, repeated=())
    named = frozenset(order)
    if missing := tuple(each for each in known if each not in named):
        raise OrderIncomplete(missing=missing)
    return [known[each] for each in order]
