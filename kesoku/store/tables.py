"""The tables of conversations: what is stored, what is unique, one partial index for each status that is looked for.

Times are integer microseconds since 1970. Columns that hold JSON are text. SQLite uses an index on one status only for
that very status, so the literal stands in the index and in the statement (`equals`).
"""

from sqlalchemy import (
    CheckConstraint,
    Column,
    ForeignKey,
    Index,
    Integer,
    PrimaryKeyConstraint,
    Table,
    Text,
    UniqueConstraint,
    text,
)

from kesoku.messages.enums import INBOUND_STATUSES, MessageRole, MessageStatus, MessageType
from kesoku.messages.lifecycle import ChangeKind, DeliveryState, Purpose
from kesoku.store.columns import METADATA, number, optional_text, text_column

_S = MessageStatus
_STATUSES = {
    MessageRole.USER: INBOUND_STATUSES,
    MessageRole.SYSTEM: INBOUND_STATUSES | {_S.RESPONDED, _S.DELIVERED},
    MessageRole.ASSISTANT: frozenset({_S.PENDING, _S.DELIVERED, _S.RESPONDED, _S.ERROR}),
    MessageRole.TOOL: frozenset({_S.RESPONDED, _S.DELIVERED, _S.INTERRUPTED}),
}
"""The statuses that a message of each role may have, all of its life."""


def _any_of(values: frozenset[MessageStatus] | type[MessageType] | type[ChangeKind]) -> str:
    return ", ".join(sorted(f"'{value.value}'" for value in values))


sessions = Table(
    "sessions",
    METADATA,
    text_column("id", primary_key=True),
    text_column("owner"),
    text_column("title"),
    number("created_at"),
    Column("ended_at", Integer),
    number("last_n", server_default=text("0")),
    number("last_seq", server_default=text("0")),
)
"""`last_n` counts the messages of a session, `last_seq` orders the sessions by their latest one."""

bindings = Table(
    "bindings",
    METADATA,
    text_column("chatbot_id"),
    text_column("channel_id"),
    text_column("session_id"),
    PrimaryKeyConstraint("chatbot_id", "channel_id"),
    Index("bindings_of_session", "session_id"),
)

messages = Table(
    "messages",
    METADATA,
    Column("seq", Integer, primary_key=True),
    text_column("id", unique=True),
    text_column("session_id"),
    number("session_n"),
    optional_text("parent_id"),
    optional_text("turn_id"),
    number("round"),
    text_column("chatbot_id"),
    text_column("channel_id"),
    text_column("kind"),
    text_column("role"),
    text_column("type"),
    text_column("status"),
    text_column("mode"),
    text_column("author"),
    optional_text("author_id"),
    optional_text("sender"),
    optional_text("recipient"),
    optional_text("mail_channel"),
    text_column("source"),
    text_column("source_kind"),
    text_column("content"),
    optional_text("metadata"),
    number("version"),
    optional_text("superseded_turn"),
    optional_text("superseded_by"),
    optional_text("response_id"),
    number("created_at"),
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

queues = Table("queues", METADATA, text_column("chatbot_id", primary_key=True), number("length"))
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
    number("version"),
    text_column("body"),
    PrimaryKeyConstraint("id", "version"),
)

external_ids = Table(
    "external_ids",
    METADATA,
    text_column("chatbot_id"),
    text_column("key"),
    optional_text("message_id", ForeignKey("messages.id", ondelete="SET NULL")),
    PrimaryKeyConstraint("chatbot_id", "key"),
    Index("external_ids_of_message", "message_id"),
)

leases = Table(
    "leases",
    METADATA,
    text_column("session_id", primary_key=True),
    optional_text("message_id"),
    optional_text("owner"),
    number("generation"),
    number("failures"),
    number("claimed_at"),
    number("lease_until"),
    Index("leases_held", "owner", "failures", sqlite_where=text("owner IS NOT NULL")),
)
"""`failures` are those of the turn when it was claimed, which stay as they are while it runs: `leases_held` knows the
most of an owner, however much runs."""

turns = Table(
    "turns",
    METADATA,
    text_column("turn_id", primary_key=True),
    optional_text("session_id"),
    text_column("prompt_ids"),
    optional_text("metrics"),
    number("failures", server_default=text("0")),
    Index("turns_finished", "session_id", sqlite_where=text("metrics IS NOT NULL")),
    Index("turns_of_session", "session_id"),
)
"""`failures` counts the crashes that a turn is charged with."""

steps = Table(
    "steps",
    METADATA,
    text_column("turn_id"),
    number("n"),
    text_column("request"),
    text_column("reply"),
    text_column("usage"),
    number("at"),
    text_column("model", server_default=text("''")),
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
    text_column("purpose"),
    number("part"),
    text_column("chatbot_id"),
    text_column("channel_id"),
    text_column("body"),
    text_column("hash"),
    text_column("send_key"),
    text_column("state"),
    number("attempts"),
    Column("first_sent_at", Integer),
    Column("next_attempt_at", Integer),
    text_column("platform_ids"),
    optional_text("error"),
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
    number("at"),
    Column("message_id", Text, ForeignKey("messages.id", ondelete="CASCADE"), nullable=False),
    text_column("kind"),
    optional_text("before"),
    optional_text("after"),
    text_column("actor"),
    text_column("reason"),
    CheckConstraint(f"kind IN ({_any_of(ChangeKind)})", name="kind"),
    Index("events_of_message", "message_id"),
    sqlite_autoincrement=True,
)

questions = Table(
    "questions",
    METADATA,
    Column("seq", Integer, primary_key=True),
    text_column("id", unique=True),
    text_column("turn_id"),
    text_column("chatbot_id"),
    text_column("channel_id"),
    text_column("question"),
    text_column("purpose"),
    text_column("who"),
    optional_text("answer"),
    optional_text("answered_by"),
    Column("answered_at", Integer),
    Index("questions_open", "chatbot_id", "channel_id", sqlite_where=text("answer IS NULL")),
)

state = Table(
    "state",
    METADATA,
    text_column("scope"),
    text_column("key"),
    text_column("value"),
    PrimaryKeyConstraint("scope", "key"),
)
