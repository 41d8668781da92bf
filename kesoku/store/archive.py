"""Earlier bodies of messages in SQL."""

import json

from sqlalchemy import select

from kesoku.messages.kinds import message_from_dict
from kesoku.messages.message import Message
from kesoku.store.engine import Link
from kesoku.store.mapping import record_of, records
from kesoku.store.statement import Statement, param
from kesoku.store.tables import message_versions, messages

_v = message_versions.c
EARLIER = Statement(select(_v.body).where(_v.id == param("id")).order_by(_v.version))
CURRENT = Statement(records().where(messages.c.id == param("id")))


class SqlArchive:
    """See `kesoku.ports.archive.Archive`."""

    def __init__(self, link: Link) -> None:
        self._link = link

    def versions(self, message_id: str) -> list[Message]:
        """Every body, the current one last."""
        row = self._link.row(CURRENT, id=message_id)
        if row is None:
            return []
        earlier = [message_from_dict(json.loads(body)) for (body,) in self._link.rows(EARLIER, id=message_id)]
        return [*earlier, record_of(row).message]
