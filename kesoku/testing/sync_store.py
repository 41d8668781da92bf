"""The SQL store without threads and loop: one operation, or one group, at a time. For tests and benchmarks."""

import sqlite3
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any, TypeVar, cast

from kesoku.ports import Transaction
from kesoku.store.committer import Committer, Job
from kesoku.store.engine import Database

T = TypeVar("T")

_FILL = (
    "CREATE TEMP TABLE n AS WITH RECURSIVE"
    " n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < {rows}) SELECT i FROM n",
    "INSERT INTO sessions SELECT 's' || value, 'o', '', 0, NULL, {rows}, {rows} FROM json_each('[0,1,2,3,4]')",
    "INSERT INTO messages SELECT i, 'm' || i, 's' || (i % 5), i, NULL, NULL, 0, 'b' || (i % 3), 'c' || (i % 7),"
    " 'user_prompt', 'user', 'text', CASE i % 50 WHEN 0 THEN 'pending_agent' ELSE 'processed' END, 'followup', 'Chii',"
    " 'u' || (i % 9), 'unset', 'unset', NULL, '{{\"kind\":\"user\"}}', 'user', '{{\"text\":\"hello\"}}', NULL, 1,"
    " NULL, NULL, NULL, 0, i FROM n",
    "INSERT INTO events SELECT i, i, 'm' || i, 'inserted', NULL, 'pending_agent', '', '' FROM n",
    "INSERT INTO deliveries SELECT i, 'm' || i, 'final', 0, 'b' || (i % 3), 'c' || (i % 7), '', '', '', 'sent',"
    " 1, 0, 0, '[]', NULL FROM n",
    "DROP TABLE n",
)


def job(operation: Callable[[Transaction], Any]) -> Job:
    """A job that nobody waits for."""
    return Job(operation=operation, future=cast("Any", None))


class SyncStore:
    """A committer and its file."""

    def __init__(self, path: Path, *, module: ModuleType = sqlite3, patience: float = 0.2) -> None:
        self.path = path
        self.database = Database(path, module=module, patience=patience)
        self.committer = Committer(self.database)
        self.link = self.committer.link

    def run(self, operation: Callable[[Transaction], T]) -> T:
        """Commit one operation, or raise what it raised."""
        only = job(operation)
        self.committer.commit([only])
        self.committer.checkpoint()
        if only.error is not None:
            raise only.error
        result: T = only.result
        return result

    def fill(self, rows: int) -> None:
        """Many messages of five sessions, three bots and seven channels, one in fifty of them queued, by SQL alone."""
        self.link.begin()
        for sql in _FILL:
            self.link.script(sql.format(rows=rows))
        self.link.commit()

    def close(self) -> None:
        """Close the file."""
        self.committer.close()
