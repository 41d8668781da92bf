"""Read flat rows back: our own exports, and databases that are older than kinds (decisions C-04 and C-43).

The class of a row decides its role, whatever the row claims; what cannot be classed is refused by name, never guessed.
"""

import uuid
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from kesoku.errors import AmbiguousRow, MessageError
from kesoku.messages.content import Attachment
from kesoku.messages.enums import INBOUND_STATUSES, OUTBOUND_STATUSES, MessageStatus
from kesoku.messages.freeze import freeze
from kesoku.messages.kinds import KINDS, category_of
from kesoku.messages.message import Message
from kesoku.messages.party import UNADDRESSED
from kesoku.messages.record import Address, Record
from kesoku.messages.rows import kind_of_row
from kesoku.messages.source import source_from_dict

_SPACE = uuid.UUID("6d3f2b0e-5f0b-5e1c-9a57-1d0c7b8c4f11")
_COMPOSED = frozenset({"attachments", "is_cronjob", "is_compaction", "tool_name", "tool_arguments", "tool_result"})


@dataclass(slots=True, kw_only=True)
class ImportReport:
    """What an import did. `refused` pairs a row's id or number with the reason."""

    imported: int = 0
    derived_ids: int = 0
    forged_roles: int = 0
    refused: list[tuple[str, str]] = field(default_factory=list)


def import_rows(rows: Iterable[Mapping[str, Any]], *, origin: str) -> tuple[list[Record], ImportReport]:
    """All rows that can be classed, in order, and a report of the rest.

    `origin` names the source database; with it, a row without an id gets the same derived id at every import (D-X13).
    """
    report = ImportReport()
    records: list[Record] = []
    for number, row in enumerate(rows, 1):
        try:
            records.append(record_from_row(row, origin=origin, number=number, report=report))
        except (MessageError, TypeError) as error:
            report.refused.append((str(row.get("id") or f"row {number}"), str(error)))
    report.imported = len(records)
    return records, report


def record_from_row(
    row: Mapping[str, Any], *, origin: str = "", number: int = 0, report: ImportReport | None = None
) -> Record:
    """The record that a flat row stands for.

    Raises:
        AmbiguousRow: no kind fits, or a field that the kind needs is missing.
    """
    report = report or ImportReport()
    envelope = row.get("envelope") or {}
    message = _message(row, envelope, _identity(row, origin, number, report))
    if row.get("role") not in (None, message.role.value) and not (row["role"] == "action" and message.role == "tool"):
        report.forged_roles += 1
    return Record(
        message=message,
        address=Address(chatbot_id=_needed(row, "chatbot_id"), channel_id=_needed(row, "channel_id")),
        session_id=_needed(row, "session_id"),
        status=_status(row, message),
        parent_id=row.get("parent_id"),
        turn_id=row.get("turn_id"),
        round=row.get("round") or 0,
        facts=freeze(_facts(row, message)),
    )


def _message(row: Mapping[str, Any], envelope: Mapping[str, Any], identity: str) -> Message:
    kind, source_kind = _kind(row, envelope)
    source = envelope.get("source") or row.get("source")
    metadata = dict(row.get("metadata") or {})
    return KINDS[kind].restore(
        id=identity,
        created_at=_time(row),
        source=source_from_dict(dict(source) if isinstance(source, Mapping) else _source(row, source_kind, metadata)),
        content=_CONTENT.get(kind, _text)(row, metadata),
        author=str(row.get("sender") or row.get("author") or ""),
        sender=envelope.get("sender", UNADDRESSED),
        recipient=envelope.get("recipient", UNADDRESSED),
        channel=envelope.get("channel"),
        metadata=_own_metadata(kind, source_kind, metadata),
        version=envelope.get("version", 1),
    )


def _kind(row: Mapping[str, Any], envelope: Mapping[str, Any]) -> tuple[str, str]:
    named = row.get("kind") or envelope.get("kind")
    if named in KINDS:
        cls = KINDS[str(named)]
        derived = kind_of_row({**row, "role": cls.role.value, "type": cls.type and cls.type.value})
        return cls.kind, derived[1] if derived else "relay"
    found = kind_of_row(row)
    if named or found is None:
        why = f"the kind {named!r} is unknown" if named else "no class has this role and type"
        raise AmbiguousRow(row_id=row.get("id"), role=row.get("role"), type=row.get("type"), why=why)
    return found


def _identity(row: Mapping[str, Any], origin: str, number: int, report: ImportReport) -> str:
    if row.get("id"):
        return str(row["id"])
    report.derived_ids += 1
    return str(uuid.uuid5(_SPACE, f"{origin}\x1f{row.get('session_id')}\x1f{number}"))


