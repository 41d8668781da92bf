"""A driver of SQLite that fails when it is told to: the outermost seam of the store."""

import sqlite3
from dataclasses import dataclass, field
from types import ModuleType
from typing import Any


@dataclass(slots=True)
class Fault:
    """Statements that begin with `begins` fail with a result code of SQLite, those after `spared` others.

    Nothing fails while `begins` is None. `hits` counts what failed.
    """

    begins: str | None = None
    code: int = sqlite3.SQLITE_IOERR
    spared: int = 0
    hits: int = field(default=0, init=False)

    def check(self, sql: str) -> None:
        """Raise if this statement is to fail."""
        if self.begins is None or not sql.startswith(self.begins):
            return
        if self.spared:
            self.spared -= 1
            return
        self.hits += 1
        raise failure(self.code)


def failure(code: int) -> sqlite3.OperationalError:
    """The error that sqlite3 raises for a result code."""
    error = sqlite3.OperationalError("made by a test")
    error.sqlite_errorcode = code
    error.sqlite_errorname = f"result code {code}"
    return error


def faulty_sqlite(fault: Fault) -> ModuleType:
    """The module sqlite3, with connections that obey `fault`."""

    class Connection(sqlite3.Connection):
        def execute(self, sql: str, *rest: Any) -> sqlite3.Cursor:
            fault.check(sql)
            return super().execute(sql, *rest)

    def connect(*args: Any, **options: Any) -> sqlite3.Connection:
        return sqlite3.connect(*args, **options, factory=Connection)

    module = ModuleType("faulty_sqlite")
    module.__dict__.update(vars(sqlite3) | {"connect": connect})
    return module
