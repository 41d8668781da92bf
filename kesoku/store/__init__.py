"""The database of Kesoku: SQLAlchemy Core on SQLite, one writer, group commit, wake-ups across processes."""

from kesoku.store.driver import SAFE, driver
from kesoku.store.store import SqlStore

__all__ = ["SAFE", "SqlStore", "driver"]
