"""Mail in SQL."""

from collections.abc import Sequence
from uuid import UUID

from sqlalchemy import delete, func, null, select, text, update

from kesoku.messages.mail import DeadLetter, DeadReason, Letter, Mailbox
from kesoku.messages.message import Message
from kesoku.store.cell import int_or
from kesoku.store.columns import equals
from kesoku.store.engine import Link, plain
from kesoku.store.mail_rows import (
    body_of,
    dead_letter_of,
    letter_of,
    letters_of,
    mailbox_of_row,
    message_of,
    uuid_or_none,
    uuids,
)
from kesoku.store.mail_tables import Box, aliases, mail, mail_entries, owners
from kesoku.store.statement import Statement, insert_into, param

_OUT, _IN = Box.OUT.value, Box.IN.value

_o, _e, _a = owners.c, mail_entries.c, aliases.c
_BOX = (_o.owner, _o.session_id, _o.capacity, _o.at, _o.left_at)
_LETTER = (_e.seq, _e.mail_id, mail.c.body, _e.owner, _e.peer, _e.attempts)
_lying = mail_entries.join(mail, mail.c.id == _e.mail_id)
_queued = equals(_e.state, "queued")
_is_open = _o.left_at.is_(None)

OPEN = Statement(insert_into(owners, "n", "left_at"))
REMOVE = Statement(delete(owners).where(_o.owner == param("of")))
CLOSE = Statement(update(owners).where(_o.owner == param("of"), _is_open).values(left_at=param("now")))
MAILBOX = Statement(select(*_BOX).where(_o.owner == param("owner")))
OF_SESSION = Statement(
    select(*_BOX).where(_o.session_id == param("session_id"), _is_open).order_by(_o.n.desc()).limit(1)
)
MAILBOXES = Statement(select(*_BOX).where(_is_open).order_by(_o.n))
NAME = Statement(insert_into(aliases).on_conflict_do_update(index_elements=["name"], set_={"owner": param("owner")}))
UNNAME = Statement(delete(aliases).where(_a.name == param("known")))
NAMES = Statement(select(_a.name, _a.owner).order_by(_a.name))
NAMED = Statement(select(_a.owner).where(_a.name == param("name")))
KEEP = Statement(insert_into(mail).on_conflict_do_nothing(index_elements=["id"]), bulky=True)
BODY = Statement(select(mail.c.id, mail.c.body, null()).where(mail.c.id == param("id")))
FORGET = Statement(delete(mail).where(mail.c.id == param("known")))
SENDERS = Statement(select(_e.owner).where(_queued, equals(_e.box, _OUT)).group_by(_e.owner))
RECEIVERS = Statement(select(_e.owner).where(_queued, equals(_e.box, _IN)).group_by(_e.owner))
OUTBOX = Statement(
    select(*_LETTER)
    .select_from(_lying)
    .where(_queued, equals(_e.box, _OUT), _e.owner == param("owner"))
    .order_by(_e.seq)
)
LETTER = Statement(
    select(*_LETTER)
    .select_from(_lying)
    .where(_queued, equals(_e.box, _OUT), _e.seq == param("seq"), _e.owner == param("owner"))
)
_arrival = text("CASE WHEN state = 'queued' THEN seq ELSE (SELECT max(seq) + 1 FROM mail_entries) END")
"""What was taken and comes once more comes last; what still lies there stays in its place."""
PUT = Statement(
    insert_into(mail_entries, "seq", "reason", "error")
    .on_conflict_do_update(
        index_elements=["mail_id", "owner", "box", "peer"],
        set_={"seq": _arrival, "state": "queued", "attempts": param("attempts"), "reason": None, "error": None},
    )
    .returning(_e.seq)
)
SETTLE = Statement(delete(mail_entries).where(_e.seq == param("number")))
BURY = Statement(
    update(mail_entries)
    .where(_e.seq == param("number"))
    .values(state="dead", reason=param("why"), error=param("said"), at=param("now"))
)
_BURIED = (*_LETTER, _e.reason, _e.error, _e.at)
DEAD = Statement(select(*_BURIED).select_from(_lying).where(equals(_e.state, "dead")).order_by(_e.seq))
DEAD_OF = Statement(
    select(*_BURIED).select_from(_lying).where(equals(_e.state, "dead"), _e.owner == param("owner")).order_by(_e.seq)
)
DEAD_COPIES = Statement(
    select(*_LETTER)
    .select_from(_lying)
    .where(_e.mail_id == param("mail_id"), equals(_e.box, _OUT), equals(_e.state, "dead"))
    .order_by(_e.seq)
)
_in_inbox = (_queued, equals(_e.box, _IN), _e.owner == param("owner"))
_of_sender = _e.peer == param("peer")
_inbox = select(_e.mail_id, mail.c.body, _e.peer).select_from(_lying).where(*_in_inbox).order_by(_e.seq)
INBOX = Statement(_inbox)
INBOX_OF = Statement(_inbox.where(_of_sender))
OLDEST = Statement(_inbox.where(_e.seq == select(func.min(_e.seq)).where(*_in_inbox).scalar_subquery()))
OLDEST_OF = Statement(_inbox.where(_of_sender).limit(1))
HELD = Statement(select(func.count()).select_from(mail_entries).where(*_in_inbox))
TAKE = Statement(
    update(mail_entries)
    .where(
        _e.mail_id == param("of_mail"),
        _e.owner == param("of"),
        equals(_e.box, _IN),
        _queued,
    )
    .values(state="taken")
)
TAKE_ALL = Statement(
    update(mail_entries).where(_queued, equals(_e.box, _IN), _e.owner == param("of")).values(state="taken")
)


