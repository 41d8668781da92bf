"""Mail that an agent takes in the middle of a turn. It counts as read once the result that shows it is stored, and
stays where it is if the program dies before: it is read twice rather than never."""

from typing import Any
from uuid import UUID

from kesoku.messages.message import Message
from kesoku.ports import Transaction

_SCOPE = "mail read"


def mark(tx: Transaction, session_id: str, call_id: str, letters: list[Message]) -> None:
    """Note what a call takes."""
    marks = _marks(tx, session_id)
    if letters:
        tx.state.set(_SCOPE, session_id, {**marks, call_id: [each.id for each in letters]})


def unread(tx: Transaction, session_id: str, owner: UUID, call_id: str = "") -> list[Message]:
    """What lies in an inbox, without what another call than `call_id` takes and whose result nobody has yet."""
    taken, pending = _marked(tx, session_id)
    hidden = taken | {mail_id for call, ids in pending.items() if call != call_id for mail_id in ids}
    return [each for each in tx.mail.inbox(owner) if each.id not in hidden]


def settle(tx: Transaction, session_id: str, owner: UUID) -> None:
    """Take out of the inbox what calls took whose results are stored."""
    if not tx.state.get(_SCOPE, session_id):
        return
    taken, pending = _marked(tx, session_id)
    for each in map(tx.mail.message, taken):
        if each is not None:
            tx.mail.take(owner, each)
    tx.state.set(_SCOPE, session_id, pending or None)


def _marks(tx: Transaction, session_id: str) -> dict[str, list[str]]:
    """What calls take, by call. A damaged row takes nothing: then something is read twice."""
    known = tx.state.get(_SCOPE, session_id)
    known = known if isinstance(known, dict) else {}
    return {call: [id_ for id_ in ids if isinstance(id_, str)] for call, ids in known.items() if isinstance(ids, list)}


def _marked(tx: Transaction, session_id: str) -> tuple[set[str], dict[str, list[str]]]:
    """Ids of letters that were shown, and by call those that may still be shown."""
    marks = _marks(tx, session_id)
    shown: set[str] = set()
    pending: dict[str, list[str]] = {}
    for call_id, ids in marks.items():
        call = tx.messages.get(call_id)
        response = getattr(call.message.content, "response_id", None) if call else None
        result = tx.messages.get(response) if response else None
        content: Any = result.message.content if result else None
        if call is not None and result is None:
            pending[call_id] = ids
        elif content is not None and content.error is None:
            shown |= set(ids)
    return shown, pending
