"""To version 4: branches of a session, mail between sessions, and what event hooks could not deliver."""

from kesoku.store.engine import Link

_BRANCHES = (
    "CREATE TABLE branches (session_id TEXT NOT NULL, name TEXT NOT NULL, spans TEXT NOT NULL, forgotten "
    "TEXT NOT NULL, pinned TEXT NOT NULL, cleared TEXT, summary TEXT, cuts TEXT NOT NULL, at INTEGER NOT NULL, "
    "is_current INTEGER NOT NULL, "
    "PRIMARY KEY (session_id, name))",
    "CREATE UNIQUE INDEX branches_current ON branches (session_id) WHERE is_current = 1",
    "CREATE TABLE requests (digest TEXT NOT NULL, body TEXT NOT NULL, PRIMARY KEY (digest))",
)
"""See branch_tables.py."""

_MAIL = (
    "CREATE TABLE owners (n INTEGER NOT NULL, owner TEXT NOT NULL, session_id TEXT, capacity INTEGER, at INTEGER NOT "
    "NULL, left_at INTEGER, PRIMARY KEY (n), UNIQUE (owner))",
    "CREATE INDEX owners_of_session ON owners (session_id) WHERE session_id IS NOT NULL AND left_at IS NULL",
    "CREATE INDEX owners_open ON owners (n) WHERE left_at IS NULL",
    "CREATE TABLE aliases (name TEXT NOT NULL, owner TEXT NOT NULL, PRIMARY KEY (name))",
    "CREATE TABLE mail (id TEXT NOT NULL, body TEXT NOT NULL, at INTEGER NOT NULL, PRIMARY KEY (id))",
    "CREATE TABLE mail_entries (seq INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT, mail_id TEXT NOT NULL, "
    "owner TEXT NOT NULL, peer TEXT NOT NULL, box TEXT NOT NULL, state TEXT NOT NULL, reason TEXT, error TEXT, "
    "attempts INTEGER DEFAULT 0 NOT NULL, at INTEGER NOT NULL, UNIQUE (mail_id, owner, box, peer), FOREIGN "
    "KEY(mail_id) REFERENCES mail (id) ON DELETE CASCADE)",
    "CREATE INDEX mail_entries_dead ON mail_entries (owner, seq) WHERE state = 'dead'",
    "CREATE INDEX mail_entries_in_box ON mail_entries (box, owner, peer, seq) WHERE state = 'queued'",
)
"""See mail_tables.py."""

_HOOKS = (
    "CREATE TABLE hook_failures (hook TEXT NOT NULL, event_seq INTEGER NOT NULL, message_id TEXT NOT "
    "NULL, attempts INTEGER NOT NULL, next_at INTEGER, error TEXT NOT NULL, at INTEGER NOT NULL, PRIMARY "
    "KEY (hook, event_seq))",
    "CREATE INDEX hook_failures_due ON hook_failures (hook, next_at) WHERE next_at IS NOT NULL",
)
"""See hook_tables.py."""


def add_rooms(link: Link) -> None:
    """Make the tables; what is stored stays as it is."""
    for statement in (*_BRANCHES, *_MAIL, *_HOOKS):
        link.script(statement)
