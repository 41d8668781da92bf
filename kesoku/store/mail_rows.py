"""Rows of mail as values. What is damaged is named in the log, and holds up nothing else."""

import json
import logging
from collections.abc import Iterable
from typing import Any
from uuid import UUID

from kesoku.errors import NotStorable
from kesoku.messages.kinds import message_from_dict
from kesoku.messages.mail import DeadLetter, DeadReason, Letter, Mailbox
from kesoku.messages.message import Message
from kesoku.messages.source import RelaySource
from kesoku.store.cell import int_or, int_or_none, member_or
from kesoku.store.engine import Row, plain
from kesoku.store.mapping import UNREADABLE

_LOST = "A letter that belongs here can no longer be read: its row in the database is damaged."
_log = logging.getLogger(__name__)
_encode = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), allow_nan=False).encode


def body_of(message: Message) -> str:
    """A message as it is stored. Raises NotStorable: content that is no JSON."""
    try:
        return _encode(message.to_dict())
    except (TypeError, ValueError, RecursionError) as error:
        raise NotStorable(message_id=message.id, reason=f"it is not made of JSON values ({error})") from error


def message_of(row: Row) -> Message:
    """The message of an id, a body and a sender. One that is damaged says so: it must not hold up the others."""
    id_, body, _ = row
    try:
        return message_from_dict(json.loads(body))
    except UNREADABLE as error:
        _log.error("mail %s is damaged in the database: %s", plain(id_), error)
        return _lost(row)


def _lost(row: Row) -> Message:
    """What stands for a message that cannot be read, or that nobody knows whom it is for."""
    id_, _, sender = row
    known = {"sender": plain(sender)} if sender else {}
    return Message.restore(id=plain(id_), source=RelaySource(), content=_LOST, created_at=0.0, **known)


def uuid_or_none(cell: Any, what: str) -> UUID | None:
    """The UUID in a cell; None, and a line in the log about `what` it should be, for anything else."""
    try:
        return UUID(plain(cell))
    except (AttributeError, TypeError, ValueError):
        _log.error("%s of the mail is damaged in the database: %r is no UUID", what, cell)
        return None


def uuids(rows: Iterable[Row], what: str) -> list[UUID]:
    """Those of rows of one cell."""
    found = (uuid_or_none(cell, what) for (cell,) in rows)
    return [each for each in found if each is not None]


def mailbox_of_row(row: Row) -> Mailbox | None:
    """A mailbox; None if nobody knows whose it is. One of which it is unclear whether it was given up, was."""
    cell, session_id, capacity, at, left_at = row
    if (owner := uuid_or_none(cell, "a mailbox")) is None:
        return None
    return Mailbox(
        owner=owner,
        session_id=plain(session_id),
        capacity=int_or_none(capacity),
        at=int_or(at),
        left_at=None if left_at is None else int_or(left_at),
    )


def letter_of(row: Row) -> Letter | None:
    """A line of an outbox; None if nobody knows whose it is. One of which it is unclear for whom it is, is for
    nobody."""
    seq, mail_id, body, owner, peer, attempts = row
    if (sender := uuid_or_none(owner, f"the sender of letter {seq}")) is None:
        return None
    target = uuid_or_none(peer, f"the recipient of letter {seq}") if peer else None
    given = (mail_id, body, owner)
    return Letter(
        number=seq,
        message=_lost(given) if peer and target is None else message_of(given),
        sender=sender,
        target=target,
        attempts=int_or(attempts),
    )


def letters_of(rows: Iterable[Row]) -> list[Letter]:
    """Lines of outboxes, but for those of which nobody knows whose they are."""
    found = map(letter_of, rows)
    return [each for each in found if each is not None]


def dead_letter_of(row: Row) -> DeadLetter | None:
    """A dead letter; None if nobody knows whose it is."""
    *given, reason, error, at = row
    if (letter := letter_of(tuple(given))) is None:
        return None
    return DeadLetter(
        letter=letter,
        reason=member_or(DeadReason, reason, DeadReason.DELIVERY_ERROR),
        error=plain(error) or "",
        at=int_or(at),
    )
