"""Small durable values in SQL."""

import logging
from typing import Any

from sqlalchemy import delete, select

from kesoku.messages.freeze import thaw
from kesoku.store.engine import Link
from kesoku.store.mapping import UNREADABLE, from_json, to_json
from kesoku.store.statement import Statement, insert_into, param
from kesoku.store.tables import state

_log = logging.getLogger(__name__)

_key = (state.c.scope == param("scope"), state.c.key == param("key"))
GET = Statement(select(state.c.value).where(*_key))
SET = Statement(
    insert_into(state).on_conflict_do_update(index_elements=["scope", "key"], set_={"value": param("value")}),
    bulky=True,
)
DELETE = Statement(delete(state).where(*_key))


class SqlStateStore:
    """See `kesoku.ports.store.StateStore`."""

    def __init__(self, link: Link) -> None:
        self._link = link

    def get(self, scope: str, key: str) -> Any:
        """The JSON value in plain dicts and lists, or None; also for a damaged one, which the next `set` replaces."""
        row = self._link.row(GET, scope=scope, key=key)
        try:
            return None if row is None else thaw(from_json(row[0]))
        except UNREADABLE as error:
            _log.error("the value %s of %s is damaged in the database and was lost: %s", key, scope, error)
            return None

    def set(self, scope: str, key: str, value: Any) -> None:
        """Store a JSON value; None deletes."""
        if value is None:
            self._link.change(DELETE, scope=scope, key=key)
        else:
            self._link.change(SET, scope=scope, key=key, value=to_json(value))
