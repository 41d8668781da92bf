"""What event hooks could not deliver yet."""

from sqlalchemy import Column, Index, Integer, PrimaryKeyConstraint, Table, text

from kesoku.store.columns import METADATA, number, text_column

hook_failures = Table(
    "hook_failures",
    METADATA,
    text_column("hook"),
    number("event_seq"),
    text_column("message_id"),
    number("attempts"),
    Column("next_at", Integer),
    text_column("error"),
    number("at"),
    PrimaryKeyConstraint("hook", "event_seq"),
    Index("hook_failures_due", "hook", "next_at", sqlite_where=text("next_at IS NOT NULL")),
)
"""One event that a hook failed to take; `next_at` is when it is tried again, NULL once it was given up."""
