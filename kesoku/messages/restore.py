"""Read flat rows back: our own exports, and databases that are older than kinds (decisions C-04 and C-43).

The class of a row decides its role, whatever the row claims; what cannot be classed is refused by name, never guessed.
"""

import uuid
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from kesoku.errors import AmbiguousRow, MessageError
from kesoku.messages import phrase
from kesoku.messages.content import Attachment, ResultContent
from kesoku.messages.enums import INBOUND_STATUSES, OUTBOUND_STATUSES, MessageRole, MessageStatus
from kesoku.messages.freeze import freeze
from kesoku.messages.kinds import KINDS, category_of
from kesoku.messages.message import Message
from kesoku.messages.record import Address, Record
from kesoku.messages.rows import PAIRS, kind_of_row
from kesoku.messages.source import source_from_dict

_SPACE = uuid.UUID("6d3f2b0e-5f0b-5e1c-9a57-1d0c7b8c4f11")
_COMPOSED = frozenset({"attachments", "is_cronjob", "is_compaction", "tool_name", "tool_arguments", "tool_result"})


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportReport:
    """What an import did: of the imported rows, how many had no id, and how many claimed a role that is not theirs.

    `refused` pairs the id or number of every other row with the reason.
    """

    imported: int
    derived_ids: int
    forged_roles: int
    refused: tuple[tuple[str, str], ...]


def import_rows(rows: Iterable[Mapping[str, Any]], *, origin: str) -> tuple[list[Record], ImportReport]:
    """All rows that can be classed, in order, and a report of the rest.

    `origin` names the source database; with it, a row without an id gets the same derived id at every import (D-X13).
    """
    records: list[Record] = []
    refused: list[tuple[str, str]] = []
    derived = forged = 0
    for number, row in enumerate(rows, 1):
        try:
            record = record_from_row(row, origin=origin, number=number)
        except (MessageError, TypeError) as error:
            refused.append((str(row.get("id") or f"row {number}"), str(error)))
            continue
        records.append(record)
        derived += not row.get("id")
        forged += is_forged(row, record.message.role)
    report = ImportReport(imported=len(records), derived_ids=derived, forged_roles=forged, refused=tuple(refused))
    return records, report


def record_from_row(row: Mapping[str, Any], *, origin: str = "", number: int = 0) -> Record:
    """The record that a flat row stands for. `origin` and `number` of the row make the id of one that has none.

    Raises:
        AmbiguousRow: no kind fits, or a field that the kind needs is missing.
    """
    message = _message(row, row.get("envelope") or {}, _identity(row, origin, number))
    return Record(
        message=message,
        address=Address(chatbot_id=_needed(row, "chatbot_id"), channel_id=_needed(row, "channel_id")),
        session_id=_needed(row, "session_id"),
        status=status_of(row, message),
        parent_id=row.get("parent_id"),
        turn_id=row.get("turn_id"),
        round=row.get("round") or 0,
        facts=freeze(_facts(row, message)),
    )


def is_forged(row: Mapping[str, Any], role: MessageRole) -> bool:
    """Whether a row claims a role that its class does not have."""
    claimed = row.get("role")
    return claimed not in (None, role) and not (claimed == "action" and role is MessageRole.TOOL)


def _message(row: Mapping[str, Any], envelope: Mapping[str, Any], identity: str) -> Message:
    kind, source_kind = _kind(row, envelope)
    source = envelope.get("source") or row.get("source")
    metadata = dict(row.get("metadata") or {})
    typed = envelope.get("content")
    parties = {side: envelope[side] for side in ("sender", "recipient") if side in envelope}
    return KINDS[kind].restore(
        id=identity,
        created_at=_time(row),
        source=source_from_dict(dict(source) if isinstance(source, Mapping) else _source(row, source_kind, metadata)),
        content=typed if isinstance(typed, Mapping) else _CONTENT.get(kind, _text)(row, metadata),
        author=str(row.get("sender") or row.get("author") or ""),
        channel=envelope.get("channel"),
        metadata=_own_metadata(kind, source_kind, metadata),
        version=envelope.get("version", 1),
        **parties,
    )


def _kind(row: Mapping[str, Any], envelope: Mapping[str, Any]) -> tuple[str, str]:
    named = row.get("kind") or envelope.get("kind")
    if named in KINDS:
        cls = KINDS[str(named)]
        derived = kind_of_row({**row, "role": cls.role.value, "type": cls.type and cls.type.value})
        return cls.kind, derived[1] if derived else "relay"
    found = kind_of_row(row)
    if named or found is None:
        roles = f"no class has this role and type, {row.get('role')!r} and {row.get('type')!r}; there are {PAIRS}"
        why = f"the kind {named!r} is unknown" if named else roles
        raise _ambiguous(row, why)
    return found


def _ambiguous(row: Mapping[str, Any], why: str) -> AmbiguousRow:
    return AmbiguousRow(row_id=row.get("id"), role=row.get("role"), type=row.get("type"), why=why)


def _identity(row: Mapping[str, Any], origin: str, number: int) -> str:
    if row.get("id"):
        return str(row["id"])
    return str(uuid.uuid5(_SPACE, f"{origin}\x1f{row.get('session_id')}\x1f{number}"))


def _needed(row: Mapping[str, Any], key: str) -> str:
    value = row.get(key)
    if not value:
        raise _ambiguous(row, f"{key} is missing")
    return str(value)


def status_of(row: Mapping[str, Any], message: Message) -> MessageStatus:
    """The status that a row names, or the first one of its category. Raises AmbiguousRow: such a message has none."""
    first = category_of(message).status
    try:
        status = MessageStatus(row.get("status") or first)
    except ValueError:
        status = None
    group = INBOUND_STATUSES if first in INBOUND_STATUSES else OUTBOUND_STATUSES
    allowed = group | ({MessageStatus.ERROR} if first is MessageStatus.PENDING else set())
    allowed |= {MessageStatus.INTERRUPTED} if message.kind == "tool_call" else set()
    if status not in allowed:
        raise _ambiguous(row, f"a {message.kind} cannot have the status {row.get('status')!r}")
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
            words = str(row.get("content") or "").removeprefix(phrase.JOB).split()
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
        "summary": output[: ResultContent.SUMMARY_LENGTH] if summary is None else str(summary),
        "request_id": _needed(row, "parent_id"),
    }


def _tool_name(row: Mapping[str, Any], metadata: Mapping[str, Any]) -> str:
    name = metadata.get("tool_name") or (row.get("sender") if row.get("type") == "tool_result" else None)
    if not name:
        raise _ambiguous(row, "metadata.tool_name is missing")
    return str(name)


_CONTENT: dict[str, Callable[[Mapping[str, Any], Mapping[str, Any]], dict[str, Any]]] = {
    "user_prompt": _prompt,
    "answer": _prompt,
    "tool_call": _call,
    "tool_result": _result,
}
