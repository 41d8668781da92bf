"""The tables of version 3: what is stored, what is unique, and one partial index for each status that is looked for.

Times are integer microseconds since 1970. Columns that hold JSON are text. SQLite uses an index on one status only for
that very status, so the literal stands in the index and in the statement (`equals`).
"""

from sqlalchemy import (
    CheckConstraint,
    Column,
    ColumnElement,
    ForeignKey,
    Index,
    Integer,
    MetaData,
    PrimaryKeyConstraint,
    Table,
    Text,
    UniqueConstraint,
    literal_column,
    text,
)

from kesoku.messages.enums import INBOUND_STATUSES, MessageRole, MessageStatus, MessageType
from kesoku.messages.lifecycle import ChangeKind, DeliveryState, Purpose

METADATA = MetaData()
_S = MessageStatus
_STATUSES = {
    MessageRole.USER: INBOUND_STATUSES,
    MessageRole.SYSTEM: INBOUND_STATUSES | {_S.RESPONDED, _S.DELIVERED},
    MessageRole.ASSISTANT: frozenset({_S.PENDING, _S.DELIVERED, _S.RESPONDED, _S.ERROR}),
    MessageRole.TOOL: frozenset({_S.RESPONDED, _S.DELIVERED, _S.INTERRUPTED}),
}
"""The statuses that a message of each role may have, all of its life."""


def equals(column: ColumnElement[str], value: str) -> ColumnElement[bool]:
    """`column = 'value'` with the value as a literal, so that a partial index is found. Only for words of our own."""
    return column == literal_column(f"'{value}'")


def _any_of(values: frozenset[MessageStatus] | type[MessageType] | type[ChangeKind]) -> str:
    return ", ".join(sorted(f"'{value.value}'" for value in values))


def _column(name: str, **options: object) -> Column[str]:
    return Column(name, Text, nullable=False, **options)  # type: ignore[arg-type]


def _optional(name: str, *rest: ForeignKey) -> Column[str | None]:
    return Column(name, Text, *rest, nullable=True)


def _number(name: str, **options: object) -> Column[int]:
    return Column(name, Integer, nullable=False, **options)  # type: ignore[arg-type]


sessions = Table(
    "sessions",
    METADATA,
    _column("id", primary_key=True),
    _column("owner"),
    _column("title"),
    _number("created_at"),
    Column("ended_at", Integer),
    _number("last_n", server_default=text("0")),
    _number("last_seq", server_default=text("0")),
)
"""`last_n` counts the messages of a session, `last_seq` orders the sessions by their latest one."""

bindings = Table(
    "bindings",
    METADATA,
    _column("chatbot_id"),
    _column("channel_id"),
    _column("session_id"),
    PrimaryKeyConstraint("chatbot_id", "channel_id"),
    Index("bindings_of_session", "session_id"),
)

messages = Table(
    "messages",
    METADATA,
    Column("seq", Integer, primary_key=True),
    _column("id", unique=True),
    _column("session_id"),
    _number("session_n"),
    _optional("parent_id"),
    _optional("turn_id"),
    _number("round"),
    _column("chatbot_id"),
    _column("channel_id"),
    _column("kind"),
    _column("role"),
    _column("type"),
    _column("status"),
    _column("mode"),
    _column("author"),
    _optional("author_id"),
    _optional("sender"),
    _optional("recipient"),
    _optional("mail_channel"),
    _column("source"),
    _column("source_kind"),
    _column("content"),
    _optional("metadata"),
    _number("version"),
    _optional("superseded_turn"),
    _optional("superseded_by"),
    _optional("response_id"),
    _number("created_at"),
    Column("accepted_at", Integer),
    UniqueConstraint("session_id", "session_n"),
    CheckConstraint(
        " OR ".join(f"role = '{role}' AND status IN ({_any_of(statuses)})" for role, statuses in _STATUSES.items()),
        name="status_of_role",
    ),
    CheckConstraint(f"type IN ({_any_of(MessageType)})", name="type"),
    # A deleted newest seq must never come again: a cursor would miss the next message.
    sqlite_autoincrement=True,
)
"""Identity, placement, status and the current body. `author_id`, `source_kind` and `response_id` repeat what source
and content say, for indexes. `created_at` is when a message was made, `accepted_at` when one that starts in
pending_agent was stored, which admission counts."""