class SqlMailStore:
    """See `kesoku.ports.mail.MailStore`. Messages are kept for good; what was taken out of an inbox stays as a line."""

    def __init__(self, link: Link) -> None:
        self._link = link

    def open(self, mailbox: Mailbox) -> None:
        """Store a mailbox, as the youngest one."""
        self._link.change(REMOVE, of=str(mailbox.owner))
        self._link.change(
            OPEN,
            owner=str(mailbox.owner),
            session_id=mailbox.session_id,
            capacity=mailbox.capacity,
            at=mailbox.at,
        )

    def close(self, owner: UUID, *, at: int) -> None:
        """Give a mailbox up."""
        self._link.change(TAKE_ALL, of=str(owner))
        self._link.change(CLOSE, of=str(owner), now=at)

    def mailbox(self, owner: UUID) -> Mailbox | None:
        """The mailbox of an owner."""
        row = self._link.row(MAILBOX, owner=str(owner))
        return None if row is None else mailbox_of_row(row)

    def mailbox_of(self, session_id: str) -> Mailbox | None:
        """The open mailbox of a session."""
        row = self._link.row(OF_SESSION, session_id=session_id)
        return None if row is None else mailbox_of_row(row)

    def mailboxes(self) -> Sequence[Mailbox]:
        """Every open mailbox."""
        found = map(mailbox_of_row, self._link.rows(MAILBOXES))
        return [each for each in found if each is not None]

    def name(self, name: str, owner: UUID | None) -> None:
        """Write an owner into the address book."""
        if owner is None:
            self._link.change(UNNAME, known=name)
        else:
            self._link.change(NAME, name=name, owner=str(owner))

    def names(self) -> dict[str, UUID]:
        """The address book."""
        found = ((plain(name), uuid_or_none(owner, "an address")) for name, owner in self._link.rows(NAMES))
        return {name: owner for name, owner in found if owner is not None}

    def named(self, name: str) -> UUID | None:
        """Who has this name."""
        row = self._link.row(NAMED, name=name)
        return None if row is None else uuid_or_none(row[0], "an address")

    def add(self, message: Message, sender: UUID, *, at: int) -> bool:
        """Queue a message. Raises NotStorable."""
        if not self._link.change(KEEP, id=message.id, body=body_of(message), at=at):
            return False
        self._put(message.id, owner=sender, box=_OUT, at=at)
        return True

    def message(self, mail_id: str) -> Message | None:
        """What was sent under an id."""
        row = self._link.row(BODY, id=mail_id)
        return None if row is None else message_of(row)

    def forget(self, mail_id: str) -> None:
        """Remove a message wherever it lies."""
        self._link.change(FORGET, known=mail_id)

    def senders(self) -> list[UUID]:
        """The owners whose outbox is not empty."""
        return uuids(self._link.rows(SENDERS), "a sender")

    def receivers(self) -> list[UUID]:
        """The owners whose inbox is not empty."""
        return uuids(self._link.rows(RECEIVERS), "a receiver")

    def outbox(self, sender: UUID) -> Sequence[Letter]:
        """What waits in an outbox."""
        return letters_of(self._link.rows(OUTBOX, owner=str(sender)))

    def letter(self, sender: UUID, number: int) -> Letter | None:
        """One letter."""
        row = self._link.row(LETTER, owner=str(sender), seq=number)
        return None if row is None else letter_of(row)

    def deliver(self, letter: Letter, owners: Sequence[UUID], *, at: int) -> None:
        """Put a message into inboxes."""
        for owner in owners:
            self._put(letter.message.id, owner=owner, box=_IN, peer=str(letter.sender), at=at)

    def settle(self, letter: Letter) -> None:
        """Take a letter out of its outbox."""
        self._link.change(SETTLE, number=letter.number)

    def defer(self, letter: Letter, targets: Sequence[UUID]) -> list[Letter]:
        """Keep a letter for another attempt."""
        self.settle(letter)
        return [self._queue(letter, target, attempts=letter.attempts + 1) for target in targets]

    def bury(self, letter: Letter, reason: DeadReason, *, error: str = "", at: int) -> None:
        """Make a queued letter a dead one."""
        self._link.change(BURY, number=letter.number, why=reason.value, said=error, now=at)

    def dead(self, sender: UUID | None = None) -> list[DeadLetter]:
        """Dead letters."""
        rows = self._link.rows(DEAD) if sender is None else self._link.rows(DEAD_OF, owner=str(sender))
        found = map(dead_letter_of, rows)
        return [each for each in found if each is not None]

    def revive(self, mail_id: str, target: UUID | None = None) -> list[Letter]:
        """Queue dead letters again."""
        found = letters_of(self._link.rows(DEAD_COPIES, mail_id=mail_id))
        for letter in found:
            self.settle(letter)
        if target is not None:
            return [self._queue(letter, target, attempts=0) for letter in found[:1]]
        return [self._queue(letter, letter.target, attempts=0) for letter in found]

    def inbox(self, owner: UUID, sender: UUID | None = None) -> list[Message]:
        """What lies in an inbox."""
        if sender is None:
            rows = self._link.rows(INBOX, owner=str(owner))
        else:
            rows = self._link.rows(INBOX_OF, owner=str(owner), peer=str(sender))
        return [message_of(row) for row in rows]

    def oldest(self, owner: UUID, sender: UUID | None = None) -> Message | None:
        """The first of it, from one sender or from all."""
        if sender is None:
            row = self._link.row(OLDEST, owner=str(owner))
        else:
            row = self._link.row(OLDEST_OF, owner=str(owner), peer=str(sender))
        return None if row is None else message_of(row)

    def held(self, owner: UUID) -> int:
        """How many letters lie in an inbox."""
        row = self._link.row(HELD, owner=str(owner))
        return int_or(row[0]) if row else 0

    def take(self, owner: UUID, message: Message) -> bool:
        """Take a message out of an inbox."""
        return self._link.change(TAKE, of=str(owner), of_mail=message.id) > 0

    def _queue(self, letter: Letter, target: UUID | None, *, attempts: int) -> Letter:
        peer = "" if target is None else str(target)
        at = round(letter.message.created_at * 1_000_000)
        number = self._put(letter.message.id, owner=letter.sender, box=_OUT, peer=peer, attempts=attempts, at=at)
        return Letter(number=number, message=letter.message, sender=letter.sender, target=target, attempts=attempts)

    def _put(self, mail_id: str, *, owner: UUID, box: str, peer: str = "", attempts: int = 0, at: int) -> int:
        row = self._link.change_row(
            PUT, mail_id=mail_id, owner=str(owner), box=box, peer=peer, state="queued", attempts=attempts, at=at
        )
        return int(row[0]) if row else 0
