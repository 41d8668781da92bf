"""Rows of other files as records: complete forms and flat rows alike, made so that they start and send nothing.

The class of a message decides its role, whatever a row claims (C-04). A row without an id gets the same derived id
at every import (C-43).
"""

import json
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from kesoku.errors import AmbiguousRow, UnknownKind
from kesoku.messages.enums import MessageStatus, MessageType
from kesoku.messages.freeze import freeze
from kesoku.messages.kinds import KINDS, message_from_dict
from kesoku.messages.record import Address, Record
from kesoku.messages.restore import is_forged, record_from_row, status_of

_LEFT = "the file was not imported"
_LATEST = 253_402_300_800.0
"""The end of the year 9999 in Unix seconds."""
_MESSAGE = frozenset(
    (
        "id",
        "created_at",
        "kind",
        "content",
        "source",
        "sender",
        "recipient",
        "channel",
        "author",
        "metadata",
        "version",
    )
)
_TEXTS = frozenset(
    (
        "id",
        "session_id",
        "parent_id",
        "turn_id",
        "chatbot_id",
        "channel_id",
        "superseded_by",
        "superseded_turn",
        "author",
        "channel",
        "role",
        "type",
        "kind",
        "status",
    )
)
_NUMBERS, _HIGHEST = frozenset(("round", "version")), 2**31
_MAPPINGS = frozenset(("facts", "metadata", "envelope"))
_S = MessageStatus


@dataclass(frozen=True, slots=True, kw_only=True)
class Imported:
    """A row and the record that it stands for."""

    path: str
    number: int
    """Which row of the file it is, from 1."""
    record: Record
    had_id: bool
    was_forged: bool
    was_waiting: bool = False
    """Whether it waited for the agent, or was being answered; it is interrupted then."""
    was_unsent: bool = False
    """Whether it was still to be shown; it counts as delivered then."""


def imported(row: Mapping[str, Any], *, path: str, number: int, origin: str) -> Imported:
    """The record of a row.

    Raises:
        AmbiguousRow: no kind fits, a field is missing, or the time is none.
        MessageError, TypeError, ValueError, ...: what makes a message of other people's data may raise anything.
    """
    cells = _sound(row)
    record = _complete(cells) if _is_complete(cells) else record_from_row(cells, origin=origin, number=number)
    message = record.message
    if not (math.isfinite(message.created_at) and 0 <= message.created_at < _LATEST):
        raise _refusal(row, f"its time {message.created_at!r} is in no calendar; it is taken as seconds since 1970")
    json.dumps(record.metadata, allow_nan=False, default=str)
    status = _settled(record)
    return Imported(
        path=path,
        number=number,
        record=replace(record, status=status),
        had_id=bool(row.get("id")),
        was_forged=is_forged(row, message.role),
        was_waiting=status is not record.status and status is _S.INTERRUPTED,
        was_unsent=status is not record.status and status is _S.DELIVERED,
    )


def unfiled(record: Record, keeps: Callable[[str], bool]) -> Record:
    """The record without paths of files that are not ours: whoever wrote a file of messages must not choose what of
    this machine a model is shown. The names stay."""
    files = getattr(record.message.content, "attachments", ())
    if all(each.path is None or keeps(each.path) for each in files):
        return record
    safe = [
        each if each.path is None or keeps(each.path) else replace(each, path=None, skipped=_LEFT) for each in files
    ]
    content = replace(record.message.content, attachments=tuple(safe))
    return replace(record, message=replace(record.message, content=content))


def _sound(row: Mapping[str, Any]) -> Mapping[str, Any]:
    """The row with every cell of the kind that it must have; numbers may stand for texts."""
    cells = dict(row)
    for name in _TEXTS & row.keys():
        if type(row[name]) is int:
            cells[name] = str(row[name])
        elif not isinstance(row[name], str | None):
            raise _refusal(row, f"{name} is no text")
    if not _is_time(when := row.get("created_at", row.get("timestamp"))):
        raise _refusal(row, f"its time {when!r:.80} cannot be read")
    for name in _NUMBERS & row.keys():
        if row[name] is None:
            del cells[name]
        elif type(row[name]) is not int or not 0 <= row[name] < _HIGHEST:
            raise _refusal(row, f"{name} is no number that counts")
    for name in _MAPPINGS & row.keys():
        if not isinstance(row[name], Mapping | None):
            raise _refusal(row, f"{name} is no object")
    return cells


def _is_time(cell: object) -> bool:
    """Whether a cell is a time in seconds or in words, or none at all: then it counts as the beginning of 1970."""
    if cell is None or (isinstance(cell, int | float) and not isinstance(cell, bool)):
        return True
    try:
        return isinstance(cell, str) and bool(datetime.fromisoformat(cell))
    except ValueError:
        return False


def _is_complete(row: Mapping[str, Any]) -> bool:
    """Whether a row is what `Record.to_dict` wrote, not the flat row of `to_row`."""
    return isinstance(row.get("content"), Mapping) and isinstance(row.get("source"), Mapping) and bool(row.get("id"))


def _complete(row: Mapping[str, Any]) -> Record:
    if row.get("kind") not in KINDS:
        raise UnknownKind(what="message", kind=row.get("kind"), valid=tuple(KINDS))
    message = message_from_dict({name: row[name] for name in _MESSAGE & row.keys()})
    if message.type is None:
        raise _refusal(row, "a message without a role is mail, and belongs to no conversation")
    return Record(
        message=message,
        address=Address(chatbot_id=_needed(row, "chatbot_id"), channel_id=_needed(row, "channel_id")),
        session_id=_needed(row, "session_id"),
        status=status_of(row, message),
        parent_id=_text(row, "parent_id"),
        turn_id=_text(row, "turn_id"),
        round=row.get("round") or 0,
        superseded_by=_text(row, "superseded_by"),
        superseded_turn=_text(row, "superseded_turn"),
        facts=freeze(row.get("facts") or {}),
    )


def _needed(row: Mapping[str, Any], key: str) -> str:
    value = _text(row, key)
    if not value:
        raise _refusal(row, f"{key} is missing")
    return value


def _text(row: Mapping[str, Any], key: str) -> str | None:
    value = row.get(key)
    if value is not None and not isinstance(value, str):
        raise _refusal(row, f"{key} is no text")
    return value


def _refusal(row: Mapping[str, Any], why: str) -> AmbiguousRow:
    return AmbiguousRow(row_id=row.get("id"), role=row.get("role"), type=row.get("type"), why=why)


def _settled(record: Record) -> MessageStatus:
    """Where it stands from now on: nothing that comes in by import is answered, and nothing is sent."""
    match record.status:
        case _S.PENDING_AGENT | _S.PROCESSING:
            return _S.INTERRUPTED
        case _S.PENDING:
            return _S.DELIVERED
        case _S.RESPONDED if record.message.type is not MessageType.TEXT:
            return _S.DELIVERED
    return record.status
