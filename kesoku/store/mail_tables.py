"""Mail between sessions: who has a mailbox, what was sent, and where each copy of it stands."""

from sqlalchemy import Column, ForeignKey, Index, Integer, Table, Text, UniqueConstraint, text

from kesoku.store.columns import METADATA, number, optional_text, text_column

owners = Table(
    "owners",
    METADATA,
    text_column("owner", primary_key=True),
    optional_text("session_id"),
    number("at"),
    Index("owners_of_session", "session_id", sqlite_where=text("session_id IS NOT NULL")),
)
"""A mailbox; that of a session names it."""

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
    number("attempts", server_default=text("0")),
    number("at"),
    UniqueConstraint("mail_id", "owner", "box"),
    Index("mail_entries_in_box", "owner", "box", "peer", "seq", sqlite_where=text("state = 'queued'")),
    Index("mail_entries_dead", "owner", "seq", sqlite_where=text("state = 'dead'")),
    sqlite_autoincrement=True,
)
"""One line in an outbox or an inbox; `peer` is the sender of what lies in an inbox. A dead letter says why."""
