"""Connections to one database file: WAL, synchronous FULL, explicit transactions, no automatic checkpoint.

SQLAlchemy writes the SQL and the driver runs it: one insert through SQLAlchemy's own connection takes half as long
again. Transactions are begun here, because the driver's own idea of them (a deferred begin) fails at once when two
processes write.
"""

import contextlib
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

from kesoku.errors import StoreCorrupt, StoreError, StoreFailed, StoreFull, StoreOutdated, StoreReadOnly
from kesoku.store.failure import Failures
from kesoku.store.lock import WriteLock
from kesoku.store.statement import Statement

OLDEST = (3, 35, 0)
"""The first SQLite with RETURNING, an upsert without a target, and ALTER TABLE DROP COLUMN."""
PRAGMAS = (
    "synchronous = FULL",
    "foreign_keys = ON",
    "wal_autocheckpoint = 0",
    "mmap_size = 0",
    f"journal_size_limit = {64 * 1024 * 1024}",
)
"""What every connection is told first."""
_USED_UP = "SELECT name FROM sqlite_sequence WHERE seq >= 9223372036854775807"
"""SQLite calls this a full disk, too. No file comes so far by itself."""
_NO_TEXT = "Could not decode to UTF-8"
"""What Python's driver says of such a cell, as one flipped bit or a careless program leaves it."""
_STATEMENT_WEIGHT = 1024
"""Bytes: what one change adds to the log apart from its body; measured, most pages are shared with other changes."""

Row = tuple[Any, ...]


def storable(value: Any) -> Any:
    """Text that UTF-8 cannot say (lone surrogates) as bytes; the same text always gives the same bytes."""
    if isinstance(value, str):
        try:
            value.encode()
        except UnicodeEncodeError:
            return value.encode("utf-8", "surrogatepass")
    return value


def plain(value: Any) -> Any:
    """What `storable` made out of text, as text again; other bytes were put there by somebody else."""
    if type(value) is bytes:
        try:
            return value.decode("utf-8", "surrogatepass")
        except UnicodeDecodeError:
            return value.decode("utf-8", "replace")
    return value


def _text_or_bytes(cell: bytes) -> str | bytes:
    try:
        return cell.decode()
    except UnicodeDecodeError:
        return cell


