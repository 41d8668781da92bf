"""How often mail woke a session in a row. Agents that answer each other's answers would never end by themselves."""

from uuid import UUID

from kesoku.exchange.kin import Kin, kin_of
from kesoku.messages.message import Message
from kesoku.messages.record import Record
from kesoku.ports import Transaction

WAKES = 50
"""Turns in a row that mail may begin; then a person must speak, or to an agent the one that gave it its task."""
STOPPED = 1_000_000
"""The count of a session that somebody stopped: more than any bound."""
_SCOPE = "woken"
_PAGE = 100
"""Records that are read at once to see whether a person spoke."""


def next_letter(tx: Transaction, session_id: str, owner: UUID, *, wakes: int) -> Message | None:
    """The letter that may begin the next turn of a session: the oldest, or once mail has begun too many, the oldest of
    whoever gave it its task. None if there is none."""
    if not _rests(tx, session_id, wakes):
        return tx.mail.oldest(owner)
    parent = _parent(tx, kin_of(tx, session_id))
    return None if parent is None else tx.mail.oldest(owner, parent)


def note_wake(tx: Transaction, record: Record, letter: Message) -> None:
    """Count a turn that a letter begins; one of whoever gave the task begins the count anew."""
    parent = _parent(tx, kin_of(tx, record.session_id))
    count = 0 if parent is not None and letter.sender == parent else _in_a_row(tx, record.session_id) + 1
    tx.state.set(_SCOPE, record.session_id, {"n": record.session_n, "count": count})


def should_tell(tx: Transaction, session_id: str, *, wakes: int) -> bool:
    """Whether a session should rest and nobody was told yet; from then on somebody was."""
    known = tx.state.get(_SCOPE, session_id)
    if not _rests(tx, session_id, wakes) or known.get("told"):
        return False
    tx.state.set(_SCOPE, session_id, {**known, "told": True})
    return True


def stop(tx: Transaction, session_id: str) -> None:
    """Let mail begin no turn of a session until a person speaks there, or writes whoever gave it its task."""
    last = tx.messages.tail(session_id, 1)
    tx.state.set(_SCOPE, session_id, {"n": last[-1].session_n if last else 0, "count": STOPPED, "told": True})


def wake_again(tx: Transaction, session_id: str) -> None:
    """Take a `stop` back."""
    tx.state.set(_SCOPE, session_id, None)


def _rests(tx: Transaction, session_id: str, wakes: int) -> bool:
    return _in_a_row(tx, session_id) >= wakes


def _in_a_row(tx: Transaction, session_id: str) -> int:
    known = tx.state.get(_SCOPE, session_id)
    if not isinstance(known, dict) or not isinstance(known.get("n"), int) or not isinstance(known.get("count"), int):
        return 0
    return 0 if _is_spoken_since(tx, session_id, known["n"]) else known["count"]


def _is_spoken_since(tx: Transaction, session_id: str, n: int) -> bool:
    """Whether there is a prompt behind a place; no more is read than up to the first."""
    while page := tx.messages.session(session_id, after_n=n, limit=_PAGE):
        if any(each.kind == "user_prompt" for each in page):
            return True
        n = page[-1].session_n
    return False


def _parent(tx: Transaction, kin: Kin | None) -> UUID | None:
    session = tx.sessions.get(kin.parent) if kin else None
    return UUID(session.owner) if session else None
