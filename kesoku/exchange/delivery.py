"""What the postman does in one transaction: pass an answer on, wake a session, tell a sender. Each may be done again,
and then finds nothing to do."""

import logging
from collections.abc import Mapping, Sequence
from typing import Any
from uuid import UUID

from kesoku.exchange import occasion, reading, rest, wording
from kesoku.exchange.exchange import Exchange
from kesoku.exchange.kin import Kin, called, enrolled, is_busy, is_desk, is_over, kin_of, place_of
from kesoku.messages import make
from kesoku.messages.enums import MessageStatus
from kesoku.messages.freeze import EMPTY
from kesoku.messages.lifecycle import Session
from kesoku.messages.mail import DeadReason, Letter, Mailbox, Report
from kesoku.messages.message import Message
from kesoku.messages.party import Broadcast, Direct, Named
from kesoku.messages.record import Address, Post, Record
from kesoku.ports import Transaction
from kesoku.render.sanitise import printable_name

RESULT = "result"
"""The channel on which the answers of agents come."""
_ANSWER = "answer"
"""Under which the metadata of a letter name the answer that it passes on."""
ACTOR = "postman"
_RESTS = "Mail has woken me {} times in a row. What comes now waits until somebody says something here."
_FEW = 5
_SOON = 10_000_000
"""Microseconds that an answer may take to its people before nobody waits for it any more."""
_log = logging.getLogger(__name__)


def pass_on(tx: Transaction, record_id: str, *, at: int) -> list[Letter]:
    """Mark as delivered what an agent said at its desk; an answer goes to whoever gave the agent its task, as mail.

    Returns the letters that are to be routed now.
    """
    record = tx.messages.get(record_id)
    if record is None or record.status not in {MessageStatus.PENDING, MessageStatus.RESPONDED}:
        return []
    letters: list[Letter] = []
    why = "nobody is here"
    kin = kin_of(tx, record.session_id)
    if kin is not None and record.kind == "answer":
        said, metadata = _answer(record, kin), {_ANSWER: record.id}
        letters, why = _mailed(tx, kin, said, cause=record.id, at=at, metadata=metadata), "mailed"
    elif kin is None and record.kind == "answer" and is_desk(record.address):
        _log.error(
            "the answer %s reached nobody: who gave agent %s its task is not known", record.id, record.session_id
        )
    tx.messages.move(record.id, MessageStatus.DELIVERED, {record.status}, actor=ACTOR, reason=why, at=at)
    return letters


def may_wake(tx: Transaction, session_id: str) -> bool:
    """Whether a session has mail, and nothing that it does or is about to do."""
    box = tx.mail.mailbox_of(session_id)
    return box is not None and tx.mail.held(box.owner) > 0 and not is_busy(tx, session_id)


def wake(tx: Transaction, session_id: str, *, at: int, wakes: int = rest.WAKES) -> Record | None:
    """Turn the oldest mail of a session that rests into a prompt: out of the inbox and into the queue at once.

    An ended session gives its mailbox up instead. Mail begins at most so many turns in a row.
    """
    session, box = tx.sessions.get(session_id), tx.mail.mailbox_of(session_id)
    if box is None:
        return None
    if session is None or is_over(session):
        Exchange(tx.mail, now=lambda: at).unregister(box.owner)
        return None
    place = place_of(tx, session_id)
    if place is None or is_busy(tx, session_id) or _is_answering(tx, session_id, at):
        return None
    reading.settle(tx, session_id, box.owner)
    if (letter := rest.next_letter(tx, session_id, box.owner, wakes=wakes)) is None:
        _rest(tx, session, place, at, wakes)
        return None
    tx.mail.take(box.owner, letter)
    note = make.mail_note(wording.wake_up(letter, _from(tx, session, letter)), mail_id=letter.id)
    post = Post(message=note, address=place, turn_id=note.id)
    record = tx.messages.insert(post, session_id=session_id, at=at)
    rest.note_wake(tx, record, letter)
    return record


def route(tx: Transaction, letter: Letter, *, told: bool, at: int) -> Report:
    """Route one letter. Sessions that were ended give their mailboxes up first; the sender of a dead letter is told,
    unless it is `told` otherwise."""
    exchange = Exchange(tx.mail, now=lambda: at)
    for box in _addressed(tx, letter):
        session = tx.sessions.get(box.session_id) if box.session_id else None
        if box.session_id and is_over(session):
            exchange.unregister(box.owner)
    report = exchange.route_each([letter])
    for mail_id, reason in report.dead:
        _log.warning("mail %s reached nobody: %s", mail_id, reason.value)
        if not told:
            tell_sender(tx, letter, reason, at=at)
    return report