_m = messages.c
Index("messages_final_answer", _m.turn_id, unique=True, sqlite_where=text("kind = 'answer' AND source_kind = 'model'"))
Index(
    "messages_live_result",
    _m.parent_id,
    unique=True,
    sqlite_where=text("kind = 'tool_result' AND superseded_by IS NULL"),
)
Index("messages_of_turn", _m.turn_id, sqlite_where=text("turn_id IS NOT NULL"))
Index("messages_queued_in_session", _m.session_id, _m.chatbot_id, sqlite_where=text("status = 'pending_agent'"))
Index(
    "messages_queued_replacing",
    _m.session_id,
    sqlite_where=text("status = 'pending_agent' AND superseded_turn IS NOT NULL"),
)
Index("messages_queued_riders", _m.session_id, sqlite_where=text("status = 'pending_agent' AND mode <> 'followup'"))
Index("messages_queued_for_bot", _m.chatbot_id, sqlite_where=text("status = 'pending_agent'"))
Index("messages_queued_in_channel", _m.chatbot_id, _m.channel_id, sqlite_where=text("status = 'pending_agent'"))
Index("messages_processing", _m.status, sqlite_where=text("status = 'processing'"))
Index("messages_pending", _m.chatbot_id, _m.channel_id, sqlite_where=text("status = 'pending'"))
Index("messages_unseen", _m.chatbot_id, _m.channel_id, sqlite_where=text("status = 'responded' AND type <> 'text'"))
Index(
    "messages_open_call", _m.session_id, _m.session_n, sqlite_where=text("kind = 'tool_call' AND response_id IS NULL")
)
Index(
    "messages_accepted_in_channel",
    _m.chatbot_id,
    _m.channel_id,
    _m.accepted_at,
    sqlite_where=text("accepted_at IS NOT NULL"),
)
Index(
    "messages_accepted_of_author",
    _m.chatbot_id,
    _m.author_id,
    _m.accepted_at,
    sqlite_where=text("accepted_at IS NOT NULL AND author_id IS NOT NULL"),
)

queues = Table("queues", METADATA, _column("chatbot_id", primary_key=True), _number("length"))
"""How many prompts of each bot wait: to count a long queue for each new prompt would be slow."""

_QUEUED = "{row}.status = 'pending_agent'"
_OLD, _NEW = _QUEUED.format(row="OLD"), _QUEUED.format(row="NEW")


def _resizing(name: str, event: str, when: str, row: str, by: str) -> str:
    """A trigger that changes the length of a queue; a queue that is not there yet has none."""
    resize = f"INSERT INTO queues VALUES ({row}.chatbot_id, {by}) ON CONFLICT DO UPDATE SET length = length + {by}"  # noqa: S608 - words of our own
    return f"CREATE TRIGGER {name} AFTER {event} ON messages WHEN {when} BEGIN {resize}; END"


TRIGGERS = (
    _resizing("queues_enter", "INSERT", _NEW, "NEW", "1"),
    _resizing("queues_return", "UPDATE OF status", f"{_NEW} AND NOT {_OLD}", "NEW", "1"),
    _resizing("queues_leave", "UPDATE OF status", f"{_OLD} AND NOT {_NEW}", "OLD", "-1"),
    _resizing("queues_forget", "DELETE", _OLD, "OLD", "-1"),
)
"""What keeps `queues`, whoever changes a message."""

message_versions = Table(
    "message_versions",
    METADATA,
    Column("id", Text, ForeignKey("messages.id", ondelete="CASCADE"), nullable=False),
    _number("version"),
    _column("body"),
    PrimaryKeyConstraint("id", "version"),
)

external_ids = Table(
    "external_ids",
    METADATA,
    _column("chatbot_id"),
    _column("key"),
    _optional("message_id", ForeignKey("messages.id", ondelete="SET NULL")),
    PrimaryKeyConstraint("chatbot_id", "key"),
    Index("external_ids_of_message", "message_id"),
)

