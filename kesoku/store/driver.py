"""Which SQLite this process uses: the one of the extra `kesoku[sqlite]` if it is installed, else Python's own."""

import importlib
import sqlite3
from types import ModuleType

SAFE = (3, 51, 3)
"""From this version on two processes on one file cannot damage it by a reset of the write-ahead log."""


def driver() -> ModuleType:
    """The module with the interface of `sqlite3`."""
    try:
        return importlib.import_module("pysqlite3.dbapi2")
    except ImportError:
        return sqlite3
