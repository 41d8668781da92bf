"""The event log in SQL: one small row for each insert, status change and rewrite."""

from sqlalchemy import func, select

from kesoku.messages.enums import MessageStatus
from kesoku.messages.lifecycle import Change, ChangeKind
from kesoku.store.engine import Link
from kesoku.store.mapping import EVENT, RECORD, RECORD_FROM, change_of
from kesoku.store.statement import Statement, insert_into, param
from kesoku.store.tables import events, messages

_changes = select(*EVENT, *RECORD).select_from(RECORD_FROM.join(events, events.c.message_id == messages.c.id))

WRITE = Statement(insert_into(events, "seq"))
HEAD = Statement(select(func.max(events.c.seq)))
AFTER = Statement(_changes.where(events.c.seq > param("cursor")).order_by(events.c.seq).limit(param("limit")))
OF = Statement(_changes.where(events.c.message_id == param("message_id")).order_by(events.c.seq))


class SqlEventLog:
    """See `kesoku.ports.store.EventLog`."""

    def __init__(self, link: Link) -> None:
        self._link = link

    def write(
        self,
        message_id: str,
        kind: ChangeKind,
        *,
        at: int,
        before: MessageStatus | None = None,
        after: MessageStatus | None = None,
        actor: str = "",
        reason: str = "",
    ) -> None:
        """Note what happened to a message; called by the message store alone."""
        self._link.change(
            WRITE,
            at=at,
            message_id=message_id,
            kind=kind.value,
            before=before and before.value,
            after=after and after.value,
            actor=actor,
            reason=reason,
        )

    def head(self) -> int:
        """The newest seq, 0 for an empty log."""
        row = self._link.row(HEAD)
        return int(row[0]) if row and row[0] else 0

    def after(self, cursor: int, limit: int) -> list[Change]:
        """Changes behind the cursor."""
        return [change_of(row) for row in self._link.rows(AFTER, cursor=cursor, limit=max(limit, 0))]

    def of(self, message_id: str) -> list[Change]:
        """Everything that happened to one message."""
        return [change_of(row) for row in self._link.rows(OF, message_id=message_id)]
