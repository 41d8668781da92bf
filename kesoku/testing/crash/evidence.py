"""All that is known about a run, in one place for SQL: the database with its audit, the traces, and the journals.

Processes go on writing meanwhile, so the order of reading matters. Traces and journals are read before the snapshot of
the database, so that what they acknowledge must be in it, and once more behind it, marked `late`, for what the database
already shows.
"""

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from kesoku.adapter.part import EXTRA
from kesoku.adapter.sender import BLIND
from kesoku.gateway.policy import FAILURES
from kesoku.testing.crash.layout import Layout
from kesoku.testing.crash.schema import (
    ADD_ALLOWED,
    ADD_ENTRY,
    ADD_TRACE,
    ALLOWED,
    FACTS,
    LOG,
    MARKS,
    SCRIPT,
    STORY,
)
from kesoku.testing.crash.trace import Traces

_CONSTANTS = {"failures": FAILURES, "extra": EXTRA, "blind": f"{BLIND}%"}
_LINES = 60
"""Lines of a story at most."""


@dataclass(frozen=True, slots=True)
class Snapshot:
    """One consistent state of everything. `params` are for queries: how far the snapshot before came, and constants."""

    db: sqlite3.Connection
    params: dict[str, Any]

    def rows(self, query: str, **params: Any) -> list[dict[str, Any]]:
        """What a query finds; the tables of the product, of the audit and of `schema` go by their names."""
        cursor = self.db.execute(query, self.params | params)
        names = [each[0] for each in cursor.description]
        return [dict(zip(names, row, strict=True)) for row in cursor]

    def story(self, message_id: str) -> str:
        """Everything that happened to a message, with the times in seconds and who did it."""
        lines = [
            f"    {(row['t'] or 0) / 1e9:.4f} {row['who']}: {row['fact']}" for row in self.rows(STORY, id=message_id)
        ]
        lines += [f"    {row['fact']}" for row in self.rows(LOG, id=message_id)]
        rest = [f"    and {len(lines) - _LINES} more"] if len(lines) > _LINES else []
        return "\n".join([*lines[:_LINES], *rest])


@dataclass(slots=True, eq=False)
class Evidence:
    """Reads on with every snapshot."""

    layout: Layout
    _db: sqlite3.Connection = field(init=False)
    _traces: Traces = field(init=False)
    _journals: Traces = field(init=False)
    _positions: dict[str, int] = field(init=False, default_factory=dict)
    _marks: dict[str, int] = field(init=False, default_factory=lambda: {"audit": 0, "leases": 0, "trace": 0})

    def __post_init__(self) -> None:
        self._traces, self._journals = Traces(self.layout.traces), Traces(self.layout.platforms)
        self._db = sqlite3.connect(":memory:", isolation_level=None)
        self._db.execute("ATTACH ? AS kesoku", (str(self.layout.database),))
        self._db.executescript(SCRIPT)
        self._db.executemany(ADD_ALLOWED, ALLOWED)

    def close(self) -> None:
        """Let go of the database."""
        self._db.close()

    @contextmanager
    def snapshot(self) -> Iterator[Snapshot]:
        """Read what is new and hold one snapshot meanwhile."""
        self._db.execute("UPDATE trace SET late = 0 WHERE late")
        self._db.execute("UPDATE journal SET late = 0 WHERE late")
        self._read_on(late=0)
        with self._db:
            self._db.execute("BEGIN")
            self._db.execute("SELECT max(seq) FROM messages").fetchone()
            self._read_on(late=1)
            snapshot = Snapshot(self._db, _CONSTANTS | self._marks)
            yield snapshot
            (self._marks,) = snapshot.rows(MARKS)

    def _read_on(self, *, late: int) -> None:
        for actor, entry in self._traces.news():
            facts = {name: entry.get(name) for name in FACTS}
            self._db.execute(ADD_TRACE, facts | {"late": late, "actor": actor, "t": entry["t"], "op": entry["op"]})
        for bot, entry in self._journals.news():
            position = self._positions.get(bot, 0)
            self._positions[bot] = position + 1
            facts = {name: entry.get(name) for name in ("op", "key", "id", "channel")}
            self._db.execute(ADD_ENTRY, facts | {"late": late, "bot": bot, "position": position})
