"""The audit: triggers in the database of a run record every change, with its writer and the lease at that moment.

The product does not know of them. The writer is the process that opened the connection.
"""

import sqlite3
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

STRANGER = ""
"""The name of a writer whose name in leases is not known."""

_TABLES = """
CREATE TABLE kit_schema AS SELECT name, sql FROM sqlite_schema;
CREATE TABLE kit_audit (
    seq INTEGER PRIMARY KEY, t INTEGER, who TEXT, what TEXT, message_id TEXT, session_id TEXT, turn_id TEXT,
    part INTEGER, before TEXT, after TEXT, owner TEXT, generation INTEGER, leased TEXT, others INTEGER
);
CREATE INDEX kit_audit_of_message ON kit_audit (message_id);
CREATE TABLE kit_leases (
    seq INTEGER PRIMARY KEY, t INTEGER, at INTEGER, who TEXT, session_id TEXT, old_owner TEXT, owner TEXT,
    old_generation INTEGER, generation INTEGER, old_message TEXT, message_id TEXT, old_until INTEGER, until INTEGER,
    old_failures INTEGER, failures INTEGER, status TEXT
);
CREATE INDEX kit_leases_of_session ON kit_leases (session_id);
CREATE INDEX kit_leases_of_owner ON kit_leases (old_owner);
CREATE INDEX kit_leases_of_message ON kit_leases (message_id);
"""
"""`t` is the machine's monotonic time in nanoseconds, as in the traces, `at` that of the kit's clock in microseconds.
`owner`, `generation` and `leased` are the lease of the session at that moment, `leased` the prompt that it is held for.
`others` counts prompts of other turns that run in the session, `status` is that of the prompt that loses the lease.
`failures` are the crashes of turn `message_id`, `old_failures` those when it was last looked at. `kit_schema` is what
the product made."""

_CHANGE = """
CREATE TRIGGER kit_{what} AFTER {event} BEGIN
    INSERT INTO kit_audit (
        t, who, what, message_id, session_id, turn_id, part, before, after, owner, generation, leased, others
    )
    SELECT kit_t(), whoami(), '{what}', {message}, place.session_id, {turn}, {part}, {before}, {after},
        lease.owner, lease.generation, lease.message_id, {others}
    FROM (SELECT {session} AS session_id) AS place LEFT JOIN leases AS lease ON lease.session_id = place.session_id;
END;
"""
_LEASE = """
CREATE TRIGGER kit_lease_{event} AFTER {event} ON leases BEGIN
    INSERT INTO kit_leases (
        t, at, who, session_id, old_owner, owner, old_generation, generation, old_message, message_id,
        old_until, until, old_failures, failures, status
    )
    VALUES (
        kit_t(), kit_now(), whoami(), NEW.session_id, {owner}, NEW.owner, {generation}, NEW.generation,
        {message}, NEW.message_id, {until}, NEW.lease_until,
        coalesce((SELECT failures FROM kit_leases WHERE message_id = NEW.message_id ORDER BY seq DESC LIMIT 1), 0),
        coalesce((SELECT failures FROM turns WHERE turn_id = NEW.message_id), 0),
        (SELECT status FROM messages WHERE id = {message})
    );
END;
"""
_MESSAGE = {
    "message": "NEW.id",
    "session": "NEW.session_id",
    "turn": "NEW.turn_id",
    "part": "NULL",
    "after": "NEW.status",
    "others": """(
        SELECT count(*) FROM messages AS other WHERE other.status = 'processing' AND NEW.status = 'processing'
            AND other.session_id = NEW.session_id AND other.turn_id IS NOT NEW.turn_id
    )""",
}
_PART = {
    "message": "NEW.message_id",
    "session": "(SELECT session_id FROM messages WHERE id = NEW.message_id)",
    "turn": "NULL",
    "part": "NEW.part",
    "after": "NEW.state",
    "others": "0",
}
_STEP = {
    "message": "NEW.turn_id",
    "session": "(SELECT session_id FROM messages WHERE id = NEW.turn_id)",
    "turn": "NEW.turn_id",
    "part": "NEW.n",
    "after": "NULL",
    "others": "0",
}
_CHANGES = (
    _MESSAGE | {"what": "stored", "event": "INSERT ON messages", "before": "NULL"},
    _MESSAGE
    | {
        "what": "moved",
        "event": "UPDATE OF status ON messages WHEN OLD.status <> NEW.status",
        "before": "OLD.status",
    },
    _PART | {"what": "planned", "event": "INSERT ON deliveries", "before": "NULL"},
    _PART
    | {
        "what": "carried",
        "event": "UPDATE OF state ON deliveries WHEN OLD.state <> NEW.state",
        "before": "OLD.state",
    },
    _STEP | {"what": "step", "event": "INSERT ON steps", "before": "NULL"},
)
_LEASES = (
    {
        "event": "UPDATE",
        "owner": "OLD.owner",
        "generation": "OLD.generation",
        "message": "OLD.message_id",
        "until": "OLD.lease_until",
    },
    {"event": "INSERT", "owner": "NULL", "generation": "0", "message": "NULL", "until": "0"},
)


def install(database: Path) -> None:
    """Put the tables and triggers into a database of the product that nobody writes to yet."""
    script = (_TABLES, *(_CHANGE.format(**each) for each in _CHANGES), *(_LEASE.format(**each) for each in _LEASES))
    with closing(sqlite3.connect(database)) as connection:
        connection.executescript("".join(script))


def identify(connection: Any, owner: str, now: Callable[[], int] = lambda: 0) -> None:
    """Say who writes on a connection of any driver with the interface of `sqlite3`; without it a write fails.

    `owner` is the name in leases of a process that takes some, any name for another one, and `STRANGER` if it is not
    known. `now` is the kit's clock in microseconds; where it says 0, nobody is judged by time.
    """
    connection.create_function("whoami", 0, lambda: owner)
    connection.create_function("kit_now", 0, now)
    connection.create_function("kit_t", 0, time.monotonic_ns)
