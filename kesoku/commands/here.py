"""Where a command was given: the conversation of its channel, and messages of it by number or id."""

import re

from kesoku.errors import NoConversation, NoSuchMessage
from kesoku.messages.lifecycle import Session
from kesoku.messages.record import Address, Record
from kesoku.ports import Transaction

_NUMBER = re.compile(r"#?(\d{1,9})")


def session_here(tx: Transaction, address: Address) -> Session:
    """The session of a channel. Raises NoConversation."""
    session = tx.sessions.bound(address)
    if session is None:
        raise NoConversation
    return session


def message_here(tx: Transaction, session: Session, given: str) -> Record:
    """A message of a session by its number there (`12`, `#12`) or its id; no other session's is ever found.

    Raises NoSuchMessage.
    """
    number = _NUMBER.fullmatch(given.strip())
    found = tx.messages.nth(session.id, int(number[1])) if number else tx.messages.get(given.strip())
    if found is None or found.session_id != session.id:
        raise NoSuchMessage(given=given, last=session.last_n)
    return found


def label(record: Record) -> str:
    """How people name a message of the conversation in which they are."""
    return f"#{record.session_n}"