def _addressed(tx: Transaction, letter: Letter) -> Sequence[Mailbox]:
    """The mailboxes that a letter may go to."""
    to = letter.message.recipient
    if isinstance(to, Broadcast) and letter.target is None:
        return tx.mail.mailboxes()
    owner = letter.target
    if owner is None:
        owner = to.id if isinstance(to, Direct) else tx.mail.named(to.name) if isinstance(to, Named) else None
    box = None if owner is None else tx.mail.mailbox(owner)
    return [] if box is None else [box]


def _is_answering(tx: Transaction, session_id: str, at: int) -> bool:
    """Whether people are about to read an answer: the next turn should not begin to show itself before it."""
    tail = [each for each in tx.messages.tail(session_id, _FEW) if each.kind == "answer"]
    waiting = [each for each in tail if each.status is MessageStatus.PENDING]
    return any(0 <= at - each.message.created_at * 1_000_000 < _SOON for each in waiting)


def _rest(tx: Transaction, session: Session, place: Address, at: int, wakes: int) -> None:
    """Say once that mail wakes nobody any more: to people, or to whoever gave the agent its task."""
    if not rest.should_tell(tx, session.id, wakes=wakes):
        return
    rests = _RESTS.format(wakes)
    if (kin := kin_of(tx, session.id)) is not None:
        said = {"agent": kin.name, "failed": True, "answer": f"{rests} A letter of yours wakes me, too."}
        _mailed(tx, kin, said, cause=f"{session.id} rests at {at}", at=at)
        return
    notice = make.notice(f"✉️ {rests}", reason="reply")
    tx.messages.insert(Post(message=notice, address=place), session_id=session.id, at=at)


def tell_sender(tx: Transaction, letter: Letter, reason: DeadReason, *, at: int) -> None:
    """Say to the session that sent a dead letter that it reached nobody: to its model with its next turn, and to its
    people at once. Nobody is told of the answer of an agent: who waited for it is gone."""
    if _ANSWER in letter.message.metadata:
        return
    box = tx.mail.mailbox(letter.sender)
    session_id = box.session_id if box else None
    place = place_of(tx, session_id) if session_id else None
    if session_id is None or place is None or is_over(tx.sessions.get(session_id)):
        return
    note = make.mail_note(wording.undelivered(letter.message, reason.value), mail_id=letter.message.id)
    rider = Post(message=note, address=place, turn_id=note.id, mode="inject")
    tx.messages.insert(rider, session_id=session_id, at=at)
    if kin_of(tx, session_id) is None:
        to = printable_name(str(letter.message.recipient.plain()))
        text = f"✉️ A letter to {to} did not arrive ({reason.value.replace('_', ' ')}). `/mail dead` lists it."
        notice = make.notice(text, reason="reply")
        tx.messages.insert(Post(message=notice, address=place), session_id=session_id, at=at)


def _from(tx: Transaction, session: Session, message: Message) -> str:
    sender = message.sender.plain()
    return called(tx, session.id, sender) if isinstance(sender, UUID) else str(sender)


def _answer(record: Record, kin: Kin) -> dict[str, Any]:
    """What whoever gave a task is told of the answer."""
    content = record.message.content
    said = {"agent": kin.name, "failed": record.message.source.kind == "error", "answer": content.text}
    if content.attachments:
        said["files"] = [each.path or each.name for each in content.attachments]
    return said


def _mailed(
    tx: Transaction, kin: Kin, said: dict[str, Any], *, cause: str, at: int, metadata: Mapping[str, Any] = EMPTY
) -> list[Letter]:
    """Queue mail of an agent to whoever gave it its task, once for a cause."""
    own, parent = tx.sessions.get(kin.session_id), tx.sessions.get(kin.parent)
    if own is None or parent is None:
        return []
    exchange = Exchange(tx.mail, now=lambda: at)
    sender, recipient = enrolled(tx, exchange, own, sends=True), enrolled(tx, exchange, parent)
    message = occasion.letter(
        cause, at=at, sender=sender, recipient=recipient, content=said, channel=RESULT, metadata=metadata
    )
    if not exchange.post(message):
        return []
    return [each for each in tx.mail.outbox(sender) if each.message.id == message.id]