def _needed(row: Mapping[str, Any], key: str) -> str:
    value = row.get(key)
    if not value:
        raise AmbiguousRow(row_id=row.get("id"), role=row.get("role"), type=row.get("type"), why=f"{key} is missing")
    return str(value)


def _status(row: Mapping[str, Any], message: Message) -> MessageStatus:
    first = category_of(message).status
    try:
        status = MessageStatus(row.get("status") or first)
    except ValueError:
        status = None
    group = INBOUND_STATUSES if first in INBOUND_STATUSES else OUTBOUND_STATUSES
    allowed = group | ({MessageStatus.ERROR} if first is MessageStatus.PENDING else set())
    allowed |= {MessageStatus.INTERRUPTED} if message.kind == "tool_call" else set()
    if status not in allowed:
        why = f"a {message.kind} cannot have the status {row.get('status')!r}"
        raise AmbiguousRow(row_id=row.get("id"), role=row.get("role"), type=row.get("type"), why=why)
    return status


def _time(row: Mapping[str, Any]) -> float:
    value = row.get("created_at", row.get("timestamp"))
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return round(float(value), 6)
    try:
        moment = datetime.fromisoformat(str(value))
    except ValueError:
        return 0.0
    return round((moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp(), 6)


def _source(row: Mapping[str, Any], kind: str, metadata: Mapping[str, Any]) -> dict[str, Any]:
    match kind:
        case "user":
            ids = {key: value for key, value in metadata.items() if key.endswith("_message_id")}
            return {"kind": kind, "platform_ids": ids}
        case "cron":
            return {"kind": kind, "marks": {key: value for key, value in metadata.items() if key.endswith("_cronjob")}}
        case "command":
            return {"kind": kind, "command": "compact"}
        case "model":
            return {"kind": kind, "provider": "imported", "model": "unknown"}
        case "tool":
            return {"kind": kind, "call_id": _needed(row, "parent_id")}
        case "job":
            words = str(row.get("content") or "").removeprefix("[System Alert] Background Job ").split()
            return {"kind": kind, "job_id": words[0] if words else ""}
    return {"kind": kind}


def _own_metadata(kind: str, source_kind: str, metadata: Mapping[str, Any]) -> dict[str, Any]:
    composed = set(_COMPOSED) | ({"turn_metrics"} if kind == "answer" else set())
    if source_kind in {"user", "cron"}:
        composed |= {key for key in metadata if key.endswith(("_message_id", "_cronjob"))}
    return {key: value for key, value in metadata.items() if key not in composed}


def _facts(row: Mapping[str, Any], message: Message) -> dict[str, Any]:
    metrics = (row.get("metadata") or {}).get("turn_metrics")
    return {"turn_metrics": metrics} if message.kind == "answer" and isinstance(metrics, Mapping) else {}


def _text(row: Mapping[str, Any], _: Mapping[str, Any]) -> dict[str, Any]:
    return {"text": str(row.get("content") or "")}


def _prompt(row: Mapping[str, Any], metadata: Mapping[str, Any]) -> dict[str, Any]:
    listed = metadata.get("attachments") or ()
    files = [_attachment(each) for each in listed if isinstance(each, (str, Mapping))]
    return {**_text(row, metadata), "attachments": files}


def _attachment(value: str | Mapping[str, Any]) -> dict[str, Any]:
    if isinstance(value, str):
        return Attachment(name=value.rsplit("/", 1)[-1] or value, path=value).to_dict()
    path = value.get("path")
    name = str(value.get("name") or value.get("filename") or path or "file")
    return {**value, "name": name}


def _call(row: Mapping[str, Any], metadata: Mapping[str, Any]) -> dict[str, Any]:
    arguments = metadata.get("tool_arguments")
    return {
        "tool": _tool_name(row, metadata),
        "arguments": dict(arguments) if isinstance(arguments, Mapping) else {},
    }


def _result(row: Mapping[str, Any], metadata: Mapping[str, Any]) -> dict[str, Any]:
    output = str(row.get("content") or "")
    summary = metadata.get("tool_result")
    return {
        "tool": _tool_name(row, metadata),
        "output": output,
        "summary": output[:200] if summary is None else str(summary),
        "request_id": _needed(row, "parent_id"),
    }


def _tool_name(row: Mapping[str, Any], metadata: Mapping[str, Any]) -> str:
    name = metadata.get("tool_name") or (row.get("sender") if row.get("type") == "tool_result" else None)
    if not name:
        why = "metadata.tool_name is missing"
        raise AmbiguousRow(row_id=row.get("id"), role=row.get("role"), type=row.get("type"), why=why)
    return str(name)


_CONTENT: dict[str, Callable[[Mapping[str, Any], Mapping[str, Any]], dict[str, Any]]] = {
    "user_prompt": _prompt,
    "answer": _prompt,
    "tool_call": _call,
    "tool_result": _result,
}