class Link:
    """One connection, used by one thread. `weight` estimates the bytes that this transaction has written, `touched`
    says where it changed sessions: at the session_n of the first row."""

    def __init__(self, raw: Any, *, failures: Failures, readonly: bool) -> None:
        self._raw, self._failures, self._readonly = raw, failures, readonly
        self.weight = 0
        self.touched: dict[str, int] = {}
        self._unshredded: int | None = None
        self.since: int | None = None
        """Of a reader: how many commits of this process were known when the transaction began."""

    def touch(self, session_id: str, n: int) -> None:
        """Note that a row of a session changes."""
        self.touched[session_id] = min(n, self.touched.get(session_id, n))

    def rows(self, statement: Statement, **params: Any) -> list[Row]:
        """Run a statement that returns rows, all of them. What is marked as text and is none comes as bytes."""
        try:
            return self._fetch(statement, params)
        except StoreFailed as error:
            if _NO_TEXT not in error.reason:
                raise
        self._raw.text_factory = _text_or_bytes  # not always: it makes reading slow
        try:
            return self._fetch(statement, params)
        finally:
            self._raw.text_factory = str

    def row(self, statement: Statement, **params: Any) -> Row | None:
        """The first row, or None."""
        rows = self.rows(statement, **params)
        return rows[0] if rows else None

    def change(self, statement: Statement, **params: Any) -> int:
        """Run a statement that writes and returns no rows; how many rows it touched."""
        return int(self._run(self._weigh(statement, params), params).rowcount)

    def change_rows(self, statement: Statement, **params: Any) -> list[Row]:
        """Run a statement that writes and returns rows."""
        return self.rows(self._weigh(statement, params), **params)

    def change_row(self, statement: Statement, **params: Any) -> Row | None:
        """Run a statement that writes and returns at most one row."""
        rows = self.change_rows(statement, **params)
        return rows[0] if rows else None

    def script(self, sql: str) -> list[Row]:
        """Run SQL that is no statement of the tables, such as a pragma."""
        with self._failures:
            return list(self._raw.execute(sql).fetchall())

    def define(self, name: str, function: Callable[[Any], Any]) -> None:
        """Give SQL a function of one argument."""
        with self._failures:
            self._raw.create_function(name, 1, function, deterministic=True)

    @contextlib.contextmanager
    def patient(self, milliseconds: int) -> Iterator[None]:
        """Wait so long for other connections, and no longer."""
        ((usual,),) = self.script("PRAGMA busy_timeout")
        self.script(f"PRAGMA busy_timeout = {milliseconds}")
        try:
            yield
        finally:
            self.script(f"PRAGMA busy_timeout = {usual}")

    @property
    def path(self) -> Path:
        """The file."""
        return self._failures.path

    @property
    def log_size(self) -> int:
        """Bytes of the write-ahead log as a file, which is never opened: to close it would drop locks of SQLite."""
        with self._failures:
            return self.path.with_name(f"{self.path.name}-wal").stat().st_size

    @property
    def changes(self) -> int:
        """How many rows this connection has inserted, updated and deleted, since it was opened."""
        return int(self._raw.total_changes)

    def shred(self) -> None:
        """From here to the next transaction, overwrite with zeros what is freed in the file."""
        if self._unshredded is None:
            ((self._unshredded,),) = self.script("PRAGMA secure_delete")
            self.script("PRAGMA secure_delete = ON")

    def begin(self) -> None:
        """Start a transaction: of a writer at once with the write lock, of a reader on the next read's snapshot."""
        self.weight, self.touched = 0, {}
        if self._unshredded is not None:
            usual, self._unshredded = self._unshredded, None
            self.script(f"PRAGMA secure_delete = {('OFF', 'ON', 'FAST')[usual]}")
        self.script("BEGIN" if self._readonly else "BEGIN IMMEDIATE")

    def commit(self) -> None:
        """End the transaction; on return it is durable."""
        self.script("COMMIT")

    def rollback(self) -> None:
        """Undo the transaction. SQLite may have done so already, for instance on a full disk."""
        if self._raw.in_transaction:
            self.script("ROLLBACK")

    def close(self) -> None:
        """Close the connection; the last one of a file checkpoints the log."""
        with self._failures:
            self._raw.close()

    def _fetch(self, statement: Statement, params: dict[str, Any]) -> list[Row]:
        with self._failures:
            rows: list[Row] = self._run(statement, params).fetchall()
            return rows

    def _run(self, statement: Statement, params: dict[str, Any]) -> Any:
        params.update(statement.defaults)
        try:
            with self._failures:
                try:
                    return self._raw.execute(statement.sql, params)
                except UnicodeEncodeError:
                    return self._raw.execute(statement.sql, {name: storable(value) for name, value in params.items()})
        except StoreFull as error:
            if used_up := self.script(_USED_UP):
                reason = f"the numbers of its {used_up[0][0]} are used up"
                raise StoreCorrupt(path=self.path, reason=reason) from error
            raise

    def _weigh(self, statement: Statement, params: dict[str, Any]) -> Statement:
        if self._readonly:
            raise StoreReadOnly(path=self._failures.path, reason="this transaction only reads, use Store.write")
        self.weight += _STATEMENT_WEIGHT
        if statement.bulky:
            self.weight += sum([len(value) for value in params.values() if type(value) is str])
        return statement


class Database:
    """One file and how to connect to it. `module` is the driver: sqlite3, or pysqlite3.dbapi2 with a newer SQLite.

    Raises StoreOutdated for one that is too old.
    """

    def __init__(self, path: Path, *, module: ModuleType, patience: float) -> None:
        if module.sqlite_version_info < OLDEST:
            raise StoreOutdated(path=path, found=module.sqlite_version, needed=".".join(map(str, OLDEST)))
        # One file has one lock, whatever link or working directory it is reached by.
        self.path = Path(os.path.realpath(path))
        self._module, self._patience = module, patience
        self.failures = Failures(self.path, module=module, patience=patience)

    def write_lock(self) -> WriteLock:
        """A new hand on the lock that all writers of this file share."""
        return WriteLock(self.path.with_name(self.path.name + ".lock"), failures=self.failures)

    def touch(self) -> None:
        """Make the file if there is none, private to its user. Only an absent file may be opened here: closing a
        second handle on a database drops the locks that SQLite holds in this process."""
        with self.failures, contextlib.suppress(FileExistsError):
            os.close(os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600))

    def link(self, *, readonly: bool) -> Link:
        """A new connection, to be used by one thread."""
        with self.failures:
            raw = self._module.connect(
                str(self.path),
                timeout=self._patience,
                isolation_level=None,
                check_same_thread=False,
                cached_statements=256,
            )
        link = Link(raw, failures=self.failures, readonly=readonly)
        try:
            for pragma in (*PRAGMAS, f"query_only = {int(readonly)}"):
                link.script(f"PRAGMA {pragma}")
        except StoreError:
            link.close()
            raise
        return link
