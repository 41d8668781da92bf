"""One message to every live conversation: mail to all, and a notice in each of their channels."""

from dataclasses import dataclass, replace
from uuid import UUID

from kesoku.exchange.exchange import Exchange
from kesoku.exchange.kin import enrolled, is_desk
from kesoku.exchange.occasion import derived_id
from kesoku.messages import make
from kesoku.messages.freeze import FrozenDict
from kesoku.messages.record import Address, Post
from kesoku.ports import Transaction

CHANNEL = "announcement"
ANNOUNCED = "announced"
"""Under this name a notice tells of which mail it is."""
ANNOUNCER = UUID(derived_id("announcer"))
"""The owner of the mailbox from which announcements go out."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Announcement:
    """What was announced: one mail, however many heard of it."""

    mail_id: str
    sessions: int
    destinations: tuple[Address, ...]
    """The channels in which whoever serves them shows it."""
    notices: tuple[str, ...]
    """The message in each of them."""


def announce(tx: Transaction, text: str, *, at: int) -> Announcement:
    """Broadcast a text to the mailboxes of all conversations, and post it in every channel that one is bound to.

    The mail counts as read at once, for the notices say the same; it neither wakes an agent nor reaches those that
    were given work.
    """
    exchange = Exchange(tx.mail, now=lambda: at)
    box = tx.mail.mailbox(ANNOUNCER)
    if box is None or box.left_at is not None:
        exchange.register(ANNOUNCER)
    places = [(address, session) for address, session in tx.sessions.channels() if not is_desk(address)]
    sessions = {session.id: session for _, session in places}
    for session in sessions.values():
        enrolled(tx, exchange, session)
    mail = exchange.send(ANNOUNCER, None, text, CHANNEL)
    for _, owner in exchange.route(ANNOUNCER).delivered:
        read = tx.mail.mailbox(owner)
        if read is not None and read.session_id is not None:
            exchange.take(owner, mail)
    notices = []
    for address, session in places:
        notice = replace(make.notice(f"📣 {text}", reason="reply"), metadata=FrozenDict({ANNOUNCED: mail.id}))
        tx.messages.insert(Post(message=notice, address=address), session_id=session.id, at=at)
        notices.append(notice.id)
    return Announcement(
        mail_id=mail.id,
        sessions=len(sessions),
        destinations=tuple(address for address, _ in places),
        notices=tuple(notices),
    )
