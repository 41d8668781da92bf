"""The records of a history's messages, as the compiler wants them: where each message stands in its session.

A message that was stored keeps its record. One that was not gets a stand-in when somebody asks for it: of the latest
turn, or of one of its own if it is such as opens a turn. For a few chosen messages only the records of their turns are
given out, so that reading them costs nothing for the rest of a long session.
"""

from collections.abc import Iterable
from dataclasses import replace

from kesoku.errors import UnknownKind
from kesoku.history.order import Placed, placed
from kesoku.messages.enums import MessageStatus
from kesoku.messages.kinds import category_of
from kesoku.messages.message import Message, mint_id
from kesoku.messages.record import SYSTEM_ADDRESS, Record


class Placements:
    """Records by message id. `arrived` are those of a stored session."""

    def __init__(self, arrived: Iterable[Placed] = ()) -> None:
        self._records: dict[str, Record] = {}
        self._turn: dict[str, str] = {}
        self._turns: dict[str, dict[str, None]] = {}
        self._answers: dict[str, dict[str, None]] = {}
        self._waiting: dict[str, Message] = {}
        self._changed: dict[str, Message] = {}
        self._latest: Record | None = None
        self._open: str | None = None
        self._session_id = mint_id()
        for each in arrived:
            self._put(each.record, each.turn_id)

    def keep(self, record: Record) -> None:
        """A stored message was added, or stored anew."""
        self._fill()
        known = self._records.get(record.id)
        if known is not None and _place(known) == _place(record):
            self._records[record.id] = record
            return
        if known is not None or record.id in self._turns:
            self._records[record.id] = record
            self._sort_again()
        else:
            self._put(record, self._found(record))

    def wait(self, message: Message) -> None:
        """A message was added that has no record."""
        self._waiting[message.id] = message

    def change(self, message: Message) -> None:
        """A member has a next version; it stands where it stood."""
        (self._waiting if message.id in self._waiting else self._changed)[message.id] = message

    def supersede(self, result_id: str, by: str) -> None:
        """A call has a second result, and this first one does not count any more (C-03)."""
        self._fill()
        if result_id in self._records:
            self._records[result_id] = replace(self._records[result_id], superseded_by=by)

    def all(self) -> tuple[Record, ...]:
        """The records of all members."""
        self._fill()
        return tuple(self._records.values())

    def around(self, ids: Iterable[str]) -> tuple[Record, ...]:
        """Those of the turns in which these messages stand, the results of their calls, and what led to them."""
        self._fill()
        turns = dict.fromkeys(self._turn[each] for each in ids)
        found = dict.fromkeys(each for turn_id in turns for each in self._turns[turn_id])
        for each in tuple(found):
            found.update(self._answers.get(each, {}))
            found.update(dict.fromkeys(record.id for record in self._line(self._records[each])))
        return tuple(map(self._records.__getitem__, found))

    def drop(self, message_id: str) -> None:
        """A message that answers nothing has left the history."""
        self._changed.pop(message_id, None)
        if self._waiting.pop(message_id, None) is None:
            del self._records[message_id]
            del self._turns[self._turn.pop(message_id)][message_id]

    def retain(self, ids: Iterable[str]) -> None:
        """All messages but these have left the history; what comes stands behind them all the same."""
        self._fill()
        latest = self._latest
        self._records = {each: self._records[each] for each in ids}
        self._sort_again()
        self._latest = latest

    def _put(self, record: Record, turn_id: str) -> None:
        self._records[record.id] = record
        self._turn[record.id] = turn_id
        self._turns.setdefault(turn_id, {})[record.id] = None
        if record.kind == "tool_result":
            self._answers.setdefault(_asked(record), {})[record.id] = None
        if self._latest is None or record.seq >= self._latest.seq:
            self._latest = record
            self._open = self._open if record.kind == "system_prompt" else turn_id

    def _sort_again(self) -> None:
        """Whose turn is whose is told anew, for a record came after those that hang on it."""
        records = tuple(self._records.values())
        self._records, self._turn, self._turns, self._answers = {}, {}, {}, {}
        self._latest = self._open = None
        for each in placed(records):
            self._put(each.record, each.turn_id)

    def _found(self, record: Record) -> str:
        """The turn of a new record."""
        line = (*self._line(record), record)
        return next(each.turn_id for each in placed(line) if each.record.id == record.id)

    def _line(self, record: Record) -> tuple[Record, ...]:
        """The records that led to this one: its parent, and the parent of that one."""
        line: dict[str, Record] = {}
        parent = record.parent_id
        while parent in self._records and parent not in line:
            line[parent] = self._records[parent]
            parent = line[parent].parent_id
        return tuple(line.values())

    def _fill(self) -> None:
        """Bring the records up to what was told since somebody asked for them."""
        changed, self._changed = self._changed, {}
        for message_id, message in changed.items():
            self._records[message_id] = replace(self._records[message_id], message=message)
        waiting, self._waiting = self._waiting, {}
        for message in waiting.values():
            record = self._stand_in(message)
            self._put(record, self._found(record))

    def _stand_in(self, message: Message) -> Record:
        latest, opens = self._latest, message.kind == "system_prompt" or _opens(message)
        return Record(
            message=message,
            address=latest.address if latest else SYSTEM_ADDRESS,
            session_id=latest.session_id if latest else self._session_id,
            status=MessageStatus.PROCESSED if opens else MessageStatus.RESPONDED,
            seq=latest.seq + 1 if latest else 1,
            session_n=latest.session_n + 1 if latest else 1,
            parent_id=None if opens else getattr(message.content, "request_id", None) or self._open,
        )


def _opens(message: Message) -> bool:
    """Whether a message begins a turn: what is posted for an agent does."""
    if message.kind == "user_prompt":
        return True
    try:
        return category_of(message).status is MessageStatus.PENDING_AGENT
    except UnknownKind:
        return False


def _place(record: Record) -> tuple[object, ...]:
    return record.seq, record.turn_id, record.parent_id, record.kind


def _asked(record: Record) -> str:
    return str(record.parent_id or record.message.content.request_id)
