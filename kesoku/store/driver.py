"""Which SQLite this process uses: the one of the extra `kesoku[sqlite]` if it is installed, else Python's own."""

import importlib
import sqlite3
from types import ModuleType

_MENDED = (3, 51, 3)
"""The first SQLite in which two connections can no longer damage a file by a reset of the write-ahead log."""


def is_safe(version: tuple[int, ...]) -> bool:
    """Whether two processes on one file cannot damage it so, whatever they do."""
    return version >= _MENDED


def driver() -> ModuleType:
    """The module with the interface of `sqlite3`."""
    try:
        return importlib.import_module("pysqlite3.dbapi2")
    except ImportError:
        return sqlite3
