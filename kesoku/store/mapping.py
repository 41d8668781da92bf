"""Rows to records and back. Every text survives: lone surrogates, NUL, any JSON."""

import json
import logging
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from sqlalchemy import Select, and_, select

from kesoku.errors import KesokuError, NotStorable
from kesoku.messages.content import NoticeContent
from kesoku.messages.enums import MessageStatus
from kesoku.messages.freeze import EMPTY, FrozenDict, freeze, thaw
from kesoku.messages.kinds import Notice, message_from_dict
from kesoku.messages.lifecycle import Change, ChangeKind
from kesoku.messages.message import Message
from kesoku.messages.party import party
from kesoku.messages.record import Address, Post, Record
from kesoku.messages.source import NoticeSource
from kesoku.store.cell import int_or, member_or
from kesoku.store.columns import equals
from kesoku.store.engine import Row, plain
from kesoku.store.tables import events, messages, turns

METADATA_LIMIT = 64 * 1024
"""Bytes of a message's metadata as JSON; what is larger belongs into a file."""
UNREADABLE = (ValueError, TypeError, LookupError, AttributeError, RecursionError, KesokuError)
"""What reading a row of JSON raises that somebody else has spoiled."""
_LOST = "A message that belongs here can no longer be read: its row in the database is damaged."
_SECOND = 1_000_000
_LATEST = 2**63 - 1
_SMALL = 4096
"""Letters of the content of a row that is remembered, so that thousands of them need little room."""

_log = logging.getLogger(__name__)
_party = lru_cache(1024)(party)

_m = messages.c
_PLACEMENT = (
    _m.seq,
    _m.session_id,
    _m.session_n,
    _m.parent_id,
    _m.turn_id,
    _m.round,
    _m.chatbot_id,
    _m.channel_id,
    _m.status,
    _m.mode,
    _m.superseded_turn,
    _m.superseded_by,
    turns.c.metrics,
)
_MESSAGE = (
    _m.id,
    _m.created_at,
    _m.kind,
    _m.content,
    _m.source,
    _m.sender,
    _m.recipient,
    _m.mail_channel,
    _m.author,
    _m.metadata,
    _m.version,
)
_STATUS, _CONTENT = 8, 3
"""Where they stand in the placement and in the message."""
RECORD = (*_PLACEMENT, *_MESSAGE)
"""The columns of a record, in the order in which `record_of` takes them."""
CONTENT = len(_PLACEMENT) + _CONTENT
"""Where the content stands in a record."""
_measured = and_(turns.c.turn_id == _m.turn_id, equals(_m.kind, "answer"), equals(_m.source_kind, "model"))
RECORD_FROM = messages.outerjoin(turns, _measured)


def records() -> Select[Any]:
    """SELECT of complete records, in no order."""
    return select(*RECORD).select_from(RECORD_FROM)


EVENT = (events.c.seq, events.c.at, events.c.kind, events.c.before, events.c.after, events.c.actor, events.c.reason)
"""The columns of a change, before those of its record."""

_encode = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), default=thaw).encode
_strict = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), allow_nan=False).encode


def to_json(value: Any) -> str:
    """A JSON value as text, non-ASCII letters as they are."""
    return _encode(value)


def from_json(text: str | bytes | None) -> Any:
    """The frozen value of a JSON column; None stays None."""
    return None if text is None else freeze(json.loads(text))


def mapping_of(text: str | bytes | None) -> FrozenDict:
    """The frozen dict of a JSON column, empty for none."""
    return EMPTY if text is None else FrozenDict(from_json(text))


def body_of(message: Message) -> dict[str, Any]:
    """The columns that say what a message says.

    Raises:
        NotStorable: no role, content that is no JSON, metadata beyond the limit, or a time out of range.
    """
    form = message.to_dict()
    if message.type is None:
        raise NotStorable(message_id=message.id, reason="a message without a role is mail, not part of a conversation")
    try:
        content, source = _strict(form["content"]), _strict(form["source"])
        metadata = _strict(form["metadata"]) if form["metadata"] else None
        created_at = round(message.created_at * _SECOND)
    except (TypeError, ValueError, OverflowError, RecursionError) as error:
        raise NotStorable(message_id=message.id, reason=f"it is not made of JSON values ({error})") from error
    if metadata and len(metadata.encode("utf-8", "surrogatepass")) > METADATA_LIMIT:
        raise NotStorable(
            message_id=message.id, reason=f"its metadata exceeds {METADATA_LIMIT} bytes; put it into a file"
        )
    if abs(created_at) > _LATEST:
        raise NotStorable(message_id=message.id, reason="its time of creation is out of range")
    return {
        "kind": message.kind,
        "role": message.role.value,
        "type": message.type.value,
        "author": message.author,
        "author_id": message.user_id,
        "sender": form["sender"],
        "recipient": form["recipient"],
        "mail_channel": message.channel,
        "source": source,
        "source_kind": message.source.kind,
        "content": content,
        "metadata": metadata,
        "version": message.version,
        "response_id": getattr(message.content, "response_id", None),
        "created_at": created_at,
    }


