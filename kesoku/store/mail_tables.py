"""Mail between sessions: who has a mailbox, what was sent, and where each copy of it stands."""

from enum import StrEnum

from sqlalchemy import Column, ForeignKey, Index, Integer, Table, Text, UniqueConstraint, text

from kesoku.store.columns import METADATA, number, optional_text, text_column


class Box(StrEnum):
    """Where a line stands."""

    OUT = "outbox"
    IN = "inbox"


class Lying(StrEnum):
    """What has become of it."""

    QUEUED = "queued"
    DEAD = "dead"
    TAKEN = "taken"


owners = Table(
    "owners",
    METADATA,
    Column("n", Integer, primary_key=True),
    text_column("owner", unique=True),
    optional_text("session_id"),
    Column("capacity", Integer),
    number("at"),
    Column("left_at", Integer),
    Index("owners_open", "n", sqlite_where=text("left_at IS NULL")),
    Index("owners_of_session", "session_id", sqlite_where=text("session_id IS NOT NULL AND left_at IS NULL")),
)
"""A mailbox; that of a session names it. Who has left is remembered."""

aliases = Table("aliases", METADATA, text_column("name", primary_key=True), text_column("owner"))
"""The address book."""

mail = Table("mail", METADATA, text_column("id", primary_key=True), text_column("body"), number("at"))
"""What was sent, once for all who get it."""

mail_entries = Table(
    "mail_entries",
    METADATA,
    Column("seq", Integer, primary_key=True),
    Column("mail_id", Text, ForeignKey("mail.id", ondelete="CASCADE"), nullable=False),
    text_column("owner"),
    text_column("peer"),
    text_column("box"),
    text_column("state"),
    optional_text("reason"),
    optional_text("error"),
    number("attempts", server_default=text("0")),
    number("at"),
    UniqueConstraint("mail_id", "owner", "box", "peer"),
    Index("mail_entries_in_box", "box", "owner", "peer", "seq", sqlite_where=text("state = 'queued'")),
    Index("mail_entries_dead", "owner", "seq", sqlite_where=text("state = 'dead'")),
    sqlite_autoincrement=True,
)
"""One line in an outbox or an inbox. `peer` is the sender of what lies in an inbox; in an outbox the one recipient that
is left of several, '' for those that the message names. State: queued, dead with a reason, or taken out of an inbox."""
