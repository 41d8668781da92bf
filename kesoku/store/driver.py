"""Which SQLite this process uses: the one of the extra `kesoku[sqlite]` if it is installed, else Python's own."""

import importlib
import sqlite3
import sys
from types import ModuleType

_MENDED: dict[tuple[int, ...], int] = {(3, 44): 6, (3, 50): 7, (3, 51): 3}
"""The releases of older series that are as safe as every newer series."""


def is_safe(version: tuple[int, ...]) -> bool:
    """Whether two processes on one file cannot damage it by a reset of the write-ahead log, whatever they do."""
    series, release = version[:2], version[2]
    return series > max(_MENDED) or release >= _MENDED.get(series, sys.maxsize)


def driver() -> ModuleType:
    """The module with the interface of `sqlite3`."""
    try:
        return importlib.import_module("pysqlite3.dbapi2")
    except ImportError:
        return sqlite3
