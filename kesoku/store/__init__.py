"""The database of Kesoku: SQLAlchemy Core on SQLite, one writer, group commit, wake-ups across processes."""

from kesoku.store.driver import driver, is_safe
from kesoku.store.gauge import Gauge
from kesoku.store.store import SqlStore

__all__ = ["Gauge", "SqlStore", "driver", "is_safe"]
