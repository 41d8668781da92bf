"""What the model reads of a session, and what else went into its requests."""

from sqlalchemy import Index, PrimaryKeyConstraint, Table, text

from kesoku.store.columns import METADATA, number, optional_text, text_column

branches = Table(
    "branches",
    METADATA,
    text_column("session_id"),
    text_column("name"),
    text_column("spans"),
    text_column("forgotten"),
    text_column("pinned"),
    optional_text("cleared"),
    optional_text("summary"),
    text_column("cuts"),
    number("at"),
    number("is_current"),
    PrimaryKeyConstraint("session_id", "name"),
    Index("branches_current", "session_id", unique=True, sqlite_where=text("is_current = 1")),
)
"""A session without a row has the one branch that holds all of it. Spans are pairs of `session_n`; None is open."""

requests = Table("requests", METADATA, text_column("digest", primary_key=True), text_column("body"))
"""System prompt, tools and response format of model requests, each once, under the hash that steps name."""