leases = Table(
    "leases",
    METADATA,
    _column("session_id", primary_key=True),
    _optional("message_id"),
    _optional("owner"),
    _number("generation"),
    _number("failures"),
    _number("claimed_at"),
    _number("lease_until"),
    Index("leases_held", "owner", "failures", sqlite_where=text("owner IS NOT NULL")),
)
"""`failures` are those of the turn when it was claimed, which stay as they are while it runs: `leases_held` knows the
most of an owner, however much runs."""

turns = Table(
    "turns",
    METADATA,
    _column("turn_id", primary_key=True),
    _optional("session_id"),
    _column("prompt_ids"),
    _optional("metrics"),
    _number("failures", server_default=text("0")),
    Index("turns_finished", "session_id", sqlite_where=text("metrics IS NOT NULL")),
    Index("turns_of_session", "session_id"),
)
"""`failures` counts the crashes that a turn is charged with."""

steps = Table(
    "steps",
    METADATA,
    _column("turn_id"),
    _number("n"),
    _column("request"),
    _column("reply"),
    _column("usage"),
    _number("at"),
    _column("model", server_default=text("''")),
    Column("cost", Integer),
    PrimaryKeyConstraint("turn_id", "n"),
    Index("steps_paid", "at", "cost", sqlite_where=text("cost IS NOT NULL")),
)
"""`model` is the configured name of the model that answered, `cost` is in nanodollars; `steps_paid` answers what was
spent since a time without a look at the rows."""

deliveries = Table(
    "deliveries",
    METADATA,
    Column("seq", Integer, primary_key=True),
    Column("message_id", Text, ForeignKey("messages.id", ondelete="CASCADE"), nullable=False),
    _column("purpose"),
    _number("part"),
    _column("chatbot_id"),
    _column("channel_id"),
    _column("body"),
    _column("hash"),
    _column("send_key"),
    _column("state"),
    _number("attempts"),
    Column("first_sent_at", Integer),
    Column("next_attempt_at", Integer),
    _column("platform_ids"),
    _optional("error"),
    UniqueConstraint("message_id", "purpose", "part"),
    Index("deliveries_live", "chatbot_id", "channel_id", sqlite_where=text(f"purpose = '{Purpose.LIVE}'")),
)

OPEN_STATES = (DeliveryState.PLANNED, DeliveryState.SENDING, DeliveryState.AMBIGUOUS, DeliveryState.HELD)
"""The states in which a part still needs somebody; each has its index, the others are read by message only."""
for _state in OPEN_STATES:
    Index(
        f"deliveries_{_state}",
        deliveries.c.chatbot_id,
        deliveries.c.channel_id,
        sqlite_where=text(f"state = '{_state}' AND purpose = '{Purpose.FINAL}'"),
    )

events = Table(
    "events",
    METADATA,
    Column("seq", Integer, primary_key=True),
    _number("at"),
    Column("message_id", Text, ForeignKey("messages.id", ondelete="CASCADE"), nullable=False),
    _column("kind"),
    _optional("before"),
    _optional("after"),
    _column("actor"),
    _column("reason"),
    CheckConstraint(f"kind IN ({_any_of(ChangeKind)})", name="kind"),
    Index("events_of_message", "message_id"),
    sqlite_autoincrement=True,
)

questions = Table(
    "questions",
    METADATA,
    Column("seq", Integer, primary_key=True),
    _column("id", unique=True),
    _column("turn_id"),
    _column("chatbot_id"),
    _column("channel_id"),
    _column("question"),
    _column("purpose"),
    _column("who"),
    _optional("answer"),
    _optional("answered_by"),
    Column("answered_at", Integer),
    Index("questions_open", "chatbot_id", "channel_id", sqlite_where=text("answer IS NULL")),
)

state = Table(
    "state",
    METADATA,
    _column("scope"),
    _column("key"),
    _column("value"),
    PrimaryKeyConstraint("scope", "key"),
)
