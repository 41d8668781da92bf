"""What an import would store: every row read, and checked against the other rows and the database, before anything is
written."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from kesoku.cli.import_file import rows
from kesoku.errors import AmbiguousRow, FileRefused, MessageTaken, SessionTaken, SeveralSessions
from kesoku.messages.import_order import in_order, linked
from kesoku.messages.imported import Imported, imported, unfiled
from kesoku.messages.message import Message
from kesoku.messages.record import Address, Record
from kesoku.messages.redaction import is_redacted
from kesoku.ports import Transaction
from kesoku.store.mapping import UNREADABLE, body_of, canonical

_OPENS = frozenset({"user_prompt", "system_note"})
"""Kinds that stand alone where what they answer is missing."""
_NEEDED = ("session_id", "chatbot_id", "channel_id")


@dataclass(frozen=True, slots=True, kw_only=True)
class Refused:
    """A row that is not imported, and why."""

    path: str
    number: int
    id: str | None
    why: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """Where everything goes; None is where the rows say."""

    session_id: str | None = None
    address: Address | None = None


@dataclass(slots=True, kw_only=True)
class Plan:
    """What was read: rows in the order of the files, and what is wrong with the others."""

    rows: list[Imported] = field(default_factory=list)
    refused: list[Refused] = field(default_factory=list)
    present: int = 0
    """Rows that are stored already, or stood in the files before."""
    loose: int = 0
    """Prompts that answer a message which is nowhere; they stand alone."""

    def refuse(self, row: Imported, why: str) -> None:
        """Leave a row out."""
        self.refused.append(Refused(path=row.path, number=row.number, id=row.record.id, why=why))


def read(paths: Sequence[Path], target: Target, folder: Callable[[str], Path]) -> Plan:
    """All rows of all files, but those that cannot be classed or stored. Of attached files those stay that lie in the
    `folder` of their session.

    Raises FileRefused: a file is not what can be imported, or two rows of one id say different things.
    SeveralSessions: one place is named for several conversations.
    """
    plan, known = Plan(), dict[str, Imported]()
    for path in paths:
        for number, row in rows(path):
            if (found := _row(plan, path, number, _completed(row, target))) is None:
                continue
            found = _unfiled(found, folder)
            before = known.setdefault(found.record.id, found)
            if before is found:
                plan.rows.append(found)
            elif _says(before.record) == _says(found.record):
                plan.present += 1
            else:
                first = f"row {before.number}" + ("" if before.path == found.path else f" of {before.path}")
                why = f"the id {found.record.id} stands in {first} too, where it says something else"
                raise FileRefused(path=path, row=number, why=why)
    plan.rows = _moved(in_order(plan.rows), target)
    return plan


def check(tx: Transaction, plan: Plan, target: Target) -> None:
    """Take out of a plan what is stored already, and what does not fit.

    Raises MessageTaken: an id is in use here for something else. SessionTaken: so is a conversation.
    """
    ids: dict[str, set[str]] = {}
    for row in plan.rows:
        ids.setdefault(row.record.session_id, set()).add(row.record.id)
    new = [row for row in plan.rows if not _is_present(tx, row)]
    plan.present += len(plan.rows) - len(new)
    plan.rows = linked(_fitting(tx, plan, new))
    for session_id in dict.fromkeys(row.record.session_id for row in plan.rows):
        if session_id != target.session_id:
            stored = {each.id for each in tx.messages.session(session_id)}
            if own := len(stored - ids[session_id]):
                raise SessionTaken(session_id=session_id, own=own)


def _why(error: Exception) -> str:
    match error:
        case AmbiguousRow():
            return error.why
        case RecursionError():
            return "it is nested too deeply"
    return str(error)


def _row(plan: Plan, path: Path, number: int, row: Mapping[str, Any]) -> Imported | None:
    try:
        found = imported(row, path=str(path), number=number, origin=path.name)
        body_of(found.record.message)
    except (*UNREADABLE, OverflowError) as error:
        id_ = None if row.get("id") is None else str(row["id"])
        plan.refused.append(Refused(path=str(path), number=number, id=id_, why=_why(error)))
        return None
    return found


def _unfiled(row: Imported, folder: Callable[[str], Path]) -> Imported:
    ours = folder(row.record.session_id)
    return replace(row, record=unfiled(row.record, lambda path: Path(path).parent == ours))


def _completed(row: Mapping[str, Any], target: Target) -> Mapping[str, Any]:
    """A row with what it lacks, where that was named."""
    address = target.address
    given = (target.session_id, address and address.chatbot_id, address and address.channel_id)
    lacking = {key: value for key, value in zip(_NEEDED, given, strict=True) if value and not row.get(key)}
    return {**row, **lacking} if lacking else row


def _says(record: Record) -> tuple[object, ...]:
    return canonical(record.message), record.session_id, record.parent_id, record.turn_id, record.status


def _moved(found: list[Imported], target: Target) -> list[Imported]:
    """The rows in the place that was named for them."""
    own = len({each.record.session_id for each in found})
    for place, option in ((target.session_id, "--session"), (target.address, "--channel")):
        if place is not None and own > 1:
            raise SeveralSessions(sessions=own, option=option)
    there: dict[str, Any] = {} if target.session_id is None else {"session_id": target.session_id}
    there |= {} if target.address is None else {"address": target.address}
    return [replace(each, record=replace(each.record, **there)) for each in found] if there else found


def _is_present(tx: Transaction, row: Imported) -> bool:
    """Whether the very message is stored. What was redacted here stays so."""
    stored, message = tx.messages.get(row.record.id), row.record.message
    if stored is None:
        return False
    taken: dict[str, Any] = {"path": row.path, "row": row.number, "message_id": stored.id}
    if stored.session_id != row.record.session_id:
        raise MessageTaken(**taken, why=f"in the conversation {stored.session_id}")
    said = _words(message)
    if said == _words(stored.message) or is_redacted(stored.message):
        return True
    if said not in map(_words, tx.archive.versions(stored.id)):
        raise MessageTaken(**taken, why="and says something else")
    return True


def _words(message: Message) -> object:
    """What a message says; of a call without its result, which may come later."""
    if message.kind != "tool_call":
        return canonical(message)
    return canonical(replace(message, content=replace(message.content, response_id=None), version=1))


def _fitting(tx: Transaction, plan: Plan, new: Iterable[Imported]) -> list[Imported]:
    """The rows whose turns and calls are there, or come with them; over and over, for one may need another."""
    kept, refused = list(new), True
    while refused:
        there, refused, fitting = _There(tx, kept), False, list[Imported]()
        for row in kept:
            if why := there.why_not(row.record):
                plan.refuse(row, why)
                refused = True
            else:
                fitting.append(row)
        kept = fitting
    alone = [row for row in kept if there.is_loose(row.record)]
    plan.loose += len(alone)
    loose = {row.record.id for row in alone}
    return [replace(row, record=replace(row.record, parent_id=None)) if row.record.id in loose else row for row in kept]


class _There:
    """What rows may name: other rows, and what is stored."""

    def __init__(self, tx: Transaction, rows: Iterable[Imported]) -> None:
        self._tx = tx
        self._rows = {row.record.id: row.record for row in rows}
        self._answered = set[str]()

    def why_not(self, record: Record) -> str:
        """What is wrong with a row; empty for nothing."""
        turn, nowhere = record.turn_id, "is in none of these files, and not stored here"
        if turn is not None and turn != record.id and self._find(turn, record) is None:
            return f"its turn {turn} {nowhere}"
        if record.kind == "tool_result":
            return self._no_result(record, nowhere)
        if record.parent_id is not None and record.kind not in _OPENS and self._find(record.parent_id, record) is None:
            return f"its parent {record.parent_id} {nowhere}"
        if turn is not None and _ends_a_turn(record):
            if turn in self._answered or any(map(_ends_a_turn, self._tx.messages.turn(turn))):
                return f"its turn {turn} has an answer already"
            self._answered.add(turn)
        return ""

    def is_loose(self, record: Record) -> bool:
        """Whether a prompt answers a message that is nowhere."""
        return record.parent_id is not None and self._find(record.parent_id, record) is None

    def _no_result(self, record: Record, nowhere: str) -> str:
        call = self._find(record.message.content.request_id or record.parent_id or "", record)
        if call is None or call.kind != "tool_call":
            return f"the call that it answers {nowhere}"
        is_new = call.id in self._rows
        if not is_new and call.message.content.response_id not in (None, record.id):
            return "the call that it answers has another result here"
        return ""

    def _find(self, id_: str, of: Record) -> Record | None:
        found = self._rows.get(id_) or self._tx.messages.get(id_)
        return found if found is not None and found.session_id == of.session_id else None


def _ends_a_turn(record: Record) -> bool:
    return record.kind == "answer" and record.message.source.kind == "model" and record.turn_id is not None
