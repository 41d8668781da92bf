"""Messages and the event log in memory."""

import json
from collections.abc import Callable, Collection
from dataclasses import replace
from typing import Any

from kesoku.errors import (
    DuplicateMessage,
    NotStorable,
    UnknownMessage,
    VersionConflict,
)
from kesoku.messages.enums import INBOUND_STATUSES, MessageRole, MessageStatus, MessageType
from kesoku.messages.freeze import FrozenDict
from kesoku.messages.lifecycle import Change, ChangeKind, Load, Serving
from kesoku.messages.message import Message
from kesoku.messages.record import Address, Post, Record
from kesoku.messages.source import UserSource
from kesoku.testing.memory.table import Tables, conflict

_S = MessageStatus
_TEXT = MessageType.TEXT
_BY_ROLE = {
    MessageRole.USER: INBOUND_STATUSES,
    MessageRole.ASSISTANT: frozenset({_S.PENDING, _S.DELIVERED, _S.RESPONDED, _S.ERROR}),
    MessageRole.TOOL: frozenset({_S.RESPONDED, _S.DELIVERED, _S.INTERRUPTED}),
    MessageRole.SYSTEM: INBOUND_STATUSES | {_S.RESPONDED, _S.DELIVERED},
}


class MemoryMessages:
    """`MessageStore` over dicts."""

    def __init__(self, tables: Tables, log: "MemoryEvents") -> None:
        self._tables, self._log = tables, log

    def insert(
        self, post: Post, *, session_id: str, at: int, superseded_turn: str | None = None, actor: str = ""
    ) -> Record:
        """See the port."""
        message = post.message
        if message.id in self._tables.messages:
            return self._known(message)
        record = Record(
            message=message,
            address=post.address,
            session_id=session_id,
            session_n=self._next_n(session_id),
            seq=len(self._tables.messages) + 1,
            status=post.first_status,
            parent_id=post.parent_id,
            turn_id=post.turn_id,
            round=post.round,
            mode=post.mode,
            superseded_turn=superseded_turn,
        )
        self._check(record)
        self._tables.places.put((session_id, record.session_n), message.id)
        self._tables.stored_at.put(message.id, at)
        self._keep(message)
        self._put(record)
        self.add_keys(post.address.chatbot_id, post.keys, message.id)
        self._log.add(record.id, ChangeKind.INSERTED, at=at, after=record.status, actor=actor)
        return self._read(record)

    def get(self, message_id: str) -> Record | None:
        """See the port."""
        found = self._tables.messages.get(message_id)
        return self._read(found) if found else None

    def find(self, chatbot_id: str, keys: Collection[str]) -> Record | None:
        """See the port."""
        known = (self._tables.keys.get((chatbot_id, key)) for key in keys)
        return next((self.get(each) for each in known if each), None)

    def add_keys(self, chatbot_id: str, keys: Collection[str], message_id: str) -> None:
        """See the port."""
        for key in keys:
            if (chatbot_id, key) not in self._tables.keys:
                self._tables.keys.put((chatbot_id, key), message_id)

    def nth(self, session_id: str, n: int) -> Record | None:
        """See the port."""
        found = self._tables.places.get((session_id, n))
        return self.get(found) if found else None

    def rewrite(self, message: Message, *, actor: str, at: int) -> Record:
        """See the port."""
        stored = self._must(message.id)
        if message.version != stored.message.version + 1:
            raise VersionConflict(message_id=message.id, stored=stored.message.version, given=message.version)
        self._keep(message)
        self._put(replace(stored, message=message))
        self._log.add(message.id, ChangeKind.REPLACED, at=at, actor=actor)
        return self._read(self._must(message.id))

    def supersede(self, message_id: str, *, by: str) -> None:
        """See the port."""
        self._put(replace(self._must(message_id), superseded_by=by))

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
        """See the port."""
        stored = self._tables.messages.get(message_id)
        if stored is None or stored.status not in expected:
            return None
        moved = replace(stored, status=to)
        self._check_role(moved)
        self._put(moved)
        self._log.add(message_id, ChangeKind.MOVED, at=at, before=stored.status, after=to, actor=actor, reason=reason)
        return self._read(moved)

    def place(self, message_id: str, *, turn_id: str, round: int) -> Record:  # noqa: A002
        """See the port."""
        placed = replace(self._must(message_id), turn_id=turn_id, round=round)
        self._put(placed)
        return self._read(placed)

    def session(self, session_id: str, *, after_n: int = 0, limit: int | None = None) -> list[Record]:
        """See the port."""
        session = self._tables.sessions.get(session_id)
        last = session.last_n if session else 0
        if limit is not None:
            last = min(last, after_n + limit)
        ids = (self._tables.places[session_id, n] for n in range(after_n + 1, last + 1))
        return [self._read(self._tables.messages[each]) for each in ids]

    def past(self, session_id: str, *, after_n: int, limit: int) -> tuple[Record, ...]:
        """See the port."""
        return tuple(self.session(session_id, after_n=after_n, limit=limit))

    def tail(self, session_id: str, limit: int) -> list[Record]:
        """See the port."""
        session = self._tables.sessions.get(session_id)
        return self.session(session_id, after_n=max(0, (session.last_n if session else 0) - limit))

    def turn(self, turn_id: str) -> list[Record]:
        """See the port."""
        return self._where(lambda each: each.turn_id == turn_id or each.id == turn_id)

    def open_calls(self, session_id: str) -> list[Record]:
        """See the port."""
        records = self.session(session_id)
        answered = {each.parent_id for each in records if each.kind == "tool_result"}
        return [each for each in records if each.kind == "tool_call" and each.id not in answered]

    def queued(self, session_id: str) -> list[Record]:
        """See the port."""
        return [each for each in self.all_queued() if each.session_id == session_id]

    def replacing(self, session_id: str) -> list[Record]:
        """See the port."""
        return [each for each in self.queued(session_id) if each.superseded_turn]

    def riders(self, session_id: str) -> list[Record]:
        """See the port."""
        return [each for each in self.queued(session_id) if each.mode != "followup"]

    def all_queued(self) -> list[Record]:
        """Every prompt in pending_agent, oldest first."""
        ids = sorted(self._tables.queue, key=lambda each: self._tables.queue[each])
        return [self._read(self._tables.messages[each]) for each in ids]

    def waiting(self, serving: Serving) -> list[Record]:
        """See the port."""
        return self._where(
            lambda each: (
                serving.covers(each.address)
                and (each.status is _S.PENDING or (each.status is _S.RESPONDED and each.message.type is not _TEXT))
            )
        )

    def last_said(self, address: Address, *, before: int | None = None) -> Record | None:
        """See the port."""
        said = self._where(
            lambda each: (
                each.address == address
                and isinstance(each.message.source, UserSource)
                and (before is None or each.seq < before)
            )
        )
        return max(said, key=lambda each: (self._tables.stored_at[each.id], each.seq), default=None)

    def load(self, address: Address, author_id: str | None, *, since: int, until: int, most: int) -> Load:
        """See the port."""

        def counts(record: Record) -> bool:
            prompt = record.status in INBOUND_STATUSES and record.kind in {"user_prompt", "system_note"}
            return prompt and record.address.chatbot_id == address.chatbot_id

        prompts = [each for each in self._tables.messages.values() if counts(each)]
        queued = [each for each in prompts if each.status is _S.PENDING_AGENT]
        lately = [each for each in prompts if since <= self._tables.stored_at[each.id] <= until]
        return Load(
            here=min(most, sum(each.address == address for each in queued)),
            total=len(queued),
            spoken=min(most, sum(each.address == address for each in lately)),
            said=min(most, sum(each.message.user_id == author_id is not None for each in lately)),
        )

    def _known(self, message: Message) -> Record:
        stored = self._tables.versions.get((message.id, message.version))
        if stored is None or stored.to_dict() != message.to_dict():
            raise DuplicateMessage(message_id=message.id)
        return self._read(self._must(message.id))

    def _next_n(self, session_id: str) -> int:
        session = self._tables.sessions.get(session_id)
        if session is None:
            raise conflict("a message needs a session", session_id)
        self._tables.sessions.put(session_id, replace(session, last_n=session.last_n + 1))
        return session.last_n + 1

    def _check(self, record: Record) -> None:
        self._check_role(record)
        if record.kind == "answer" and record.message.source.kind == "model" and record.turn_id is not None:
            self._unique("one final answer a turn", record, lambda each: each.turn_id == record.turn_id)
        if record.kind == "tool_result" and record.parent_id is not None:
            self._unique("one result a call", record, lambda each: each.parent_id == record.parent_id)

    def _unique(self, rule: str, record: Record, same: Callable[[Record], bool]) -> None:
        for each in self._tables.messages.values():
            alike = each.kind == record.kind and each.message.source.kind == record.message.source.kind
            if alike and each.superseded_by is None and same(each):
                raise conflict(rule, record.id)

    def _check_role(self, record: Record) -> None:
        if record.status not in _BY_ROLE.get(record.message.role, frozenset()):
            raise conflict("status by role", record.id)

    def _keep(self, message: Message) -> None:
        try:
            json.dumps(message.to_dict(), allow_nan=False).encode()
        except (TypeError, ValueError) as error:
            raise NotStorable(message_id=message.id, reason=str(error)) from error
        self._tables.versions.put((message.id, message.version), message)

    def _put(self, record: Record) -> None:
        self._tables.messages.put(record.id, record)
        if record.status is _S.PENDING_AGENT:
            self._tables.queue.put(record.id, record.seq)
        else:
            self._tables.queue.drop(record.id)

    def _must(self, message_id: str) -> Record:
        found = self._tables.messages.get(message_id)
        if found is None:
            raise UnknownMessage(message_id=message_id)
        return found

    def _where(self, wanted: Callable[[Record], bool]) -> list[Record]:
        return [self._read(each) for each in self._tables.messages.values() if wanted(each)]

    def _read(self, record: Record) -> Record:
        turn = self._tables.turns.get(record.turn_id or "")
        if turn is None or not turn.metrics or (record.kind, record.message.source.kind) != ("answer", "model"):
            return record
        return replace(record, facts=FrozenDict(turn_metrics=turn.metrics))


class MemoryEvents:
    """`EventLog` over a dict."""

    def __init__(self, tables: Tables) -> None:
        self._tables = tables
        self.read: Callable[[str], Record | None] = tables.messages.get

    def add(self, message_id: str, kind: ChangeKind, **facts: Any) -> None:
        """Append one entry."""
        seq = len(self._tables.events) + 1
        record = self._tables.messages[message_id]
        self._tables.events.put(seq, Change(seq=seq, kind=kind, record=record, **facts))

    def head(self) -> int:
        """See the port."""
        return len(self._tables.events)

    def after(self, cursor: int, limit: int) -> list[Change]:
        """See the port."""
        last = min(len(self._tables.events), cursor + limit)
        return [self._fresh(self._tables.events[seq]) for seq in range(max(cursor, 0) + 1, last + 1)]

    def of(self, message_id: str) -> list[Change]:
        """See the port."""
        return [self._fresh(each) for each in self._tables.events.values() if each.record.id == message_id]

    def _fresh(self, change: Change) -> Change:
        return replace(change, record=self.read(change.record.id) or change.record)
