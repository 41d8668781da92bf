"""Where a hook stands, as the database keeps it: its cursor in the event log, and when it last took something."""

import logging
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from kesoku.ports import Transaction

_SCOPE = "hooks"
_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """What is known about a hook from one start to the next."""

    cursor: int
    """The seq of the last event that it took, kept as a failure, or passed by."""
    succeeded_at: int | None = None
    """When it last took an event, in microseconds since 1970."""


def standing(tx: Transaction, hook: str) -> Standing | None:
    """How a hook stands; None for one that never ran, and for one whose entry cannot be read."""
    value: Any = tx.state.get(_SCOPE, hook)
    if not isinstance(value, Mapping) or type(value.get("cursor")) is not int:
        return None
    taken = value.get("succeeded_at")
    return Standing(cursor=value["cursor"], succeeded_at=taken if type(taken) is int else None)


def begin(tx: Transaction, hook: str) -> Standing:
    """How a hook stands; one that is new begins at the end of the log, and not with the past.

    So does one of which is not known where it stands, or that stands behind the end: it would hear of nothing.
    """
    known, head = standing(tx, hook), tx.events.head()
    if known is not None and 0 <= known.cursor <= head:
        return known
    if known is not None or tx.state.get(_SCOPE, hook) is not None:
        _log.warning("where hook %s stands is damaged in the database; it begins at the end of the log", hook)
    return _put(tx, hook, Standing(cursor=head, succeeded_at=known.succeeded_at if known else None))


def advance(tx: Transaction, hook: str, *, cursor: int = 0, succeeded_at: int | None = None) -> Standing:
    """Note how far a hook is, and that it took something. A cursor never goes back."""
    known = standing(tx, hook) or Standing(cursor=0)
    return _put(tx, hook, Standing(cursor=max(known.cursor, cursor), succeeded_at=succeeded_at or known.succeeded_at))


def _put(tx: Transaction, hook: str, now: Standing) -> Standing:
    tx.state.set(_SCOPE, hook, {"cursor": now.cursor, "succeeded_at": now.succeeded_at})
    return now
