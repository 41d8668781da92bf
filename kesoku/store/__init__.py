"""The database of Kesoku: SQLAlchemy Core on SQLite, one writer, group commit, wake-ups across processes."""

from kesoku.store.store import SqlStore

__all__ = ["SqlStore"]
