"""Whether the processes of a run have work left: the end of a round waits until there is none."""

import json
import sqlite3
from collections.abc import Iterable
from contextlib import closing

from kesoku.adapter.state import scope_of
from kesoku.testing.crash.layout import Layout
from kesoku.testing.crash.platform import Platform

_OPEN = """
SELECT count(*) FROM messages AS said
WHERE status IN ('processing', 'pending') OR status = 'pending_agent' AND mode <> 'inject'
    OR status = 'responded' AND type <> 'text' AND NOT EXISTS (
        SELECT 1 FROM messages AS prompt WHERE prompt.id = said.turn_id AND prompt.status = 'interrupted'
    )
"""
"""What an interrupted turn left to be shown is never shown."""
_HELD = "SELECT count(*) FROM leases WHERE owner IS NOT NULL"
_POSITION = "SELECT value FROM state WHERE scope = ? AND key = 'position'"


def unfinished(layout: Layout, platforms: Iterable[Platform], cursor: int) -> bool:
    """Whether a prompt is not stored or not answered, an answer not delivered, a change not read up to `cursor`, or a
    lease still held."""
    with closing(sqlite3.connect(f"{layout.database.as_uri()}?mode=ro", uri=True)) as database:
        if any(database.execute(each).fetchone()[0] for each in (_OPEN, _HELD)) or _unread(database, layout, platforms):
            return True
        head = database.execute("SELECT max(seq) FROM events").fetchone()[0] or 0
        return bool(head > cursor)


def _unread(database: sqlite3.Connection, layout: Layout, platforms: Iterable[Platform]) -> bool:
    for bot in platforms:
        row = database.execute(_POSITION, (scope_of(bot),)).fetchone()
        if bot.journal(layout.journal(bot)).said(json.loads(row[0]) if row else 0):
            return True
    return False
