"""Drivers of SQLite whose statements pass a function first, to fail or to be watched: the store's outermost seam."""

import sqlite3
from collections.abc import Callable
from dataclasses import dataclass, field
from types import ModuleType
from typing import Any


def intercepted(
    module: ModuleType,
    around: Callable[[str, Callable[[], Any]], Any],
    *,
    opened: Callable[[Any], object] = lambda connection: None,
) -> ModuleType:
    """A driver like `module`, which has the interface of `sqlite3`.

    `around` gets each statement and a function that runs it, and returns what that returns. `opened` gets each new
    connection.
    """
    base: Any = module.Connection

    class Connection(base):  # type: ignore[misc]
        def execute(self, sql: str, *rest: Any) -> Any:
            return around(sql, lambda: base.execute(self, sql, *rest))

    def connect(*args: Any, **options: Any) -> Any:
        connection = module.connect(*args, **options, factory=Connection)
        opened(connection)
        return connection

    copy = ModuleType(f"intercepted_{module.__name__}")
    copy.__dict__.update(vars(module) | {"connect": connect})
    return copy


@dataclass(slots=True)
class SqliteFault:
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


def faulty_sqlite(fault: SqliteFault) -> ModuleType:
    """The module sqlite3, with connections that obey `fault`."""

    def around(sql: str, run: Callable[[], Any]) -> Any:
        fault.check(sql)
        return run()

    return intercepted(sqlite3, around)
