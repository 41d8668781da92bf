"""How much waits, runs and hangs in a database, in numbers; for doctor."""

from dataclasses import dataclass
from pathlib import Path

from sqlalchemy import func, select

from kesoku.messages.lifecycle import DeliveryState, Purpose
from kesoku.store.columns import equals
from kesoku.store.engine import Link
from kesoku.store.statement import Statement
from kesoku.store.tables import deliveries, leases, messages

_m, _d = messages.c, deliveries.c
QUEUE = Statement(
    select(func.count(), func.min(_m.accepted_at)).where(equals(_m.status, "pending_agent"), _m.mode != "inject")
)
RUNNING = Statement(select(func.count()).where(leases.c.owner.is_not(None)))


def _parts(state: DeliveryState) -> Statement:
    return Statement(select(func.count()).where(equals(_d.state, state), equals(_d.purpose, Purpose.FINAL)))


HELD, AMBIGUOUS = _parts(DeliveryState.HELD), _parts(DeliveryState.AMBIGUOUS)


@dataclass(frozen=True, slots=True, kw_only=True)
class Gauge:
    """What was found at one moment."""

    queued: int
    """Prompts that wait for a turn."""
    queued_since: int | None
    """When the oldest of them was taken in, in microseconds since 1970; None if none waits."""
    running: int
    """Turns that a process holds, a dead one included until it is noticed."""
    held: int
    """Parts of messages that wait: for the person, for a time, or because they are too old."""
    ambiguous: int
    """Parts of messages of which nobody knows whether they arrived."""
    log_bytes: int
    """Size of the write-ahead log."""


def gauge(link: Link) -> Gauge:
    """Measure with a reading connection."""
    link.begin()
    try:
        ((queued, since),) = link.rows(QUEUE)
        running, held, ambiguous = (link.rows(each)[0][0] for each in (RUNNING, HELD, AMBIGUOUS))
    finally:
        link.rollback()
    return Gauge(
        queued=queued,
        queued_since=since,
        running=running,
        held=held,
        ambiguous=ambiguous,
        log_bytes=_size(link.path.with_name(link.path.name + "-wal")),
    )


def _size(path: Path) -> int:
    return path.stat().st_size if path.exists() else 0
