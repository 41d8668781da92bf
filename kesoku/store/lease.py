"""Leases in SQL: which session runs, for whom, and what may run next."""

from typing import Any

from sqlalchemy import ColumnElement, Select, and_, case, exists, func, literal, literal_column, or_, select, update

from kesoku.errors import Deposed, StoreConflict
from kesoku.messages.lifecycle import Fence, Lease, Serving
from kesoku.messages.record import Record
from kesoku.store.cell import int_or
from kesoku.store.columns import equals
from kesoku.store.engine import Link, Row, plain
from kesoku.store.mapping import record_of, records
from kesoku.store.message import SqlMessageStore
from kesoku.store.serving import Served
from kesoku.store.statement import Statement, insert_into, param
from kesoku.store.tables import events, leases, messages, turns

_l, _m = leases.c, messages.c
_failures = func.coalesce(
    select(turns.c.failures).where(turns.c.turn_id == _l.message_id).correlate(leases).scalar_subquery(), 0
)
_LEASE = (_l.session_id, _l.message_id, _l.owner, _l.generation, _failures, _l.claimed_at, _l.lease_until)
_SEARCHES = ((32, 64), (2048, 2**31))
"""How many queued prompts are looked at one by one, and then through how many sessions the queue is skipped: a long
queue may be that of one session or of thousands, and what is cheap for the one is not for the other."""

GET = Statement(select(*_LEASE).where(_l.session_id == param("session_id")))
HELD = Statement(select(*_LEASE).where(_l.owner.is_not(None)))
WORST = Statement(select(_l.failures).where(_l.owner == param("holder")).order_by(_l.failures.desc()).limit(1))
_fenced = and_(_l.session_id == param("session"), _l.owner == param("holder"), _l.generation == param("term"))
CHECK = Statement(select(*_LEASE).where(_fenced))
RELEASE = Statement(update(leases).where(_fenced).values(owner=None, lease_until=0))
RENEW = Statement(
    update(leases)
    .where(_l.owner == param("holder"))
    .values(lease_until=param("until"))
    .returning(_l.session_id, _l.generation)
)
_new = insert_into(leases)
_crashes = select(turns.c.failures).where(turns.c.turn_id == param("message_id")).scalar_subquery()
TAKE = Statement(
    _new.values(generation=1, failures=func.coalesce(_crashes, 0))
    .on_conflict_do_update(
        index_elements=["session_id"],
        set_={
            "message_id": _new.excluded.message_id,
            "owner": _new.excluded.owner,
            "generation": _l.generation + 1,
            "failures": _new.excluded.failures,
            "claimed_at": _new.excluded.claimed_at,
            "lease_until": _new.excluded.lease_until,
        },
        where=_l.owner.is_(None),
    )
    .returning(_l.generation)
)
DEPOSE = Statement(
    _new.values(
        message_id=None, owner=None, generation=1, failures=0, claimed_at=0, lease_until=0
    ).on_conflict_do_update(
        index_elements=["session_id"], set_={"owner": None, "generation": _l.generation + 1, "lease_until": 0}
    )
)
CHARGE = Statement(
    update(turns)
    .where(turns.c.turn_id == select(_l.message_id).where(_l.session_id == param("session")).scalar_subquery())
    .values(failures=turns.c.failures + 1)
)
_queued = equals(_m.status, "pending_agent")
_startable = and_(_queued, _m.mode != literal_column("'inject'"))


def _runs(session_id: ColumnElement[str]) -> ColumnElement[bool]:
    return exists().where(_l.session_id == session_id, _l.owner.is_not(None))


def _near(here: ColumnElement[bool]) -> Select[Any]:
    """The oldest prompt of a free session among the oldest of all."""
    first = select(_m.seq, _m.session_id).where(here, _startable).order_by(_m.seq).limit(param("prompts"))
    near = first.subquery("near")
    oldest = func.min(case((~_runs(near.c.session_id), near.c.seq)))
    return select(oldest).having(or_(oldest.is_not(None), func.count() == param("prompts")))


def _far(here: ColumnElement[bool]) -> Select[Any]:
    """The same going from session to session, however many prompts each of them has. A row, if all were seen."""
    queue = select(literal("").label("session_id"), literal(0).label("n")).cte("queue", recursive=True)
    following = (
        select(_m.session_id)
        .where(_queued, _m.session_id > queue.c.session_id)
        .order_by(_m.session_id)
        .limit(1)
        .scalar_subquery()
    )
    unseen = and_(queue.c.session_id.is_not(None), queue.c.n < param("sessions"))
    queue = queue.union_all(select(following, queue.c.n + 1).where(unseen))
    head = (
        select(_m.seq)
        .where(here, _startable, _m.session_id == queue.c.session_id)
        .order_by(_m.seq)
        .limit(1)
        .scalar_subquery()
    )
    ended = queue.c.session_id.is_(None)
    return select(func.min(case((~ended & ~_runs(queue.c.session_id), head)))).having(func.max(ended))


