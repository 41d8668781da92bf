"""Messages in SQL. Whoever changes a status or a body writes the event too, so it cannot be forgotten."""

from collections.abc import Collection
from dataclasses import replace

from sqlalchemy import ColumnElement, ScalarSelect, exists, func, literal_column, or_, select, update

from kesoku.errors import DuplicateMessage, UnknownMessage, VersionConflict
from kesoku.messages.enums import MessageStatus
from kesoku.messages.lifecycle import ChangeKind, Load, Serving
from kesoku.messages.message import Message
from kesoku.messages.record import Address, Post, Record
from kesoku.messages.source import UserSource
from kesoku.store.cache import RecordCache, Span, size_of
from kesoku.store.columns import equals
from kesoku.store.engine import Link
from kesoku.store.event import SqlEventLog
from kesoku.store.mapping import (
    CONTENT,
    archived,
    body_of,
    canonical,
    placement_of,
    record_of,
    records,
    unarchived,
)
from kesoku.store.memo import Memo
from kesoku.store.serving import Served
from kesoku.store.statement import Statement, insert_into, param
from kesoku.store.tables import external_ids, message_versions, messages, queues, sessions

_m = messages.c
_result = messages.alias("result")
_LATEST = (1 << 63) - 1
"""No seq is greater."""
_BODY = (
    "author",
    "author_id",
    "sender",
    "recipient",
    "mail_channel",
    "source",
    "source_kind",
    "content",
    "metadata",
    "version",
    "response_id",
    "created_at",
)

INSERT = Statement(
    insert_into(messages, "seq", "session_n", "superseded_by")
    .values(session_n=select(sessions.c.last_n + 1).where(sessions.c.id == param("session_id")).scalar_subquery())
    .on_conflict_do_nothing(index_elements=["id"])
    .returning(_m.seq, _m.session_n),
    bulky=True,
)
COUNT = Statement(
    update(sessions).where(sessions.c.id == param("session")).values(last_n=param("last_n"), last_seq=param("last_seq"))
)
GET = Statement(records().where(_m.id == param("id")))
AT = Statement(records().where(_m.seq == param("seq")))
MOVE = Statement(
    update(messages).where(_m.id == param("message_id"), _m.status == param("before")).values(status=param("to"))
)
BIND_KEY = Statement(insert_into(external_ids).on_conflict_do_nothing(index_elements=["chatbot_id", "key"]))
FIND = Statement(
    records()
    .join(external_ids, external_ids.c.message_id == _m.id)
    .where(external_ids.c.chatbot_id == param("chatbot_id"), external_ids.c.key == param("key"))
)
KEEP_VERSION = Statement(insert_into(message_versions), bulky=True)
OLD_VERSION = Statement(
    select(message_versions.c.body).where(
        message_versions.c.id == param("id"), message_versions.c.version == param("version")
    )
)
REWRITE = Statement(
    update(messages).where(_m.id == param("message_id")).values({name: param(name) for name in _BODY}), bulky=True
)
SUPERSEDE = Statement(update(messages).where(_m.id == param("message_id")).values(superseded_by=param("by")))
SESSION = Statement(
    records()
    .where(_m.session_id == param("session_id"), _m.session_n > param("after_n"))
    .order_by(_m.session_n)
    .limit(param("limit"))
)
NTH = Statement(records().where(_m.session_id == param("session_id"), _m.session_n == param("n")))
TAIL = Statement(
    records().where(_m.session_id == param("session_id")).order_by(_m.session_n.desc()).limit(param("limit"))
)
TURN = Statement(records().where(or_(_m.turn_id == param("turn_id"), _m.id == param("turn_id"))).order_by(_m.seq))
PLACE = Statement(
    update(messages).where(_m.id == param("message_id")).values(turn_id=param("turn_id"), round=param("round"))
)
OPEN_CALLS = Statement(
    records()
    .where(
        _m.session_id == param("session_id"),
        equals(_m.kind, "tool_call"),
        _m.response_id.is_(None),
        ~exists().where(
            _result.c.parent_id == _m.id, equals(_result.c.kind, "tool_result"), _result.c.superseded_by.is_(None)
        ),
    )
    .order_by(_m.session_n)
)
QUEUED = Statement(
    records().where(_m.session_id == param("session_id"), equals(_m.status, "pending_agent")).order_by(_m.seq)
)
REPLACING = Statement(
    records()
    .where(_m.session_id == param("session_id"), equals(_m.status, "pending_agent"), _m.superseded_turn.is_not(None))
    .order_by(_m.seq)
)
RIDERS = Statement(
    records()
    .where(
        _m.session_id == param("session_id"),
        equals(_m.status, "pending_agent"),
        _m.mode != literal_column("'followup'"),
    )
    .order_by(_m.seq)
)
_seen_live = _m.type != literal_column("'text'")
PENDING = Served(lambda here: records().where(here, equals(_m.status, "pending")), messages)
UNSEEN = Served(lambda here: records().where(here, equals(_m.status, "responded"), _seen_live), messages)


