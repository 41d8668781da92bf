"""The version of the schema, kept in `user_version`, and the way from each version to the next.

A new file gets the current tables at once. An older one is brought up step by step, each step and its version number in
one transaction. A newer one is refused, untouched.
"""

from collections.abc import Callable
from functools import cache

from sqlalchemy.schema import CreateIndex, CreateTable

from kesoku.errors import StoreFailed, StoreForeign, StoreNewer
from kesoku.store import branch_tables, hook_tables, mail_tables  # noqa: F401 - their tables are part of METADATA
from kesoku.store.columns import METADATA
from kesoku.store.engine import Database, Link
from kesoku.store.lock import WriteLock
from kesoku.store.statement import DIALECT
from kesoku.store.tables import TRIGGERS
from kesoku.store.version_4 import add_rooms

Migration = Callable[[Link], None]


def _add_costs(link: Link) -> None:
    """To version 2: who answered a step, and what it cost."""
    link.script("ALTER TABLE steps ADD COLUMN model TEXT DEFAULT '' NOT NULL")
    link.script("ALTER TABLE steps ADD COLUMN cost INTEGER")
    link.script("CREATE INDEX steps_paid ON steps (at, cost) WHERE cost IS NOT NULL")
    link.script("CREATE INDEX turns_of_session ON turns (session_id)")


def _count(link: Link) -> None:
    """To version 3: how often each turn crashed, and how many prompts of each bot wait."""
    link.script("ALTER TABLE turns ADD COLUMN failures INTEGER DEFAULT 0 NOT NULL")
    link.script("UPDATE turns SET failures = l.failures FROM leases AS l WHERE l.message_id = turn_id")
    link.script("DROP INDEX leases_held")
    link.script("CREATE INDEX leases_held ON leases (owner, failures) WHERE owner IS NOT NULL")
    link.script("DROP INDEX messages_queued_of_author")
    link.script("CREATE TABLE queues (chatbot_id TEXT NOT NULL, length INTEGER NOT NULL, PRIMARY KEY (chatbot_id))")
    link.script(
        "INSERT INTO queues SELECT chatbot_id, count(*) FROM messages WHERE status = 'pending_agent' GROUP BY 1"
    )
    old, new = "OLD.status = 'pending_agent'", "NEW.status = 'pending_agent'"
    for name, event, when, row, by in (
        ("enter", "INSERT", new, "NEW", "1"),
        ("return", "UPDATE OF status", f"{new} AND NOT {old}", "NEW", "1"),
        ("leave", "UPDATE OF status", f"{old} AND NOT {new}", "OLD", "-1"),
        ("forget", "DELETE", old, "OLD", "-1"),
    ):
        resize = f"INSERT INTO queues VALUES ({row}.chatbot_id, {by}) ON CONFLICT DO UPDATE SET length = length + {by}"  # noqa: S608 - words of our own
        link.script(f"CREATE TRIGGER queues_{name} AFTER {event} ON messages WHEN {when} BEGIN {resize}; END")


MIGRATIONS: tuple[Migration, ...] = (_add_costs, _count, add_rooms)
"""Number i brings version i + 1 to version i + 2. The tables of tables.py are always those of the last version; a
migration says in its own words what it does, for those tables go on changing."""

APPLICATION_ID = 0x4B657361
"""Marks a file as Kesoku's, in SQLite's header field for it."""


def prepare(
    database: Database, link: Link, write_lock: WriteLock, migrations: tuple[Migration, ...] = MIGRATIONS
) -> None:
    """Make the file a database of the known version in WAL mode.

    Raises:
        StoreForeign: the file has tables, but they are not ours.
        StoreNewer: the file was written by a newer Kesoku.
    """
    known = len(migrations) + 1
    if _version(database, link, known) == known and _journal(link) == "wal":
        return
    with write_lock:
        # Another process may have done it while this one waited.
        version = _version(database, link, known)
        if _journal(link, " = WAL") != "wal":
            raise StoreFailed(path=database.path, reason="this file system does not support SQLite's WAL mode")
        if version < known:
            _raise_from(version, link, migrations)


def _raise_from(version: int, link: Link, migrations: tuple[Migration, ...]) -> None:
    link.begin()
    try:
        if version == 0:
            link.script(f"PRAGMA application_id = {APPLICATION_ID}")
            _create(link)
        else:
            for migration in migrations[version - 1 :]:
                migration(link)
        link.script(f"PRAGMA user_version = {len(migrations) + 1}")
        link.commit()
    finally:
        link.rollback()


def _create(link: Link) -> None:
    for sql in _schema():
        link.script(sql)


@cache
def _schema() -> tuple[str, ...]:
    """The SQL of a new file; to write it takes longer than to run it."""
    made: list[CreateTable | CreateIndex] = []
    for table in METADATA.sorted_tables:
        made.append(CreateTable(table))
        made += map(CreateIndex, sorted(table.indexes, key=lambda each: str(each.name)))
    return (*(str(each.compile(dialect=DIALECT)) for each in made), *TRIGGERS)


def _version(database: Database, link: Link, known: int) -> int:
    link.script("BEGIN")  # one snapshot: another process may make the tables between two reads
    try:
        version = _pragma(link, "user_version")
        ours = _pragma(link, "application_id") == APPLICATION_ID
        filled = bool(link.script("SELECT 1 FROM sqlite_schema LIMIT 1"))
    finally:
        link.rollback()
    if not ours and (version or filled):
        raise StoreForeign(path=database.path)
    if version > known:
        raise StoreNewer(path=database.path, found=version, known=known)
    return version


def _pragma(link: Link, name: str) -> int:
    return int(link.script(f"PRAGMA {name}")[0][0])


def _journal(link: Link, change: str = "") -> str:
    return str(link.script(f"PRAGMA journal_mode{change}")[0][0])
