"""The one place where errors of SQLite and of the file system become errors of Kesoku."""

import errno
import shutil
import sqlite3
from pathlib import Path
from types import ModuleType, TracebackType

from kesoku.errors import (
    StoreConflict,
    StoreCorrupt,
    StoreError,
    StoreFailed,
    StoreForeign,
    StoreFull,
    StoreLocked,
    StoreReadOnly,
    StoreUnreachable,
)

_PRIMARY = 0xFF
"""SQLite keeps the kind of an error in the low byte and the detail above it."""
_NO_WAY_IN = frozenset(
    {
        errno.ENOENT,
        errno.ENOTDIR,
        errno.EISDIR,
        errno.EACCES,
        errno.EPERM,
        errno.ELOOP,
        errno.ENAMETOOLONG,
    }
)
_NEARLY_NOTHING = 64 * 1024
"""Bytes: with less free, an input/output error is a full disk (growing the shared memory fails that way)."""


class Failures:
    """Maps what a block raises. Exceptions that are neither the database's nor the file system's pass through.

    `patience` is the number of seconds that this store waits for a lock, for the text of the error.
    """

    def __init__(self, path: Path, *, module: ModuleType, patience: float) -> None:
        self.path, self.patience = path, patience
        self._errors: tuple[type[Exception], ...] = (module.Error, sqlite3.Error)

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None) -> None:
        if error is None:
            return
        if isinstance(error, self._errors):
            raise self._of_sqlite(error) from error
        if isinstance(error, OSError):
            raise self._of_system(error) from error

    def _of_sqlite(self, error: BaseException) -> StoreError:
        code = getattr(error, "sqlite_errorcode", 0)
        reason = f"{error} ({getattr(error, 'sqlite_errorname', type(error).__name__)})"
        match code & _PRIMARY:
            case sqlite3.SQLITE_BUSY | sqlite3.SQLITE_LOCKED | sqlite3.SQLITE_PROTOCOL:
                return StoreLocked(path=self.path, seconds=self.patience)
            case sqlite3.SQLITE_FULL:
                return StoreFull(path=self.path)
            case sqlite3.SQLITE_READONLY:
                return StoreReadOnly(path=self.path, reason=reason)
            case sqlite3.SQLITE_CORRUPT | sqlite3.SQLITE_FORMAT:
                return StoreCorrupt(path=self.path, reason=reason)
            case sqlite3.SQLITE_NOTADB:
                return StoreForeign(path=self.path)
            case sqlite3.SQLITE_CANTOPEN | sqlite3.SQLITE_PERM | sqlite3.SQLITE_AUTH:
                return StoreUnreachable(path=self.path, reason=reason)
            case sqlite3.SQLITE_CONSTRAINT:
                return StoreConflict(path=self.path, reason=str(error))
            case sqlite3.SQLITE_IOERR if self._disk_is_full():
                return StoreFull(path=self.path)
            case _:
                return StoreFailed(path=self.path, reason=reason)

    def _of_system(self, error: OSError) -> StoreError:
        reason = error.strerror or str(error)
        match error.errno:
            case errno.ENOSPC | errno.EDQUOT:
                return StoreFull(path=self.path)
            case errno.EROFS:
                return StoreReadOnly(path=self.path, reason=reason)
            case code if code in _NO_WAY_IN:
                return StoreUnreachable(path=self.path, reason=reason)
            case _:
                return StoreFailed(path=self.path, reason=reason)

    def _disk_is_full(self) -> bool:
        try:
            return shutil.disk_usage(self.path.parent).free < _NEARLY_NOTHING
        except OSError:
            return False