def _up_to(bound: str, *conditions: ColumnElement[bool]) -> ScalarSelect[int]:
    """How many rows there are, without a look at more than the bound."""
    few = select(literal_column("1")).select_from(messages).where(*conditions).limit(param(bound)).subquery()
    return select(func.count()).select_from(few).scalar_subquery()


_bot, _channel = _m.chatbot_id == param("chatbot_id"), _m.channel_id == param("channel_id")
LAST_SAID = Statement(
    records()
    .where(
        _bot, _channel, _m.accepted_at.is_not(None), equals(_m.source_kind, UserSource.kind), _m.seq < param("before")
    )
    .order_by(_m.accepted_at.desc(), _m.seq.desc())
    .limit(literal_column("1"))
)
_lately = _m.accepted_at.between(param("since"), param("until"))
LOAD = Statement(
    select(
        _up_to("most", _bot, _channel, equals(_m.status, "pending_agent")),
        select(queues.c.length).where(queues.c.chatbot_id == param("chatbot_id")).scalar_subquery(),
        _up_to("most", _bot, _channel, _lately),
        _up_to("most", _bot, _m.author_id == param("author_id"), _lately),
    )
)


class SqlMessageStore:
    """See `kesoku.ports.store.MessageStore`."""

    def __init__(self, link: Link, events: SqlEventLog, cache: RecordCache, memo: Memo | None) -> None:
        self._link, self._events, self._cache, self._memo = link, events, cache, memo

    def insert(
        self, post: Post, *, session_id: str, at: int, superseded_turn: str | None = None, actor: str = ""
    ) -> Record:
        """Store a message, its keys and its event."""
        message, status = post.message, post.first_status
        place = placement_of(post, session_id=session_id, at=at, superseded_turn=superseded_turn)
        stored = self._link.change_row(INSERT, **place, **body_of(message))
        if stored is None:
            return self._same(message)
        seq, session_n = stored
        self._link.touch(session_id, session_n)
        self._link.change(COUNT, session=session_id, last_n=session_n, last_seq=seq)
        if post.keys:
            self.add_keys(post.address.chatbot_id, post.keys, message.id)
        self._events.write(message.id, ChangeKind.INSERTED, at=at, after=status, actor=actor)
        return Record(
            message=message,
            address=post.address,
            session_id=session_id,
            status=status,
            seq=seq,
            session_n=session_n,
            parent_id=post.parent_id,
            turn_id=post.turn_id,
            round=post.round,
            mode=post.mode,
            superseded_turn=superseded_turn,
        )

    def get(self, message_id: str) -> Record | None:
        """The record, or None."""
        if self._memo is not None and (known := self._memo.get(message_id)) is not None:
            return known
        row = self._link.row(GET, id=message_id)
        return None if row is None else self._noted(record_of(row))

    def at(self, seq: int) -> Record | None:
        """The record with a seq, or None."""
        row = self._link.row(AT, seq=seq)
        return None if row is None else self._noted(record_of(row))

    def find(self, chatbot_id: str, keys: Collection[str]) -> Record | None:
        """The record that any of the keys belongs to."""
        for key in keys:
            row = self._link.row(FIND, chatbot_id=chatbot_id, key=key)
            if row is not None:
                return record_of(row)
        return None

    def add_keys(self, chatbot_id: str, keys: Collection[str], message_id: str) -> None:
        """Bind keys that are free."""
        for key in keys:
            self._link.change(BIND_KEY, chatbot_id=chatbot_id, key=key, message_id=message_id)

    def nth(self, session_id: str, n: int) -> Record | None:
        """The record at a place of a session."""
        row = self._link.row(NTH, session_id=session_id, n=n)
        return None if row is None else record_of(row)

    def rewrite(self, message: Message, *, actor: str, at: int) -> Record:
        """Store the next version, keep the one before."""
        stored = self._known(message.id)
        if message.version != stored.message.version + 1:
            raise VersionConflict(message_id=message.id, stored=stored.message.version, given=message.version)
        if message.kind != stored.kind:
            raise TypeError(f"{stored.message} cannot be rewritten as a {message.kind}")
        body = body_of(message)
        self._link.change(KEEP_VERSION, id=message.id, version=stored.message.version, body=archived(stored.message))
        self._link.touch(stored.session_id, stored.session_n)
        self._link.change(REWRITE, message_id=message.id, **{name: body[name] for name in _BODY})
        self._events.write(message.id, ChangeKind.REPLACED, at=at, actor=actor)
        self._forget(message.id)
        return replace(stored, message=message)

    def supersede(self, message_id: str, *, by: str) -> None:
        """Mark a replaced result."""
        stored = self._known(message_id)
        self._link.touch(stored.session_id, stored.session_n)
        self._link.change(SUPERSEDE, message_id=message_id, by=by)
        self._forget(message_id)

    def move(
        self,
        message_id: str,
        to: MessageStatus,
        expected: Collection[MessageStatus],
        *,
        actor: str,
        reason: str,
        at: int,
    ) -> Record | None:
        """Compare-and-set of the status, with its event."""
        stored = self.get(message_id)
        if stored is None or stored.status not in expected:
            return None
        if not self._link.change(MOVE, message_id=message_id, before=stored.status.value, to=to.value):
            return None
        self._link.touch(stored.session_id, stored.session_n)
        self._events.write(
            message_id, ChangeKind.MOVED, at=at, before=stored.status, after=to, actor=actor, reason=reason
        )
        return self._noted(replace(stored, status=to))

    def place(self, message_id: str, *, turn_id: str, round: int) -> Record:  # noqa: A002
        """Put a prompt into a running turn."""
        stored = self._known(message_id)
        self._link.touch(stored.session_id, stored.session_n)
        self._link.change(PLACE, message_id=message_id, turn_id=turn_id, round=round)
        return self._noted(replace(stored, turn_id=turn_id, round=round))

    def session(self, session_id: str, *, after_n: int = 0, limit: int | None = None) -> list[Record]:
        """Records of a session in order."""
        rows = self._link.rows(
            SESSION, session_id=session_id, after_n=after_n, limit=-1 if limit is None else max(limit, 0)
        )
        return [record_of(row) for row in rows]

    def past(self, session_id: str, *, after_n: int, limit: int) -> tuple[Record, ...]:
        """Records of a session in order, of which only those are read that changed since the last time."""
        since = self._link.since
        if since is None:
            return tuple(self.session(session_id, after_n=after_n, limit=limit))
        kept = self._cache.get(session_id, after_n, since)
        rows = self._link.rows(
            SESSION, session_id=session_id, after_n=kept.end, limit=max(limit - len(kept.records), 0)
        )
        new = [record_of(row) for row in rows]
        known = Span(
            behind=after_n,
            records=(*kept.records, *new),
            sizes=(*kept.sizes, *(size_of(row[CONTENT]) for row in rows)),
        )
        if not any(each.is_damaged for each in new) and self._cache.put(session_id, known, since):
            return known.records[:limit]
        return tuple(self.session(session_id, after_n=after_n, limit=limit))

    def tail(self, session_id: str, limit: int) -> list[Record]:
        """The last records, oldest first."""
        rows = self._link.rows(TAIL, session_id=session_id, limit=max(limit, 0))
        return [record_of(row) for row in reversed(rows)]

    def turn(self, turn_id: str) -> list[Record]:
        """Everything that was posted for a turn or placed in it, and the prompt that opened it."""
        return [record_of(row) for row in self._link.rows(TURN, turn_id=turn_id)]

    def open_calls(self, session_id: str) -> list[Record]:
        """Calls that neither name a result nor are named by one."""
        calls = (record_of(row) for row in self._link.rows(OPEN_CALLS, session_id=session_id))
        return [call for call in calls if not call.is_damaged]

    def queued(self, session_id: str) -> list[Record]:
        """Prompts in pending_agent."""
        return [record_of(row) for row in self._link.rows(QUEUED, session_id=session_id)]

    def replacing(self, session_id: str) -> list[Record]:
        """Queued prompts that took the place of a turn."""
        return [record_of(row) for row in self._link.rows(REPLACING, session_id=session_id)]

    def riders(self, session_id: str) -> list[Record]:
        """Queued prompts in mode steer or inject."""
        return [record_of(row) for row in self._link.rows(RIDERS, session_id=session_id)]

    def waiting(self, serving: Serving) -> list[Record]:
        """What an outbox still has to handle."""
        rows = [*PENDING.rows(self._link, serving), *UNSEEN.rows(self._link, serving)]
        return sorted(map(record_of, rows), key=lambda record: record.seq)

    def last_said(self, address: Address, *, before: int | None = None) -> Record | None:
        """The last prompt of a person in a channel."""
        where = {"chatbot_id": address.chatbot_id, "channel_id": address.channel_id}
        row = self._link.row(LAST_SAID, **where, before=_LATEST if before is None else before)
        return None if row is None else record_of(row)

    def load(self, address: Address, author_id: str | None, *, since: int, until: int, most: int) -> Load:
        """What is queued, and what was stored in that time."""
        who = {"chatbot_id": address.chatbot_id, "channel_id": address.channel_id, "author_id": author_id}
        ((here, total, spoken, said),) = self._link.rows(LOAD, **who, since=since, until=until, most=most)
        return Load(here=here, total=total or 0, spoken=spoken, said=said)

    def _noted(self, record: Record) -> Record:
        return record if self._memo is None else self._memo.put(record)

    def _forget(self, message_id: str) -> None:
        if self._memo is not None:
            self._memo.drop(message_id)

    def _known(self, message_id: str) -> Record:
        stored = self.get(message_id)
        if stored is None:
            raise UnknownMessage(message_id=message_id)
        return stored

    def _same(self, message: Message) -> Record:
        """The stored record, if it was stored with this very value in this version (C-45)."""
        stored = self._known(message.id)
        if message.version == stored.message.version:
            same = canonical(message) == canonical(stored.message)
        else:
            old = self._link.row(OLD_VERSION, id=message.id, version=message.version)
            same = old is not None and canonical(message) == unarchived(old[0])
        if not same:
            raise DuplicateMessage(message_id=message.id)
        return stored
