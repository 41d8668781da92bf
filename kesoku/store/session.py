"""Conversations in SQL, and the channels bound to them."""

import uuid

from sqlalchemy import select, update

from kesoku.messages.lifecycle import Session
from kesoku.messages.message import mint_id
from kesoku.messages.record import Address
from kesoku.store.engine import Link, Row, plain
from kesoku.store.statement import Statement, insert_into, param
from kesoku.store.tables import bindings, sessions

_s = sessions.c
_SESSION = (_s.id, _s.owner, _s.title, _s.created_at, _s.ended_at, _s.last_n)

GET = Statement(select(*_SESSION).where(_s.id == param("id")))
BOUND = Statement(
    select(*_SESSION)
    .join(bindings, bindings.c.session_id == _s.id)
    .where(bindings.c.chatbot_id == param("chatbot_id"), bindings.c.channel_id == param("channel_id"))
)
CREATE = Statement(insert_into(sessions, "ended_at", "last_n", "last_seq"))
BIND = Statement(
    insert_into(bindings).on_conflict_do_update(
        index_elements=["chatbot_id", "channel_id"], set_={"session_id": param("session_id")}
    )
)
END = Statement(
    update(sessions).where(_s.id == param("session_id"), _s.ended_at.is_(None)).values(ended_at=param("at"))
)
CHANNELS = Statement(
    select(bindings.c.chatbot_id, bindings.c.channel_id, *_SESSION)
    .join(sessions, bindings.c.session_id == _s.id)
    .where(_s.ended_at.is_(None))
    .order_by(bindings.c.chatbot_id, bindings.c.channel_id)
)
RECENT = Statement(select(*_SESSION).order_by(_s.last_seq.desc(), _s.created_at.desc()).limit(param("limit")))
CHANNEL = Statement(
    select(bindings.c.chatbot_id, bindings.c.channel_id)
    .where(bindings.c.session_id == param("session_id"))
    .order_by(bindings.c.chatbot_id, bindings.c.channel_id)
    .limit(1)
)


class SqlSessionStore:
    """See `kesoku.ports.store.SessionStore`."""

    def __init__(self, link: Link) -> None:
        self._link = link

    def get(self, session_id: str) -> Session | None:
        """The session, or None."""
        row = self._link.row(GET, id=session_id)
        return None if row is None else _session_of(row)

    def bound(self, address: Address) -> Session | None:
        """The session of a channel."""
        row = self._link.row(BOUND, chatbot_id=address.chatbot_id, channel_id=address.channel_id)
        return None if row is None else _session_of(row)

    def create(self, *, session_id: str | None = None, title: str = "", at: int) -> Session:
        """A new session; a known id is a StoreConflict."""
        session = Session(id=session_id or mint_id(), owner=str(uuid.uuid4()), title=title, created_at=at)
        self._link.change(CREATE, id=session.id, owner=session.owner, title=title, created_at=at)
        return session

    def bind(self, address: Address, session_id: str) -> None:
        """Bind a channel."""
        self._link.change(BIND, chatbot_id=address.chatbot_id, channel_id=address.channel_id, session_id=session_id)

    def end(self, session_id: str, *, at: int) -> None:
        """End a session; the first end stays."""
        self._link.change(END, session_id=session_id, at=at)

    def channels(self) -> list[tuple[Address, Session]]:
        """Every channel of a session that was not ended."""
        rows = self._link.rows(CHANNELS)
        return [
            (Address(chatbot_id=plain(bot), channel_id=plain(channel)), _session_of(tuple(session)))
            for bot, channel, *session in rows
        ]

    def recent(self, limit: int) -> list[tuple[Session, Address | None]]:
        """Sessions, the latest used first; of several channels of a session the first by name."""
        sessions_ = [_session_of(row) for row in self._link.rows(RECENT, limit=max(limit, 0))]
        return [(session, self._channel(session.id)) for session in sessions_]

    def _channel(self, session_id: str) -> Address | None:
        row = self._link.row(CHANNEL, session_id=session_id)
        return None if row is None else Address(chatbot_id=plain(row[0]), channel_id=plain(row[1]))


def _session_of(row: Row) -> Session:
    id_, owner, title, created_at, ended_at, last_n = row
    return Session(
        id=plain(id_),
        owner=plain(owner),
        title=plain(title),
        created_at=created_at,
        ended_at=ended_at,
        last_n=last_n,
    )