NEAR, FAR = Served(_near, messages), Served(_far, messages)
_last_start = (
    select(events.c.at)
    .where(events.c.message_id == _m.id, equals(events.c.after, "processing"))
    .order_by(events.c.seq.desc())
    .limit(1)
    .scalar_subquery()
)
STRANDED = Statement(
    records()
    .where(equals(_m.status, "processing"), ~_runs(_m.session_id), _last_start < param("before"))
    .order_by(_m.seq)
)


class SqlLeaseStore:
    """See `kesoku.ports.store.LeaseStore`."""

    def __init__(self, link: Link, messages: SqlMessageStore) -> None:
        self._link, self._messages = link, messages

    def get(self, session_id: str) -> Lease | None:
        """The lease row, or None."""
        row = self._link.row(GET, session_id=session_id)
        return None if row is None else _lease_of(row)

    def next(self, serving: Serving) -> Record | None:
        """The oldest queued prompt of a free session, among the addresses that are served."""
        seq = self._next(serving)
        return None if seq is None else self._messages.at(seq)

    def _next(self, serving: Serving) -> int | None:
        oldest = [seq for (seq,) in NEAR.rows(self._link, serving, prompts=1)]
        if None not in oldest:  # mostly nothing waits, or the very oldest may run
            return min(oldest, default=None)
        for prompts, sessions in _SEARCHES:
            if not (near := NEAR.rows(self._link, serving, prompts=prompts)):
                break
            far = [] if any(seq for (seq,) in near) else FAR.rows(self._link, serving, sessions=sessions)
            if found := [seq for (seq,) in (*near, *far) if seq is not None]:
                return int(min(found))
            if far:
                break
        return None

    def take(self, prompt: Record, *, owner: str, at: int, until: int) -> Fence:
        """Lease a free session; a StoreConflict if it runs."""
        row = self._link.change_row(
            TAKE,
            session_id=prompt.session_id,
            message_id=prompt.id,
            owner=owner,
            claimed_at=at,
            lease_until=until,
        )
        if row is None:
            raise StoreConflict(path=self._link.path, reason=f"session {prompt.session_id} has a running turn")
        return Fence(session_id=prompt.session_id, owner=owner, generation=row[0])

    def check(self, fence: Fence) -> Lease:
        """The lease; raise Deposed unless the fence is valid."""
        row = self._link.row(CHECK, **_params(fence))
        if row is None:
            raise Deposed(session_id=fence.session_id, generation=fence.generation)
        return _lease_of(row)

    def renew(self, owner: str, *, until: int) -> list[Fence]:
        """Extend the leases of an owner."""
        rows = self._link.change_rows(RENEW, holder=owner, until=until)
        return [Fence(session_id=plain(session), owner=owner, generation=term) for session, term in rows]

    def release(self, fence: Fence) -> None:
        """Give the session back."""
        self._link.change(RELEASE, **_params(fence))

    def depose(self, session_id: str, *, failed: bool) -> Lease:
        """End whatever runs."""
        if failed:
            self._link.change(CHARGE, session=session_id)
        self._link.change(DEPOSE, session_id=session_id)
        (row,) = self._link.rows(GET, session_id=session_id)
        return _lease_of(row)

    def held(self) -> list[Lease]:
        """Leases with an owner."""
        return [_lease_of(row) for row in self._link.rows(HELD)]

    def worst(self, owner: str) -> int | None:
        """The most crashes behind a prompt that an owner runs."""
        row = self._link.row(WORST, holder=owner)
        return None if row is None else int_or(row[0])

    def stranded(self, *, before: int) -> list[Record]:
        """Prompts that somebody started and nobody runs."""
        return [record_of(row) for row in self._link.rows(STRANDED, before=before)]


def _params(fence: Fence) -> dict[str, object]:
    return {"session": fence.session_id, "holder": fence.owner, "term": fence.generation}


def _lease_of(row: Row) -> Lease:
    session_id, message_id, owner, generation, failures, claimed_at, until = row
    return Lease(
        session_id=plain(session_id),
        message_id=plain(message_id),
        owner=plain(owner),
        generation=generation,
        failures=int_or(failures),
        claimed_at=int_or(claimed_at),
        until=int_or(until),
    )