def placement_of(post: Post, *, session_id: str, at: int, superseded_turn: str | None) -> dict[str, Any]:
    """The columns that say where a message belongs."""
    status = post.first_status
    return {
        "id": post.message.id,
        "session_id": session_id,
        "parent_id": post.parent_id,
        "turn_id": post.turn_id,
        "round": post.round,
        "chatbot_id": post.address.chatbot_id,
        "channel_id": post.address.channel_id,
        "status": status.value,
        "mode": post.mode,
        "superseded_turn": superseded_turn,
        "accepted_at": at if status is MessageStatus.PENDING_AGENT else None,
    }


def record_of(row: Row) -> Record:
    """The record of a row of `RECORD`. A damaged row is a notice that says so, for it must not hold up the others.

    The same row gives the same record: small ones are remembered by all of their columns, as they were read just now.
    """
    place, body = row[: len(_PLACEMENT)], row[len(_PLACEMENT) :]
    try:
        return (_remembered if len(body[_CONTENT]) <= _SMALL else _intact)(place, body)
    except UNREADABLE as error:
        message = _lost(body, place[_STATUS])
        _log.error("message %s is damaged in the database: %s", message.id, error)
        return _placed(_mended(place), message, FrozenDict(damaged=str(error)))


def _intact(place: Row, body: Row) -> Record:
    *_, metrics = place
    message = (_remembered_message if len(body[_CONTENT]) <= _SMALL else _message_of)(body)
    return _placed(place, message, EMPTY if metrics is None else _measures(metrics))


def _measures(metrics: str | bytes) -> FrozenDict:
    """The metrics of a turn; an answer does not suffer from those that cannot be read."""
    try:
        return FrozenDict(turn_metrics=from_json(metrics))
    except UNREADABLE:
        return EMPTY


def _mended(place: Row) -> Row:
    """A placement in which every cell has its kind."""
    seq, session, session_n, parent, turn, round_, bot, channel, status, mode, *rest = place
    known = member_or(MessageStatus, status, MessageStatus.ERROR)
    return seq, session, int_or(session_n), parent, turn, int_or(round_), bot, channel, known, mode, *rest


_remembered = lru_cache(2048)(_intact)


def _placed(place: Row, message: Message, facts: FrozenDict) -> Record:
    seq, session, session_n, parent, turn, round_, bot, channel, status, mode, over, by, _ = place
    if type(session_n) is not int or type(round_) is not int or type(message.version) is not int:
        raise TypeError("its place or its version is no number")
    return Record(
        message=message,
        address=Address(chatbot_id=plain(bot), channel_id=plain(channel)),
        session_id=plain(session),
        status=MessageStatus(status),
        seq=seq,
        session_n=session_n,
        parent_id=plain(parent),
        turn_id=plain(turn),
        round=round_,
        mode=plain(mode),
        superseded_turn=plain(over),
        superseded_by=plain(by),
        facts=facts,
    )


def change_of(row: Row) -> Change:
    """The change of a row of `EVENT` and `RECORD`."""
    seq, at, kind, before, after, actor, reason = row[: len(EVENT)]
    record = record_of(row[len(EVENT) :])
    # Whoever follows the log looks at what is inserted, so that is what a damaged change is.
    return Change(
        seq=seq,
        at=int_or(at, round(record.message.created_at * _SECOND)),
        kind=member_or(ChangeKind, kind, ChangeKind.INSERTED),
        before=None if before is None else member_or(MessageStatus, before, record.status),
        after=None if after is None else member_or(MessageStatus, after, record.status),
        actor=plain(actor),
        reason=plain(reason),
        record=record,
    )


def canonical(message: Message) -> str:
    """One text for one value, whatever the order of its keys; the time as exact as it is stored."""
    return _canonical(message.to_dict())


def archived(message: Message) -> str:
    """An earlier body, complete."""
    return _encode(message.to_dict())


def unarchived(text: str | bytes) -> str:
    """The canonical text of an earlier body."""
    return _canonical(json.loads(text))


def _canonical(form: Mapping[str, Any]) -> str:
    exact = {**form, "created_at": round(form["created_at"] * _SECOND)}
    return json.dumps(exact, sort_keys=True, ensure_ascii=False)


def _lost(row: Row, status: str) -> Message:
    """What stands in for a damaged row: shown where an answer was owed, else like any status line."""
    id_, created_at, *_, version = row
    return Notice.restore(
        id=plain(id_),
        created_at=int_or(created_at) / _SECOND,
        source=NoticeSource(reason="reply" if status == MessageStatus.PENDING else "status"),
        content=NoticeContent(text=_LOST),
        version=int_or(version, 1),
    )


def _message_of(row: Row) -> Message:
    id_, created_at, kind, content, source, sender, recipient, channel, author, metadata, version = row
    return message_from_dict(
        {
            "id": plain(id_),
            "created_at": created_at / _SECOND,
            "kind": kind,
            "content": json.loads(content),
            "source": json.loads(source),
            "sender": _party(plain(sender)),
            "recipient": _party(plain(recipient)),
            "channel": plain(channel),
            "author": plain(author),
            "metadata": None if metadata is None else json.loads(metadata),
            "version": version,
        }
    )


_remembered_message = lru_cache(2048)(_message_of)
"""A message is read again whenever its status moves."""


def forget_rows() -> None:
    """Forget every row that is remembered, for what stands in it may have to be gone."""
    _remembered.cache_clear()
    _remembered_message.cache_clear()
