"""Failures of event hooks in SQL."""

from sqlalchemy import case, delete, func, select, update

from kesoku.messages.hook_failure import HookFailure
from kesoku.store.cell import int_or, int_or_none
from kesoku.store.engine import Link, Row, plain
from kesoku.store.hook_tables import hook_failures
from kesoku.store.statement import Statement, insert_into, param

_f = hook_failures.c
_FAILURE = (_f.hook, _f.event_seq, _f.message_id, _f.attempts, _f.next_at, _f.error, _f.at)
_CHANGING = ("attempts", "next_at", "error", "at")
_mine = _f.hook == param("name")
_is_given_up = _f.next_at.is_(None)
_names_an_event = func.typeof(_f.event_seq) == "integer"
"""A row whose key is damaged can neither be tried nor forgotten; it is counted, and keeps nobody up."""

PUT = Statement(
    insert_into(hook_failures).on_conflict_do_update(
        index_elements=["hook", "event_seq"], set_={name: param(name) for name in _CHANGING}
    )
)
FORGET = Statement(delete(hook_failures).where(_mine, _f.event_seq == param("seq")))
DUE = Statement(
    select(*_FAILURE)
    .where(_mine, _names_an_event, _f.next_at.is_not(None), _f.next_at <= param("until"))
    .order_by(_f.next_at, _f.event_seq)
    .limit(param("limit"))
)
OF_HOOK = Statement(
    select(*_FAILURE)
    .where(_mine, _names_an_event)
    .order_by(_is_given_up, _f.next_at, _f.event_seq)
    .limit(param("limit"))
)
COUNT = Statement(select(func.count(_f.next_at), func.count()).where(_mine))
RETRY = Statement(
    update(hook_failures).where(_mine).values(next_at=param("due"), attempts=case((_is_given_up, 0), else_=_f.attempts))
)


class SqlHookStore:
    """See `kesoku.ports.hook.HookStore`."""

    def __init__(self, link: Link) -> None:
        self._link = link

    def put(self, failure: HookFailure) -> None:
        """Store a failure."""
        self._link.change(
            PUT,
            hook=failure.hook,
            event_seq=failure.event_seq,
            message_id=failure.message_id,
            attempts=failure.attempts,
            next_at=failure.next_at,
            error=failure.error,
            at=failure.at,
        )

    def forget(self, hook: str, event_seq: int) -> None:
        """The event was taken after all, or is gone."""
        self._link.change(FORGET, name=hook, seq=event_seq)

    def due(self, hook: str, *, at: int, limit: int) -> list[HookFailure]:
        """Failures to be tried again."""
        return [_failure_of(row) for row in self._link.rows(DUE, name=hook, until=at, limit=max(limit, 0))]

    def of(self, hook: str, *, limit: int) -> list[HookFailure]:
        """The failures of a hook, those that wait first."""
        return [_failure_of(row) for row in self._link.rows(OF_HOOK, name=hook, limit=max(limit, 0))]

    def count(self, hook: str) -> tuple[int, int]:
        """How many failures wait, and how many were given up."""
        row = self._link.row(COUNT, name=hook)
        waiting, whole = row or (0, 0)
        return waiting, whole - waiting

    def retry(self, hook: str, *, at: int) -> int:
        """Make every failure due."""
        return self._link.change(RETRY, name=hook, due=at)


def _failure_of(row: Row) -> HookFailure:
    hook, event_seq, message_id, attempts, next_at, error, at = row
    return HookFailure(
        hook=plain(hook),
        event_seq=event_seq,
        message_id=plain(message_id),
        attempts=int_or(attempts, 1),
        next_at=int_or_none(next_at),
        error=plain(error),
        at=int_or(at),
    )
